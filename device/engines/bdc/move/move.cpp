// Moves across NPUs, transposes, broadcasts from static memory, sequences (numerics: bm1684x-elementwise.md section 6).
#include <algorithm>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/memory/transpose.hpp"
#include "device/numeric/by_type.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

// Whole rows of w elements, or of all h and w where both sides have no gap between them; from one channel to all of
// them where it is `shared`.
template <class T>
void move_rows(const Dim4& shape, const TensorView& to, const TensorView& from, bool shared) {
  const bool joined = to.row_step() == shape.w && from.row_step() == shape.w;
  const int rows = joined ? 1 : shape.h;
  const std::int64_t length = joined ? std::int64_t{shape.h} * shape.w : shape.w;
  parallel_for(shape.c, shape.elements() * std::int64_t{sizeof(T)} / 4, [&](int c) {
    for (int n = 0; n < shape.n; ++n)
      for (int h = 0; h < rows; ++h) std::copy_n(from.at<T>(n, shared ? 0 : c, h, 0), length, to.at<T>(n, c, h, 0));
  });
}

// Rows of neither side lie on each other, because no command gives strides.
template <class T>
void move(const CrossCopyCmd& cmd, const TensorView& to, const TensorView& from) {
  const Dim4& shape = cmd.dst.shape;
  if (cmd.order == CopyOrder::kNwhc) return exchange_channels_and_columns(shape, sizeof(T), to, from);
  move_rows<T>(shape, to, from, cmd.src.shape.c == 1);
}

// dst may overlap src on other NPUs: then everything is read before anything is written.
template <class T>
void move(const Memories& mem, const CrossCopyCmd& cmd) {
  const TensorView to(mem, cmd.dst);
  const TensorView from(mem, cmd.src);
  if (!may_overlap(mem.chip(), cmd.dst, cmd.src)) return move<T>(cmd, to, from);
  const Dim4& shape = cmd.src.shape;
  std::vector<T> staged(static_cast<std::size_t>(shape.elements()));
  const TensorView between(reinterpret_cast<std::uint8_t*>(staged.data()), continuous_stride(shape));
  move_rows<T>(shape, between, from, false);
  move<T>(cmd, to, between);
}

}  // namespace

void execute(Memories& mem, const CrossCopyCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { move<T>(mem, cmd); });
}

void execute(Memories& mem, const SequenceCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) {
    parallel_for(shape.c, shape.elements(), [&](int c) {
      for (int w = 0; w < shape.w; ++w) {
        const auto index = static_cast<std::uint32_t>(cmd.repeat ? w : c * shape.w + w);
        *dst.at<T>(0, c, 0, w) =
            static_cast<T>(static_cast<std::uint32_t>(cmd.start) + index * static_cast<std::uint32_t>(cmd.step));
      }
    });
  });
}

}  // namespace softtpu
