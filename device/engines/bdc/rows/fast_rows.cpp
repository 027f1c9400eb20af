#include "device/engines/bdc/rows/fast_rows.hpp"

#include "device/memory/overlap.hpp"

namespace softtpu {

bool apart_or_same(const Chip& chip, const Tensor& dst, const Operand& source) {
  const auto* tensor = std::get_if<Tensor>(&source);
  if (tensor == nullptr) return true;
  const bool same =
      tensor->addr == dst.addr && tensor->stride == dst.stride && size_of(tensor->dtype) == size_of(dst.dtype);
  return same || !may_overlap(chip, dst, *tensor);
}

}  // namespace softtpu
