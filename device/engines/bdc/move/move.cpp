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

// dst may overlap src on other NPUs: everything is read before anything is written. Both w strides are 1.
template <class T>
void move_staged(const Memories& mem, const CrossCopyCmd& cmd) {
  const TensorView src(mem, cmd.src);
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  const bool transposed = cmd.order == CopyOrder::kNwhc, broadcast = cmd.src.shape.c == 1 && !transposed;
  const int channels = transposed ? shape.w : broadcast ? 1 : shape.c;
  const int width = transposed ? shape.c : shape.w;
  std::vector<T> staged(static_cast<std::size_t>(shape.n) * static_cast<unsigned>(channels) *
                        static_cast<unsigned>(shape.h) * static_cast<unsigned>(width));
  const auto staged_row = [&](int n, int c, int h) {
    return staged.data() + ((std::int64_t{n} * channels + c) * shape.h + h) * width;
  };
  parallel_for(channels, static_cast<std::int64_t>(staged.size()) * std::int64_t{sizeof(T)} / 4, [&](int c) {
    for (int n = 0; n < shape.n; ++n)
      for (int h = 0; h < shape.h; ++h) std::copy_n(src.at<T>(n, c, h, 0), width, staged_row(n, c, h));
  });
  if (transposed) {
    // In order of n and h: rows of dst may lie on each other.
    parallel_ranges(shape.c, shape.elements(), [&](int first, int last) {
      for (int n = 0; n < shape.n; ++n)
        for (int h = 0; h < shape.h; ++h)
          turn<T>(
              last - first, shape.w, [&](int i) { return dst.at<T>(n, first + i, h, 0); },
              [&](int w) { return staged_row(n, w, h) + first; });
    });
    return;
  }
  parallel_for(shape.c, shape.elements() * std::int64_t{sizeof(T)} / 4, [&](int c) {
    for (int n = 0; n < shape.n; ++n)
      for (int h = 0; h < shape.h; ++h)
        std::copy_n(staged_row(n, broadcast ? 0 : c, h), shape.w, dst.at<T>(n, c, h, 0));
  });
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
