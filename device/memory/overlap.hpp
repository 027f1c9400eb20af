// Whether two local tensors may share bytes.
#pragma once

#include "device/memory/memories.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {

// The bytes of an NPU's local memory that a tensor's elements lie in, on whichever of its NPUs they reach furthest.
struct LocalSpan {
  std::int64_t begin = 0, end = 0;
};
inline LocalSpan local_span(const Chip& chip, const Tensor& tensor) {
  const std::int64_t groups = (chip.npu_of(tensor.addr) + std::int64_t{tensor.shape.c} - 1) / chip.npu_num;
  const std::int64_t last = (tensor.shape.n - 1) * tensor.stride.n + groups * tensor.stride.c +
                            (tensor.shape.h - 1) * tensor.stride.h + (tensor.shape.w - 1) * tensor.stride.w;
  const std::int64_t begin = chip.offset_of(tensor.addr);
  return {begin, begin + (last + 1) * size_of(tensor.dtype)};
}

// May say yes for tensors that lie on different NPUs; never says no for tensors that share a byte.
inline bool may_overlap(const Chip& chip, const Tensor& a, const Tensor& b) {
  const LocalSpan first = local_span(chip, a);
  const LocalSpan second = local_span(chip, b);
  return first.begin < second.end && second.begin < first.end;
}
inline bool may_overlap(const Chip& chip, const Tensor& a, const Operand& b) {
  const auto* tensor = std::get_if<Tensor>(&b);
  return tensor != nullptr && may_overlap(chip, a, *tensor);
}

}  // namespace softtpu
