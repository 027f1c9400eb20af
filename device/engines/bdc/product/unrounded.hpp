// Where FP8 products are kept as f32 before they are rounded (device/chip/rules.def: fp8-products-rounded-twice).
#pragma once

#include <optional>

#include "device/chip/layout.hpp"
#include "device/chip/rules.hpp"
#include "device/engines/bdc/product/command.hpp"

namespace softtpu {

// The f32 matrix at the result's address; nothing where the result is rounded once.
inline std::optional<Tensor> unrounded_result(const Chip& chip, const MatMulCmd& cmd) {
  const bool twice = chip.has(Quirk::kFp8RoundedTwice) && is_fp8(type_of(cmd.left)) && !cmd.right_trans;
  if (!twice || cmd.dst.dtype == Dtype::kFp32) return std::nullopt;
  Tensor sums = cmd.dst;
  sums.dtype = Dtype::kFp32;
  sums.stride = aligned_stride(chip, chip.npu_of(cmd.dst.addr), cmd.dst.shape, Dtype::kFp32);
  return sums;
}

}  // namespace softtpu
