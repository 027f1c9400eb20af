// GDMA tensor copies: bits move, only the element size matters (numerics: bm1684x-dma-hau-gather.md section 3).
#include <cstring>

#include "device/chip/layout.hpp"
#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

template <class T>
void copy_row(T* dst, std::int64_t dst_step, const T* src, std::int64_t src_step, int count) {
  if (dst_step == 1 && src_step == 1) {
    std::memcpy(dst, src, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  for (int i = 0; i < count; ++i) dst[i * dst_step] = src[i * src_step];
}

template <class T>
void copy_nchw(const Memories& mem, const DmaCopyCmd& cmd) {
  const TensorView dst(mem, cmd.dst);
  const TensorView src(mem, cmd.src);
  const Dim4& shape = cmd.dst.shape;
  const bool join = cmd.dst.stride.h == shape.w * cmd.dst.stride.w && cmd.src.stride.h == shape.w * cmd.src.stride.w;
  const int height = join ? 1 : shape.h;
  const int width = join ? shape.h * shape.w : shape.w;
  parallel_for(shape.c, shape.elements(), [&](int c) {
    for (int n = 0; n < shape.n; ++n) {
      for (int h = 0; h < height; ++h) {
        copy_row(dst.at<T>(n, c, h, 0), cmd.dst.stride.w, src.at<T>(n, c, h, 0), cmd.src.stride.w, width);
      }
    }
  });
}

}  // namespace

void execute(Memories& mem, const DmaCopyCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { copy_nchw<T>(mem, cmd); });
}

}  // namespace softtpu
