// GDMA fill: sets the elements of a tensor to a constant (numerics: bm1684x-dma-hau-gather.md section 3).
#include <algorithm>
#include <cstring>

#include "device/core/commands.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

template <class T>
void fill(const Memories& mem, const DmaFillCmd& cmd) {
  T value;
  std::memcpy(&value, &cmd.value.bits, sizeof(T));
  const TensorView dst(mem, cmd.dst);
  const Dim4& shape = cmd.dst.shape;
  const std::int64_t step = cmd.dst.stride.w;
  // Elements that share an address all get the same value: the order does not matter.
  parallel_for(shape.c, shape.elements(), [&](int c) {
    for (int n = 0; n < shape.n; ++n) {
      for (int h = 0; h < shape.h; ++h) {
        T* row = dst.at<T>(n, c, h, 0);
        if (step == 1) {
          std::fill_n(row, shape.w, value);
        } else {
          for (int w = 0; w < shape.w; ++w) row[w * step] = value;
        }
      }
    }
  });
}

}  // namespace

void execute(Memories& mem, const DmaFillCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { fill<T>(mem, cmd); });
}

}  // namespace softtpu
