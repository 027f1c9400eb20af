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

}  // namespace softtpu
