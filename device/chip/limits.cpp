#include "device/chip/limits.hpp"

#include <array>
#include <utility>

#include "runtime/layout/shape.hpp"

namespace softtpu {
namespace {

constexpr Bound value_of(const char* argument) {
  Bound bound = 0;
  bound.argument = argument;
  return bound;
}
constexpr Bound operator-(Bound bound, std::int64_t number) {
  bound.number -= number;
  return bound;
}
constexpr Bound where(Quirk rule, std::int64_t with, std::int64_t without) {
  Bound bound = without;
  bound.rule = rule;
  bound.with_rule = with;
  return bound;
}

template <std::size_t kFirst, std::size_t kSecond>
constexpr auto operator+(const std::array<Limit, kFirst>& first, const std::array<Limit, kSecond>& second) {
  const auto join = [&]<std::size_t... kI, std::size_t... kJ>(std::index_sequence<kI...>, std::index_sequence<kJ...>) {
    return std::array<Limit, kFirst + kSecond>{first[kI]..., second[kJ]...};
  };
  return join(std::make_index_sequence<kFirst>(), std::make_index_sequence<kSecond>());
}
template <std::size_t kCount>
constexpr auto operator+(const std::array<Limit, kCount>& list, const Limit& limit) {
  return list + std::array{limit};
}
constexpr std::array<Limit, 0> kNone{};

// What a set lists are terms of a sum.
#define LIMIT(argument, low, high) +Limit(argument, low, high)
#define INCLUDE(set) +set
#define LIMITS(name, ...) constexpr auto name = kNone __VA_ARGS__;
#include "device/isa/limits.def"

constexpr std::span<const Limit> kSets[] = {
    kNone,
#define LIMIT(...)
#define INCLUDE(...)
#define LIMITS(name, ...) name,
#include "device/isa/limits.def"
};

}  // namespace

std::span<const Limit> limits_of(Limits set) { return kSets[static_cast<std::size_t>(set)]; }

}  // namespace softtpu
