#include "device/engines/dma/copy/side_checks.hpp"

#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu {
namespace {

// Reading may repeat one element; writing has to move on where there is more than one column.
void check_w_stride(Checks& check, const char* name, const Tensor& side, Access access) {
  const std::int64_t bytes = side.stride.w * size_of(side.dtype);
  const bool local_copy = check.op() == Op::tpu_gdma_cpy_L2S || check.op() == Op::tpu_gdma_cpy_L2L;
  const bool repeats = access == Access::kRead && (!check.chip().has(Quirk::kNoZeroWStride) ||
                                                   (local_copy && check.chip().has(Quirk::kRepeatedLocalRead)));
  const bool moves = side.stride.w >= 1 || side.shape.w == 1 || repeats;
  const bool free = access == Access::kRead || check.op() == Op::tpu_gdma_set_C_local;
  if (moves && free && check.chip().has(Quirk::kAnyDmaWStride)) return;
  if (check.chip().has(Quirk::kUnitDmaWStride)) return check_unit_w_stride(check, name, side);
  check.require(moves && bytes <= check.chip().dma_w_stride_bytes, "constraint/stride", [&] {
    return fmt::format("{} w stride ({} elements, {} bytes) is outside 1 element..{} bytes", name, side.stride.w, bytes,
                       check.chip().dma_w_stride_bytes);
  });
}

}  // namespace

void check_unit_w_stride(Checks& check, const char* name, const Tensor& side) {
  check.require(side.stride.w == 1, "constraint/stride",
                [&] { return fmt::format("{} w stride ({}) must be 1", name, side.stride.w); });
}

void check_side(Checks& check, const char* name, const Tensor& side, Access access) {
  // BM1684 moves whole rows only.
  if (check.chip().api == Api::kOkKernel && side.shape.w > 1) {
    check_unit_w_stride(check, name, side);
  } else {
    check_w_stride(check, name, side, access);
  }
  check.tensor(name, side, NaturalAlignment::kElement);
}

}  // namespace softtpu
