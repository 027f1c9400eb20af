// A tensor in the local memory of a test device, addressed by the layout's own words: NPU (start + c) mod npu_num,
// strides in elements. Independent of device/memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/isa/types.hpp"
#include "softtpu/kernel_common.h"
#include "tpu_kernel.h"

namespace softtpu {

struct DeviceTensor {
  Dtype type = Dtype::kFp32;
  Dim4 shape;
  int npu = 0;
  std::uint32_t offset = 0;
  Stride4 stride;

  // In the layout of a NULL stride pointer.
  static DeviceTensor aligned(const Chip& chip, Dtype type, const Dim4& shape, int npu, std::uint32_t offset) {
    const std::int64_t row = chip.eu_bytes / size_of(type);
    const std::int64_t c = (std::int64_t{shape.h} * shape.w + row - 1) / row * row;
    const std::int64_t groups = (npu + shape.c + chip.npu_num - 1) / chip.npu_num;
    return {type, shape, npu, offset, {groups * c, c, shape.w, 1}};
  }

  local_addr_t addr(const Chip& chip) const { return static_cast<local_addr_t>(npu) * chip.local_bytes + offset; }
  dim4 c_shape() const { return {shape.n, shape.c, shape.h, shape.w}; }
  dim4 c_stride() const {
    return {static_cast<int>(stride.n), static_cast<int>(stride.c), static_cast<int>(stride.h),
            static_cast<int>(stride.w)};
  }

  // Calls body(byte offset from NPU 0, index) for every element in (n, c, h, w) order.
  template <class Body>
  void each(const Chip& chip, Body body) const {
    std::size_t index = 0;
    for (int n = 0; n < shape.n; ++n) {
      for (int c = 0; c < shape.c; ++c) {
        const std::uint64_t lane = static_cast<std::uint64_t>((npu + c) % chip.npu_num) * chip.local_bytes;
        const std::int64_t group = (npu + c) / chip.npu_num;
        for (int h = 0; h < shape.h; ++h) {
          for (int w = 0; w < shape.w; ++w) {
            const std::int64_t element = n * stride.n + group * stride.c + h * stride.h + w * stride.w;
            body(lane + offset + static_cast<std::uint64_t>(element) * static_cast<unsigned>(size_of(type)), index++);
          }
        }
      }
    }
  }

  std::vector<std::uint32_t> read(const Chip& chip, const std::uint8_t* memory) const {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(shape.elements()), 0);
    each(chip, [&](std::uint64_t at, std::size_t i) {
      std::memcpy(&bits[i], memory + at, static_cast<std::size_t>(size_of(type)));
    });
    return bits;
  }
  void write(const Chip& chip, std::uint8_t* memory, const std::vector<std::uint32_t>& bits) const {
    each(chip, [&](std::uint64_t at, std::size_t i) {
      std::memcpy(memory + at, &bits[i], static_cast<std::size_t>(size_of(type)));
    });
  }
};

}  // namespace softtpu
