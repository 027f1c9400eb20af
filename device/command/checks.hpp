// The rules that commands share: types, shapes, strides, alignment, bounds, start NPUs. A Checks object looks at one
// command and keeps the first violation as values (function, argument, value, limit).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "device/command/numbers.hpp"
#include "device/command/refusal.hpp"
#include "device/isa/op.hpp"
#include "device/isa/types.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// Alignment that a local operand without explicit strides needs.
enum class NaturalAlignment : std::uint8_t { kEuRow, kElement };

class Checks {
 public:
  Checks(const Memories& mem, Op op) : mem_(mem), chip_(mem.chip()), op_(op) {}

  // The first violation. Empty when the command is legal.
  const Violation& violation() const { return violation_; }

  // Records the violation unless `holds`. text() is only called when needed and says what is wrong: as values (Wrong),
  // or as a text that continues after "function: ".
  template <class Text>
  Checks& require(bool holds, Text text) {
    return require(holds, "constraint/argument", text, [] { return std::string(); });
  }
  // The same for a violation of another rule of runtime/report/rules.def; `nearest` gives the nearest legal value.
  template <class Text, class Nearest>
  Checks& require(bool holds, const char* rule, Text text, Nearest nearest) {
    if (!holds && !violation_) record(rule, text, nearest);
    return *this;
  }
  template <class Text>
  Checks& require(bool holds, const char* rule, Text text) {
    return require(holds, rule, text, [] { return std::string(); });
  }

  // The operation's row allows this type for its destination.
  Checks& type(std::string_view name, Dtype type) { return type_in(name, type, info(op_).types); }
  Checks& type_in(std::string_view name, Dtype type, TypeSet allowed);
  Checks& in_range(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high);
  // Each number is inside the limits of the operation's row, in the order of the row's set. The answer is an argument
  // for which the row has no limit; nullptr: there is none.
  const char* limits(const Numbers& numbers);
  // A defect of the operations table. It counts only where no rule refuses the command.
  void no_limit(const char* argument);
  // n, c, h, w each in 1..most; BM1684's BDC takes c up to 4095.
  Checks& shape(std::string_view name, const Dim4& shape, int most = kMaxExtent);
  // Address alignment, non-negative strides, and every element inside its memory.
  Checks& tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural = NaturalAlignment::kEuRow);
  // As tensor() for a Tensor; a constant is always fine.
  Checks& operand(std::string_view name, const Operand& operand);
  // Whatever the tensor's elements and strides.
  Checks& multiple_of(std::string_view name, std::uint64_t addr, std::uint64_t step);
  // What all NPUs read from, or what lies on them one after the other, begins on the first.
  Checks& on_first_npu(std::string_view name, std::uint64_t addr);
  // Local operands whose lanes must coincide.
  Checks& same_npu(std::string_view name, std::uint64_t addr, std::string_view other, std::uint64_t other_addr);

  // A mode that rounds to integers: HALF_UP and HALF_DOWN do not.
  Checks& integral_rounding(std::string_view name, Rounding mode);
  // An element-wise BDC command's destination: type of the operation's row, shape, layout. `arithmetic`: the command is
  // one of those that may write its elements to one place (device/chip/rules.def: zero-dst-stride-in-arithmetic).
  Checks& target(const Tensor& dst, std::string_view name = "dst", bool arithmetic = false) {
    return type(name, dst.dtype).shape("shape", dst.shape).lane_tensor(name, dst).advances(name, dst, arithmetic);
  }
  // A destination that a caller gave strides moves on in each dimension of more than one element, where the chip asks
  // for it.
  Checks& advances(std::string_view name, const Tensor& dst, bool arithmetic = false);
  // A source on the lanes of dst; a constant is always fine.
  Checks& source(std::string_view name, const Operand& operand, const Tensor& dst);
  // A source that the function reads again after it has written dst.
  Checks& apart(std::string_view name, const Operand& operand, const Tensor& dst);
  // A source that begins where dst does has elements at least as wide: the first result would overwrite the second
  // element.
  Checks& not_widened_in_place(std::string_view name, const Tensor& source, const Tensor& dst);
  // As tensor(), with BDC's limit on the strides that a caller gives.
  Checks& lane_tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural = NaturalAlignment::kEuRow);

  const Chip& chip() const { return chip_; }
  Op op() const { return op_; }
  const Memories& memories() const { return mem_; }

 private:
  // Out of the way of commands that are legal.
  template <class Text, class Nearest>
  [[gnu::cold, gnu::noinline]] void record(const char* rule, const Text& text, const Nearest& nearest) {
    if constexpr (std::is_same_v<decltype(text()), Wrong>) {
      violation_ = {op_, rule, text(), nearest()};
    } else {
      violation_ = {op_, rule, {.what = text()}, nearest()};
    }
  }
  // One rule of tensor() after the other.
  [[gnu::noinline]] Checks& examine(std::string_view name, const Tensor& tensor, NaturalAlignment natural);
  void local_tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural);
  void system_tensor(std::string_view name, const Tensor& tensor);

  const Memories& mem_;
  const Chip& chip_;
  Op op_;
  Violation violation_;
};

}  // namespace softtpu
