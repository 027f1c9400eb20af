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

namespace softtpu {
namespace {

// Reads one channel of dst's elements in dst's order.
template <class T>
void read_channel(const TensorView& src, const CrossCopyCmd& cmd, int n, int c, T* out) {
  const Dim4& shape = cmd.dst.shape;
  const bool transposed = cmd.order == CopyOrder::kNwhc;
  const int channel = cmd.src.shape.c == 1 && !transposed ? 0 : c;
  for (int h = 0; h < shape.h; ++h) {
    for (int w = 0; w < shape.w; ++w) *out++ = transposed ? *src.at<T>(n, w, h, c) : *src.at<T>(n, channel, h, w);
  }
}

template <class T>
void write_channel(const TensorView& dst, const Dim4& shape, int n, int c, const T* in) {
  for (int h = 0; h < shape.h; ++h) {
    for (int w = 0; w < shape.w; ++w) *dst.at<T>(n, c, h, w) = *in++;
  }
}

// dst may overlap src on other NPUs: everything is read before anything is written.
template <class T>
void move_staged(const Memories& mem, const CrossCopyCmd& cmd) {
  const TensorView src(mem, cmd.src);
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  const std::int64_t feature = std::int64_t{shape.h} * shape.w;
  std::vector<T> staged(static_cast<std::size_t>(shape.elements()));
  const auto for_channels = [&](const auto& body) {
    parallel_for(shape.c, shape.elements(), [&](int c) {
      for (int n = 0; n < shape.n; ++n) body(n, c, staged.data() + (std::int64_t{n} * shape.c + c) * feature);
    });
  };
  for_channels([&](int n, int c, T* place) { read_channel(src, cmd, n, c, place); });
  for_channels([&](int n, int c, T* place) { write_channel(dst, shape, n, c, place); });
}

// Whole rows of w elements, or of all h and w where both sides have no gap between them.
template <class T>
void move_rows(const Memories& mem, const CrossCopyCmd& cmd) {
  const TensorView src(mem, cmd.src);
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  const bool joined = cmd.dst.stride.h == shape.w && cmd.src.stride.h == shape.w;
  const int rows = joined ? 1 : shape.h;
  const std::int64_t length = joined ? std::int64_t{shape.h} * shape.w : shape.w;
  parallel_for(shape.c, shape.elements() * std::int64_t{sizeof(T)} / 4, [&](int c) {
    const int channel = cmd.src.shape.c == 1 ? 0 : c;
    for (int n = 0; n < shape.n; ++n)
      for (int h = 0; h < rows; ++h) std::copy_n(src.at<T>(n, channel, h, 0), length, dst.at<T>(n, c, h, 0));
  });
}

template <class T>
void move(const Memories& mem, const CrossCopyCmd& cmd) {
  if (may_overlap(mem.chip(), cmd.dst, cmd.src)) return move_staged<T>(mem, cmd);
  if (cmd.order == CopyOrder::kNwhc) return exchange_channels_and_columns(mem, cmd.dst, cmd.src);
  move_rows<T>(mem, cmd);
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
