// Vector by vector: every element of one vector with every element of another.
#pragma once

#include <utility>
#include <variant>

#include "device/command/traits.hpp"
#include "device/engines/bdc/compare/command.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// Batch n of dst is rule(element n of src0, src1): `rule` is the element-wise command whose dst has one batch for each
// element of src0, whose b is src1 repeated over the batches (n stride 0), and whose a is not used.
struct OuterCmd {
  static constexpr CommandTraits kTraits{};
  using Rule = std::variant<ArithCmd, IntArithCmd, CompareCmd, DivideCmd>;
  Tensor src0;  // [1, channels, 1, elements per channel]; the last channel may be filled in part
  Rule rule;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", Operand(src0), kSomeElements);
    std::visit(
        [&](const auto& command) {
          f(Access::kRead, "src1", command.b, kSomeElements);
          f(Access::kWrite, "dst", Operand(command.dst));
        },
        rule);
  }
  template <class F>
  void numbers(F f) const {
    std::visit([&](const auto& command) { command.numbers(f); }, rule);
  }
  bool operator==(const OuterCmd&) const = default;
};

}  // namespace softtpu
