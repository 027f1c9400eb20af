// GDMA fill: sets the elements of a tensor to a constant (numerics: bm1684x-dma-hau-gather.md section 3).
#include <cstring>
#include <cwchar>

#include "device/command/functions.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/dma/copy/kept_npus.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// `count` neighbours, as fast as the C library sets memory: in words of 32 bits, which hold one or two elements.
template <class T>
void fill_row(T* row, int count, T value) {
  static_assert(sizeof(wchar_t) == 4 && sizeof(T) <= 4);
  if constexpr (sizeof(T) == 1) {
    std::memset(row, value, static_cast<unsigned>(count));
  } else {
    constexpr int kPerWord = 4 / sizeof(T);
    std::uint32_t word = value;
    if constexpr (kPerWord == 2) {
      word |= word << 16U;
      if (count > 0 && reinterpret_cast<std::uintptr_t>(row) % 4 != 0) *row++ = value, --count;
      if (count % 2 != 0) row[count - 1] = value;
    }
    std::wmemset(reinterpret_cast<wchar_t*>(row), static_cast<wchar_t>(word), static_cast<unsigned>(count / kPerWord));
  }
}

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
          fill_row(row, shape.w, value);
        } else {
          for (int w = 0; w < shape.w; ++w) row[w * step] = value;
        }
      }
    }
  });
}

}  // namespace

void execute(Memories& mem, const DmaFillCmd& cmd) {
  const KeptNpus kept(mem, cmd.dst, cmd.npus);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { fill<T>(mem, cmd); });
}

}  // namespace softtpu
