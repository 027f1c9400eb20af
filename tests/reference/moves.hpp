// What the functions that move data mean, written down plainly: byte by byte on copies of the memories, one element at
// a time, without any of the device's walks. Layout formulas are restated here on purpose.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/isa/types.hpp"
#include "tests/reference/image.hpp"

namespace softtpu::reference {

using Extents = std::array<int, 4>;           // n, c, h, w
using Strides = std::array<std::int64_t, 4>;  // elements

// The memories of a device: all local memories one after the other, and a window of global memory.
struct Memory {
  const Chip* chip = nullptr;
  Image local;
  std::vector<std::uint8_t> global;
  std::uint64_t global_base = 0;
};

struct Array {
  bool local = true;
  std::uint64_t addr = 0;  // unified local address, or global address
  int size = 4;            // bytes of an element
  Strides stride{};
};

Strides aligned(const Chip& chip, int npu, const Extents& shape, int size);
Strides compact(const Chip& chip, int npu, const Extents& shape);
Strides line_aligned(const Chip& chip, int npu, const Extents& shape, int size);
Strides continuous(const Extents& shape);

// The bytes of element (n, c, h, w).
std::uint8_t* element(Memory& memory, const Array& array, const Extents& at);
std::uint32_t load(Memory& memory, const Array& array, const Extents& at);
void store(Memory& memory, const Array& array, const Extents& at, std::uint32_t value);

// Calls body for every index of the shape in n, c, h, w order.
void each(const Extents& shape, const std::function<void(const Extents&)>& body);

// dst(at) = src(from(at)) for every index of dst's shape.
void move(Memory& memory, const Array& dst, const Extents& shape, const Array& src,
          const std::function<Extents(const Extents&)>& from);
void fill(Memory& memory, const Array& dst, const Extents& shape, std::uint32_t value);
// Element i of dst's order = element i of src's order.
void reshape(Memory& memory, const Array& dst, const Extents& dst_shape, const Array& src, const Extents& src_shape);

// Sorted results of `count` keys; the indices come along.
struct Keyed {
  std::uint32_t bits, index;
};
void sort(std::vector<Keyed>& entries, Dtype type, bool descending);
std::vector<std::uint8_t> hard_nms(const std::vector<std::uint8_t>& mask, int boxes, int keep);
std::vector<std::uint8_t> soft_nms(const std::vector<float>& coeff, std::vector<float> score, float threshold,
                                   int keep);

}  // namespace softtpu::reference
