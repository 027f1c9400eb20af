// The bytes that an operand touches, as contiguous spans with the coordinates of their first element.
#pragma once

#include <cstdint>

#include "device/memory/memories.hpp"

namespace softtpu {

enum class SpanSpace : std::uint8_t { kLocal, kSystem, kStatic };

// [begin, end): npu * bytes per NPU + offset for local memory (also when it is reached through its window in the system
// map), a system address, or an offset in static memory.
struct Span {
  SpanSpace space = SpanSpace::kLocal;
  std::uint64_t begin = 0, end = 0;
  int n = 0, c = 0, h = 0, w = 0;
};

// Calls f(Span) for the tensor's elements in n, c, h, w order, rows joined where they follow each other.
template <class F>
void for_each_span(const Chip& chip, const Tensor& tensor, F f) {
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  const bool dense_row = stride.w == 1 || shape.w == 1;
  const bool joined = dense_row && (stride.h == shape.w || shape.h == 1);
  const int rows = joined ? 1 : shape.h;
  const int pieces = dense_row ? 1 : shape.w;
  const auto length = static_cast<std::uint64_t>(joined ? shape.h * shape.w : dense_row ? shape.w : 1) * size;
  const bool window = tensor.space == Space::kSystem && chip.local_mem.contains(tensor.addr);
  const SpanSpace space = tensor.space == Space::kLocal || window ? SpanSpace::kLocal
                          : tensor.space == Space::kSystem        ? SpanSpace::kSystem
                                                                  : SpanSpace::kStatic;
  const int start = chip.npu_of(tensor.addr);
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      std::uint64_t base = window ? tensor.addr - chip.local_mem.start : tensor.addr;
      std::int64_t element = n * stride.n + c * stride.c;
      if (tensor.space == Space::kLocal) {
        const int slot = start + c;
        base =
            std::uint64_t{chip.local_bytes} * static_cast<unsigned>(slot % chip.npu_num) + chip.offset_of(tensor.addr);
        element = n * stride.n + slot / chip.npu_num * stride.c;
      }
      for (int h = 0; h < rows; ++h) {
        for (int w = 0; w < pieces; ++w) {
          const std::uint64_t begin = base + static_cast<std::uint64_t>(element + h * stride.h + w * stride.w) * size;
          f(Span{space, begin, begin + length, n, c, h, w});
        }
      }
    }
  }
}

}  // namespace softtpu
