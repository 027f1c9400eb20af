// Division by the sizes of a chip. Nearly all of them are powers of two, where a shift costs a tenth of a division;
// what a command costs without its work is mostly divisions.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

namespace softtpu {

// `b` is not 0, neither is negative.
template <std::integral A, std::integral B>
constexpr A quotient(A a, B b) {
  const auto divisor = static_cast<std::make_unsigned_t<B>>(b);
  const bool shifts = (divisor & (divisor - 1)) == 0;
  return shifts ? static_cast<A>(a >> std::countr_zero(divisor)) : a / static_cast<A>(b);
}
template <std::integral A, std::integral B>
constexpr A remainder(A a, B b) {
  const A divisor = static_cast<A>(b);
  return (divisor & (divisor - 1)) == 0 ? a & (divisor - 1) : a % divisor;
}

}  // namespace softtpu
