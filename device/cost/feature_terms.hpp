// In what terms a command says what it takes of BM1684: the features of the chip and where its operands lie. Families
// whose commands are not one pass over the result say it in cost.hpp of their folder.
#pragma once

#include "device/command/traits.hpp"
#include "device/cost/time_model.hpp"

namespace softtpu {

class FeatureTerms {
 public:
  FeatureTerms(const TimeModel& model, const Chip& chip) : model_(model), chip_(chip) {}

  const TimeModel& model() const { return model_; }
  int lane(const Tensor& tensor) const { return chip_.npu_of(tensor.addr) % chip_.npu_num; }
  bool is_local(const Tensor& tensor) const {
    return tensor.space == Space::kLocal || (tensor.space == Space::kSystem && chip_.local_mem.contains(tensor.addr));
  }
  static std::int64_t bytes_of(const Tensor& tensor) { return tensor.shape.elements() * size_of(tensor.dtype); }

  // Element by element on the result.
  template <class Cmd>
  Features by_result(const Cmd& cmd) const {
    Features features;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr || access == Access::kRead || !features.empty()) return;
      features = model_.element_wise(tensor->shape, lane(*tensor));
    });
    return features;
  }

 private:
  const TimeModel& model_;
  const Chip& chip_;
};

}  // namespace softtpu
