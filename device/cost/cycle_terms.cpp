#include "device/cost/cycle_terms.hpp"

#include <algorithm>

#include "runtime/layout/formulas.hpp"

namespace softtpu {

Work CycleTerms::from_static(const Tensor& dst) const {
  const std::int64_t row = std::int64_t{dst.shape.h} * dst.shape.w;
  return {StartUp::kStatic, dst.shape.n * model_.static_broadcast(row > 1 ? row : dst.shape.c)};
}

DmaPath CycleTerms::path(const Tensor& dst, const Tensor& src) const {
  const auto is_local = [&](const Tensor& tensor) {
    return tensor.space == Space::kLocal || (tensor.space == Space::kSystem && chip_.local_mem.contains(tensor.addr));
  };
  if (is_local(dst)) return is_local(src) ? DmaPath::kLocal : DmaPath::kLoad;
  return is_local(src) ? DmaPath::kStore : DmaPath::kSystem;
}

DmaPieces CycleTerms::pieces(const Tensor& tensor, std::int64_t run) {
  const std::int64_t length = std::max<std::int64_t>(1, run);
  return {ceil_div(tensor.shape.elements(), length), length * size_of(tensor.dtype)};
}

void CycleTerms::find_output(Slowest& slowest, Access access, const Operand& operand) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  if (tensor == nullptr || access == Access::kRead || slowest.output) return;
  slowest.output = *tensor;
  slowest.widest = tensor->dtype;
}

void CycleTerms::add(Slowest& slowest, Access access, const Operand& operand) const {
  const auto* tensor = std::get_if<Tensor>(&operand);
  if (tensor == nullptr || !slowest.output) return;
  if (size_of(tensor->dtype) > size_of(slowest.widest)) slowest.widest = tensor->dtype;
  slowest.stride = std::max(slowest.stride, tensor->stride.w);
  slowest.one_bank = slowest.one_bank || (access == Access::kRead && bank(*tensor) == bank(*slowest.output));
}

Work CycleTerms::work_of(const Slowest& slowest) const {
  if (!slowest.output) return {};
  const Tensor& output = *slowest.output;
  return {StartUp::kArith,
          model_.arithmetic(output.shape, lane(output), slowest.widest, slowest.stride, slowest.one_bank)};
}

}  // namespace softtpu
