// The layout formulas (runtime/layout/formulas.hpp) for a chip and a data type. Strides are in elements.
#pragma once

#include <cstdint>

#include "device/chip/chip.hpp"
#include "device/isa/types.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {

inline Lanes lanes_of(const Chip& chip) { return {chip.npu_num, chip.eu_bytes, chip.local_bytes}; }

inline std::int64_t channels_per_npu(const Chip& chip, int start_npu, std::int64_t channels) {
  return channels_per_npu(chip.npu_num, start_npu, channels);
}
inline Stride4 aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type) {
  return aligned_stride(chip.npu_num, start_npu, shape, chip.eu_num(type));
}
inline Stride4 compact_stride(const Chip& chip, int start_npu, const Dim4& shape) {
  return compact_stride(chip.npu_num, start_npu, shape);
}
inline Stride4 line_aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type) {
  return line_aligned_stride(chip.npu_num, start_npu, shape, chip.eu_num(type));
}

// Input channels that weights of a type keep together: how many of them a lane's multipliers take at once.
inline int weight_group(const Chip& chip, Dtype type) {
  if (type == Dtype::kInt8 || type == Dtype::kUint8 || is_fp8(type)) return chip.weight_block;
  return contains(kHalves, type) ? chip.weight_block / 2 : 1;
}

}  // namespace softtpu
