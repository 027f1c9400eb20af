#include "tests/reference/by_exponent.hpp"

#include <algorithm>
#include <cmath>

#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/reference/sfu.hpp"

namespace softtpu::reference {
namespace {

constexpr int kSteps = 3;
constexpr float kLn2 = 0.693147182F;

}  // namespace

using Bits = ByExponent::Bits;

Bits ByExponent::of(float value) const { return stored(value, type_); }
Bits ByExponent::plus(Bits a, Bits b) const { return stored(add(loaded(a, type_), loaded(b, type_)), type_); }
Bits ByExponent::minus(Bits a, Bits b) const { return stored(sub(loaded(a, type_), loaded(b, type_)), type_); }
Bits ByExponent::times(Bits a, Bits b) const { return stored(mul(loaded(a, type_), loaded(b, type_)), type_); }
Bits ByExponent::inverse(Bits x) const { return divide(of(1), x, kSteps, type_); }
Bits ByExponent::root(Bits x) const {
  const Bits infinity = 0x7F800000U;
  const Bits r = rsqrt(x, kSteps, type_);
  return x == sign() ? x : times(r == infinity ? 0 : r, x);
}

Bits ByExponent::largest() const {
  return of(type_ == Dtype::kFp16 ? 40000.0F : type_ == Dtype::kBfp16 ? 3e38F : 4e35F);
}

Bits ByExponent::exp(Bits x) const {
  const Bits t = min(max(x, largest() | sign(), type_), largest(), type_);
  const Bits k = round_float(times(t, of(1.44269504F)), type_, Rounding::kDown);
  const Bits f = minus(t, times(k, of(kLn2)));
  const double exponent = std::clamp(value_of(k, type_) + bias(), 0.0, 2.0 * bias());
  return times(taylor(f, tables_.exp, type_), static_cast<Bits>(exponent) << mantissa());
}

Bits ByExponent::log_of(Bits x, bool infinite_at_zero) const {
  const Bits infinity = static_cast<Bits>(2 * bias() + 1) << mantissa();
  if (x == infinity) return x;
  if (x == 0 && infinite_at_zero) return infinity | sign();
  const Bits y = max(x, Bits{1} << mantissa(), type_);
  const Bits power = exponent_part(y, type_, false);
  const Bits quotient = times(y, (static_cast<Bits>(2 * bias()) << mantissa()) - power);
  const auto exponent = static_cast<int>(exponent_part(y, type_, true));
  return plus(taylor(minus(quotient, of(1)), tables_.log, type_),
              times(of(static_cast<float>(exponent - bias())), of(kLn2)));
}

Bits ByExponent::turn(Bits x) const {
  const Bits turns = times(x, of(0.159154937F));
  return minus(turns, round_float(turns, type_, Rounding::kHalfAwayFromZero));
}
Bits ByExponent::sin(Bits x) const {
  const Bits f = turn(x);
  return times(f, taylor(times(f, f), tables_.sin, type_));
}
Bits ByExponent::cos(Bits x) const {
  const Bits f = turn(x);
  return taylor(times(f, f), tables_.cos, type_);
}

Bits ByExponent::erf(Bits x) const {
  const Bits t = inverse(plus(times(x & ~sign(), of(0.5F)), of(1)));
  const Bits s = times(exp(minus(taylor(t, tables_.erf, type_), times(x, x))), t);
  const Bits side = x == 0 ? 0 : loaded(x, type_) > 0 ? of(1) : of(-1);
  return times(minus(of(1), s), side);
}
Bits ByExponent::gelu(Bits x) const { return times(times(plus(erf(times(x, of(0.707106769F))), of(1)), of(0.5F)), x); }
Bits ByExponent::hswish(Bits x) const {
  const Bits ramp = min(max(plus(x, of(3)), 0, type_), of(6), type_);
  return times(times(ramp, x), of(1.0F / 6.0F));
}

Bits ByExponent::tan_of_turns(Bits y) const {
  const Bits f = minus(y, round_float(y, type_, Rounding::kHalfToEven));
  const Bits g = minus(of(0.25F), f & ~sign());
  const Bits v = times(g, taylor(times(g, g), tables_.tan, type_));
  return minus(times(inverse(plus(of(1), v)), of(2)), of(1)) | (f & sign());
}

Bits ByExponent::arctanh(Bits x) const {
  const Bits quotient = divide(plus(x, of(1)), minus(of(1), x), kSteps, type_);
  return times(log_of(quotient, false), of(0.5F));
}

// Above 40 as at 40; a NaN counts as the lowest number.
Bits ByExponent::tanh(Bits x) const {
  const Bits t = min(max(x, largest() | sign(), type_), of(40), type_);
  return plus(times(inverse(plus(exp(times(t, of(2))), of(1))), of(-2)), of(1));
}

Bits ByExponent::gelu_fast(Bits x) const {
  const Bits cubic = times(times(times(x, x), x), of(0.0447149985F));
  const Bits u = times(plus(cubic, x), of(0.797884583F));
  return times(times(plus(tanh(u), of(1)), x), of(0.5F));
}

Bits ByExponent::mish(Bits x) const {
  const Bits e = plus(min(max(exp(x), 0, type_), of(1e9F), type_), of(1));
  return minus(x, times(times(x, inverse(plus(times(e, e), of(1)))), of(2)));
}

}  // namespace softtpu::reference
