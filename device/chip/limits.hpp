// The ranges of the sets of device/isa/limits.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/chip/rules.hpp"
#include "device/isa/limits.hpp"

namespace softtpu {

// A number; the value of another argument of the call, and the number added; or one of two numbers by a rule of the
// chip.
struct Bound {
  constexpr Bound(std::int64_t value) : number(value) {}  // NOLINT: bounds are written as numbers
  constexpr bool is_number() const { return argument == nullptr && !rule; }
  std::int64_t number;
  const char* argument = nullptr;
  std::optional<Quirk> rule;
  std::int64_t with_rule = 0;

  // value_of(argument) gives the value of another argument.
  template <class ValueOf>
  constexpr std::int64_t on(const Chip& chip, const ValueOf& value_of) const {
    if (argument != nullptr) return value_of(argument) + number;
    return rule && chip.has(*rule) ? with_rule : number;
  }
};

// The range of an argument, which has the name that messages use.
struct Limit {
  constexpr Limit(const char* name, const Bound& least, const Bound& most)
      : argument(name), fixed(least.is_number() && most.is_number()), low(least), high(most) {}
  const char* argument;
  bool fixed;  // both bounds are numbers
  Bound low, high;
};

std::span<const Limit> limits_of(Limits set);

}  // namespace softtpu
