// Series, roots and quotients with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include <algorithm>
#include <cstring>

#include "device/engines/bdc/special/fast.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/steps_in_type.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/special/sfu_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

SfuRows sfu_rows(Dtype) { return {}; }
LookupRows lookup_rows() { return {}; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Arithmetic without the NaN rules: a NaN stays a NaN, and where none comes out none has been on the way.
struct AnyNan : HalfArithmetic {};

HWY_INLINE bool has_nan(FloatVector value) { return !hn::AllFalse(Floats(), is_nan(value)); }

// The result by quick arithmetic, or once more by the unit's when it matters which NaN it is.
template <class Unit, class Compute>
HWY_INLINE FloatVector settled(Compute compute) {
  const auto quick = compute(AnyNan());
  if (!std::is_same_v<Unit, F32Unit> || HWY_LIKELY(!has_nan(quick))) return quick;
  return compute(Unit());
}

// A stored element as f32. The first guess of a root looks at the bits: an f32 subnormal stays, a bf16 one does not.
template <class Unit>
HWY_INLINE FloatVector raw_value(const typename Unit::Stored* stored) {
  const auto value = Unit::load(stored);
  return std::is_same_v<Unit, Bf16Unit> ? flushed(value) : value;
}

// Horner's scheme, rounded to the type after every multiplication and addition.
template <class Unit>
struct Series {
  const float* coeff;
  int terms;
  FloatVector x;
  template <class Arithmetic>
  HWY_INLINE FloatVector operator()(Arithmetic) const {
    auto sum = hn::Set(Floats(), coeff[terms - 1]);
    for (int i = terms - 2; i >= 0; --i) {
      const auto product = Unit::round(Arithmetic::mul(sum, x));
      sum = Unit::round(Arithmetic::add(product, hn::Set(Floats(), coeff[i])));
    }
    return sum;
  }
};

// As rsqrt_end() of device/numeric/newton.hpp.
HWY_INLINE FloatVector with_root_ends(FloatVector raw, FloatVector y) {
  const auto bits = bits_of(raw);
  const auto infinity = word(0x7F800000U);
  const auto zero = hn::Eq(hn::And(bits, word(0x7FFFFFFFU)), hn::Zero(Words()));
  const auto negative = hn::Gt(bits, word(0x807FFFFFU));
  const auto none = hn::Or(hn::RebindMask(Words(), is_nan(raw)), negative);
  auto result = hn::IfThenElse(zero, hn::Or(bits, infinity), bits_of(y));
  result = hn::IfThenElse(none, word(kNanInvalid), result);
  return float_of(hn::IfThenZeroElse(hn::Eq(bits, infinity), result));
}

// Vectors whose roots or series run side by side, as each step of one waits for the step before.
constexpr int kSideBySide = 4;

// As rsqrt() of device/numeric/newton.hpp, for kVectors vectors.
template <class Arithmetic, int kVectors>
HWY_INLINE void inverse_roots(const FloatVector (&raw)[kVectors], int iterations, RootEnds ends,
                              FloatVector (&y)[kVectors]) {
  FloatVector half[kVectors];
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    half[v] = Arithmetic::mul(raw[v], hn::Set(Floats(), 0.5F));
    const auto halved = hn::BitCast(Words(), hn::ShiftRight<1>(hn::BitCast(Ints(), raw[v])));
    y[v] = float_of(hn::Sub(word(0x5F3759DFU), halved));
  }
  for (int step = 0; step < iterations; ++step) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const auto error = Arithmetic::mul(Arithmetic::mul(half[v], y[v]), y[v]);
      y[v] = Arithmetic::mul(y[v], Arithmetic::sub(hn::Set(Floats(), 1.5F), error));
    }
  }
  if (ends != RootEnds::kFlushed && ends != RootEnds::kIeee) return;
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) y[v] = with_root_ends(ends == RootEnds::kFlushed ? flushed(raw[v]) : raw[v], y[v]);
}
template <class Arithmetic>
HWY_INLINE FloatVector inverse_root(FloatVector raw, int iterations, RootEnds ends) {
  const FloatVector all[1] = {raw};
  FloatVector y[1];
  inverse_roots<Arithmetic>(all, iterations, ends, y);
  return y[0];
}

struct Root {
  RootMode mode;
  int iterations;
  RootEnds ends;

  template <class Arithmetic, int kVectors>
  HWY_INLINE void of(const FloatVector (&x)[kVectors], FloatVector (&result)[kVectors]) const {
    inverse_roots<Arithmetic>(x, iterations, ends, result);
    if (ends == RootEnds::kNoInfinity) {
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) {
        const auto infinite = hn::Eq(bits_of(result[v]), word(0x7F800000U));
        result[v] = float_of(hn::IfThenZeroElse(infinite, bits_of(result[v])));
      }
    }
    if (mode == RootMode::kRsqrt) return;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) result[v] = Arithmetic::mul(result[v], flushed(x[v]));
    if (ends == RootEnds::kSteps) return;
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const auto zero = hn::Eq(hn::And(bits_of(x[v]), word(0x7FFFFFFFU)), hn::Zero(Words()));
      result[v] = float_of(hn::IfThenElse(zero, bits_of(x[v]), bits_of(result[v])));
    }
  }
};

// As divide() of device/numeric/newton.hpp.
struct Quotient {
  int iterations;
  RootEnds ends;
  FloatVector a, b;
  template <class Arithmetic>
  HWY_INLINE FloatVector operator()(Arithmetic) const {
    const auto inverse = inverse_root<Arithmetic>(hn::Abs(b), iterations, ends);
    const auto sign = hn::And(bits_of(b), word(0x80000000U));
    const auto moved = hn::IfThenZeroElse(hn::RebindMask(Words(), is_nan(b)), sign);
    const auto numerator = float_of(hn::Xor(flushed_bits(bits_of(a)), moved));
    return Arithmetic::mul(Arithmetic::mul(inverse, inverse), numerator);
  }
};

// ---- Steps in the type: as device/numeric/steps_in_type.hpp ----

template <class Unit>
HWY_INLINE FloatVector widened(WordVector half) {
  if constexpr (std::is_same_v<Unit, F16Unit>) return widened_f16(half);
  return float_of(hn::ShiftLeft<16>(half));
}

template <class Unit>
HWY_INLINE FloatVector inverse_root_in_type(WordVector x, int iterations) {
  using Format = HalfFormat<typename Unit::Stored>;
  const auto half = Unit::round(hn::Mul(widened<Unit>(x), hn::Set(Floats(), 0.5F)));
  auto y = widened<Unit>(hn::And(hn::Sub(word(Format::kGuess), hn::ShiftRight<1>(x)), word(0xFFFF)));
  for (int step = 0; step < iterations; ++step) {
    const auto error = Unit::round(hn::Mul(Unit::round(hn::Mul(half, y)), y));
    y = Unit::round(hn::Mul(y, Unit::round(hn::Sub(hn::Set(Floats(), 1.5F), error))));
  }
  const auto magnitude = hn::And(x, word(0x7FFF)), sign = hn::ShiftLeft<16>(hn::Xor(x, magnitude));
  const auto zero = hn::Eq(magnitude, hn::Zero(Words()));
  const auto none = hn::Or(hn::Gt(x, word(0x7FFFU + Format::kLeastNormal)),
                           hn::And(hn::Gt(magnitude, word(Format::kInfinity)), hn::Lt(x, word(0x8000))));
  auto bits = hn::IfThenElse(zero, hn::Or(sign, word(0x7F800000U)), bits_of(y));
  bits = hn::IfThenElse(none, word(kNanInvalid), bits);
  return float_of(hn::IfThenZeroElse(hn::Eq(x, word(Format::kInfinity)), bits));
}

template <class Unit>
HWY_INLINE FloatVector root_in_type(RootMode mode, WordVector x, int iterations) {
  const auto inverse = inverse_root_in_type<Unit>(x, iterations);
  if (mode == RootMode::kRsqrt) return inverse;
  const auto value = widened<Unit>(x);
  const auto zero = hn::Eq(hn::And(x, word(0x7FFF)), hn::Zero(Words()));
  return hn::IfThenElse(hn::RebindMask(Floats(), zero), value, hn::Mul(inverse, value));
}

template <class Unit>
HWY_INLINE FloatVector quotient_in_type(WordVector a, WordVector b, int iterations) {
  const auto magnitude = hn::And(b, word(0x7FFF));
  const auto none = hn::Gt(magnitude, word(HalfFormat<typename Unit::Stored>::kInfinity));
  const auto sign = hn::IfThenZeroElse(none, hn::Xor(b, magnitude));
  const auto inverse = inverse_root_in_type<Unit>(magnitude, iterations);
  return hn::Mul(Unit::round(hn::Mul(inverse, inverse)), widened<Unit>(hn::Xor(a, sign)));
}

// Whether a NaN is among results of which it matters which NaN they are.
template <class Unit>
HWY_INLINE bool needs_nan_rules(const FloatVector (&results)[kSideBySide]) {
  if constexpr (!std::is_same_v<Unit, F32Unit>) return false;
  const auto any =
      hn::Or(hn::Or(is_nan(results[0]), is_nan(results[1])), hn::Or(is_nan(results[2]), is_nan(results[3])));
  return HWY_UNLIKELY(!hn::AllFalse(Floats(), any));
}

// The series of kSideBySide vectors without the NaN rules; whether a NaN came out of which it matters which one it is.
template <class Unit>
HWY_INLINE bool taylor_block(typename Unit::Stored* dst, const typename Unit::Stored* src, const float* coeff,
                             int terms) {
  FloatVector x[kSideBySide], sum[kSideBySide];
  HWY_UNROLL(4)
  for (int v = 0; v < kSideBySide; ++v) {
    x[v] = Unit::load(src + v * kLanes);
    sum[v] = hn::Set(Floats(), coeff[terms - 1]);
  }
  for (int i = terms - 2; i >= 0; --i) {
    const auto next = hn::Set(Floats(), coeff[i]);
    HWY_UNROLL(4)
    for (int v = 0; v < kSideBySide; ++v) sum[v] = Unit::round(hn::Add(Unit::round(product(sum[v], x[v])), next));
  }
  if (needs_nan_rules<Unit>(sum)) return true;
  HWY_UNROLL(4)
  for (int v = 0; v < kSideBySide; ++v) Unit::store(sum[v], dst + v * kLanes);
  return false;
}

template <class Unit>
int taylor(void* dst, const void* src, int count, const float* coeff, int terms) {
  using T = typename Unit::Stored;
  constexpr int kStep = kSideBySide * kLanes;
  auto* to = static_cast<T*>(dst);
  const auto* from = static_cast<const T*>(src);
  const auto block = [=](T* sums, const T* x) HWY_ATTR {
    if (!taylor_block<Unit>(sums, x, coeff, terms)) return;
    for (int v = 0; v < kStep; v += kLanes)
      Unit::store(settled<Unit>(Series<Unit>{coeff, terms, Unit::load(x + v)}), sums + v);
  };
  int i = 0;
  for (; i + kStep <= count; i += kStep) block(to + i, from + i);
  if (i < count) {
    T rest[kStep] = {};
    const auto bytes = static_cast<unsigned>(count - i) * sizeof(T);
    std::memcpy(rest, from + i, bytes);
    block(rest, rest);
    std::memcpy(to + i, rest, bytes);
  }
  return count;
}

// The roots of kSideBySide vectors without the NaN rules; whether a NaN came out of which it matters which one it is.
template <class Unit>
HWY_INLINE bool root_block(typename Unit::Stored* dst, const typename Unit::Stored* src, const Root& root) {
  FloatVector x[kSideBySide], result[kSideBySide];
  HWY_UNROLL(4)
  for (int v = 0; v < kSideBySide; ++v) x[v] = raw_value<Unit>(src + v * kLanes);
  root.of<AnyNan>(x, result);
  if (needs_nan_rules<Unit>(result)) return true;
  HWY_UNROLL(4)
  for (int v = 0; v < kSideBySide; ++v) Unit::store(result[v], dst + v * kLanes);
  return false;
}

template <class Unit>
int root(void* dst, const void* src, int count, RootMode mode, int iterations, RootEnds ends) {
  using T = typename Unit::Stored;
  constexpr int kStep = kSideBySide * kLanes;
  auto* to = static_cast<T*>(dst);
  const auto* from = static_cast<const T*>(src);
  int i = 0;
  if constexpr (!std::is_same_v<Unit, F32Unit>) {
    for (; ends == RootEnds::kInType && i + kLanes <= count; i += kLanes)
      Unit::store(root_in_type<Unit>(mode, load_halves(from + i), iterations), to + i);
  }
  const Root root{mode, iterations, ends};
  const auto one_vector = [&](int at) HWY_ATTR {
    const FloatVector x[1] = {raw_value<Unit>(from + at)};
    const auto compute = [&](auto arithmetic) HWY_ATTR {
      FloatVector result[1];
      root.of<decltype(arithmetic)>(x, result);
      return result[0];
    };
    Unit::store(settled<Unit>(compute), to + at);
  };
  for (; i + kStep <= count; i += kStep) {
    if (!root_block<Unit>(to + i, from + i, root)) continue;
    for (int v = 0; v < kSideBySide; ++v) one_vector(i + v * kLanes);
  }
  for (; i + kLanes <= count; i += kLanes) one_vector(i);
  return i;
}

template <class Unit>
int divide(void* dst, const void* a, const void* b, int count, int iterations, RootEnds ends) {
  using T = typename Unit::Stored;
  int i = 0;
  if constexpr (!std::is_same_v<Unit, F32Unit>) {
    const auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
    for (; ends == RootEnds::kInType && i + kLanes <= count; i += kLanes)
      Unit::store(quotient_in_type<Unit>(load_halves(x + i), load_halves(y + i), iterations), static_cast<T*>(dst) + i);
  }
  for (; i + kLanes <= count; i += kLanes) {
    const auto numerator = raw_value<Unit>(static_cast<const T*>(a) + i);
    const auto denominator = raw_value<Unit>(static_cast<const T*>(b) + i);
    Unit::store(settled<Unit>(Quotient{iterations, ends, numerator, denominator}), static_cast<T*>(dst) + i);
  }
  return i;
}

template <class Index>
int lookup(std::uint32_t* dst, const Index* src, int count, const std::uint32_t* table, int last) {
  const auto most = hn::Set(Ints(), last);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto index = hn::PromoteTo(Ints(), hn::LoadU(hn::Rebind<Index, Ints>(), src + i));
    hn::StoreU(hn::GatherIndex(Words(), table, hn::Min(index, most)), Words(), dst + i);
  }
  return i;
}

template <class Index>
Index largest(const Index* values, int count) {
  const hn::ScalableTag<Index> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  auto tops = hn::Zero(d);
  int i = 0;
  for (; i + kStep <= count; i += kStep) tops = hn::Max(tops, hn::LoadU(d, values + i));
  Index lanes[kStep];
  hn::StoreU(tops, d, lanes);
  Index top = *std::max_element(lanes, lanes + kStep);
  for (; i < count; ++i) top = std::max(top, values[i]);
  return top;
}

}  // namespace

LookupRows lookup_rows() {
  return {lookup<std::uint8_t>, lookup<std::uint16_t>, largest<std::uint8_t>, largest<std::uint16_t>};
}

SfuRows sfu_rows(Dtype type) {
  SfuRows rows;
  for_float_type(type, [&]<class T>(T) {
    using Unit = typename UnitOf<T>::type;
    rows = {taylor<Unit>, root<Unit>, divide<Unit>};
  });
  return rows;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(SfuRows, fast_sfu_rows, (Dtype type), sfu_rows, (type))
SOFTTPU_DISPATCH(LookupRows, fast_lookup_rows, (), lookup_rows, ())

}  // namespace softtpu
#endif
