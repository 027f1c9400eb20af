#include "tests/reference/composite.hpp"

#include <bit>
#include <cmath>

#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/reference/sfu.hpp"

namespace softtpu::reference {
namespace {

using Bits = std::uint32_t;
constexpr Dtype kF32 = Dtype::kFp32;
constexpr int kSteps = 3;
constexpr int kLowest = -103, kHighest = 88;

Bits of(float value) { return std::bit_cast<Bits>(value); }
Bits plus(Bits a, Bits b) { return stored(add(loaded(a, kF32), loaded(b, kF32)), kF32); }
Bits minus(Bits a, Bits b) { return stored(sub(loaded(a, kF32), loaded(b, kF32)), kF32); }
Bits times(Bits a, Bits b) { return stored(mul(loaded(a, kF32), loaded(b, kF32)), kF32); }
Bits inverse(Bits x) { return divide(of(1.0F), x, kSteps, kF32); }
Bits magnitude(Bits x) { return x & 0x7FFFFFFFU; }
Bits nearest(Bits x) { return round_float(x, kF32, Rounding::kHalfAwayFromZero); }

// 1, -1, or the zero or NaN itself.
Bits sign_of(Bits x) {
  const float value = loaded(x, kF32);
  return value > 0 ? of(1.0F) : value < 0 ? of(-1.0F) : value == 0 ? 0 : x;
}

}  // namespace

Bits Composites::exp(Bits x) const {
  const Bits limited = min(max(x, of(static_cast<float>(kLowest)), kF32), of(static_cast<float>(kHighest)), kF32);
  const Bits whole = nearest(limited);
  const auto index = static_cast<std::size_t>(static_cast<int>(std::bit_cast<float>(whole)) - kLowest);
  return times(taylor(minus(limited, whole), tables_.exp, kF32), tables_.exp_table.at(index));
}
Bits Composites::expm1(Bits x) const { return minus(exp(x), of(1.0F)); }
Bits Composites::power_of(float base, Bits x) const { return exp(times(x, of(static_cast<float>(std::log(base))))); }

// x in turns, less the nearest whole number of them.
Bits Composites::turn(Bits x) const {
  const Bits turns = times(x, 0x3E22F983U);
  return minus(turns, nearest(turns));
}
Bits Composites::sin(Bits x) const {
  const Bits part = turn(x);
  return times(part, taylor(times(part, part), tables_.sin, kF32));
}
Bits Composites::cos(Bits x) const {
  const Bits part = turn(x);
  return taylor(times(part, part), tables_.cos, kF32);
}

Bits Composites::sigmoid(Bits x) const { return inverse(plus(exp(minus(0, x)), of(1.0F))); }
Bits Composites::silu(Bits x) const { return times(sigmoid(x), x); }
Bits Composites::tanh(Bits x) const {
  const Bits e = exp(x);
  return plus(times(inverse(plus(times(e, e), of(1.0F))), of(-2.0F)), of(1.0F));
}
Bits Composites::elu(float alpha, Bits x) const { return compare(x, 0, kF32) == 1 ? x : times(expm1(x), of(alpha)); }
Bits Composites::selu(Bits x) const { return times(elu(std::bit_cast<float>(0x3FD62D7DU), x), 0x3F867D5FU); }

Bits Composites::erf(Bits x) const {
  const Bits t = inverse(plus(times(magnitude(x), of(0.5F)), of(1.0F)));
  const Bits s = times(exp(minus(taylor(t, tables_.erf, kF32), times(x, x))), t);
  return times(minus(of(1.0F), s), sign_of(x));
}
Bits Composites::erfc(Bits x) const { return minus(of(1.0F), erf(x)); }
Bits Composites::gelu(Bits x) const { return times(times(plus(erf(times(x, 0x3F3504F3U)), of(1.0F)), of(0.5F)), x); }
Bits Composites::gelu_fast(Bits x) const {
  const Bits cubic = plus(times(times(times(x, x), x), 0x3D372713U), x);
  return times(times(plus(tanh(times(cubic, 0x3F4C422AU)), of(1.0F)), x), of(0.5F));
}

Bits compensated_reciprocal(Bits x, int iterations, int corrections) {
  const auto error = [&](Bits y) { return minus(of(1.0F), times(y, x)); };
  Bits best = divide(of(1.0F), x, iterations, kF32);
  for (int i = 0; i < corrections; ++i) {
    const Bits before = error(best);
    const Bits next = plus(times(best, before), best);
    if (compare(magnitude(before), magnitude(error(next)), kF32) != -1) best = next;
  }
  return best;
}

}  // namespace softtpu::reference
