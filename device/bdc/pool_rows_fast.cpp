// The loops of poolings, and the widening of stored elements, with SIMD instructions; compiled for several instruction
// sets and chosen at run time.
#include "device/bdc/pool_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/bdc/pool_rows_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/bdc/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

PoolRows pool_rows() { return kPlainPoolRows; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<std::uint32_t>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using Vector = hn::Vec<Floats>;

// Roundings of sums and products to a storage type, as f32. Any NaN stands for the type's only NaN result.
struct AsF32 {
  static Vector round(Vector value) { return value; }
  static Vector product(Vector a, Vector b) { return hn::Mul(a, b); }
};

struct AsF16 {
  static Vector round(Vector value) {
    const Floats d;
#if HWY_TARGET == HWY_SSE4
    const Words du;
    const auto bits = hn::BitCast(du, value);
    const auto sign = hn::And(bits, hn::Set(du, 0x80000000U));
    const auto magnitude = hn::Xor(bits, sign);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
    const auto nearest = hn::And(hn::Add(hn::Add(magnitude, hn::Set(du, 0xFFF)), odd), hn::Set(du, 0xFFFFE000U));
    // Adding 0.5 leaves multiples of 2^-24, the step of subnormal halves.
    const auto half = hn::Set(d, 0.5F);
    const auto subnormal = hn::Sub(hn::Add(hn::BitCast(d, magnitude), half), half);
    auto result =
        hn::IfThenElse(hn::Lt(hn::BitCast(d, magnitude), hn::Set(d, 0x1p-14F)), subnormal, hn::BitCast(d, nearest));
    result = hn::IfThenElse(hn::Ge(result, hn::Set(d, 65536.0F)), hn::BitCast(d, hn::Set(du, 0x7F800000U)), result);
    result = hn::Or(result, hn::BitCast(d, sign));
    return hn::IfThenElse(hn::Eq(value, value), result, value);
#else
    const hn::Rebind<hwy::float16_t, Floats> dh;
    return hn::PromoteTo(d, hn::DemoteTo(dh, value));
#endif
  }
  static Vector product(Vector a, Vector b) { return round(hn::Mul(a, b)); }
};

struct AsBf16 {
  static Vector round(Vector value) {
    const Floats d;
    const Words du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto nearest = hn::And(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFF)), odd), hn::Set(du, 0xFFFF0000U));
    return hn::IfThenElse(hn::Eq(value, value), hn::BitCast(d, nearest), value);
  }
  // A product just below the least normal number rounds up to it before small results become zero.
  static Vector product(Vector a, Vector b) {
    const Floats d;
    const auto value = hn::Mul(a, b);
    const auto scaled = hn::Mul(hn::Mul(a, hn::Set(d, 0x1p64F)), b);
    const auto magnitude = hn::Abs(scaled);
    const auto rounds_up = hn::And(
        hn::Eq(value, hn::Zero(d)),
        hn::And(hn::Ge(magnitude, hn::Set(d, 0x1p-62F * (1 - 0x1p-9F))), hn::Lt(magnitude, hn::Set(d, 0x1p-62F))));
    return hn::IfThenElse(rounds_up, hn::CopySign(hn::Set(d, 0x1p-126F), scaled), round(value));
  }
};

// Calls vector(i) for whole vectors and one(i) for the elements that are left.
template <class VectorStep, class OneStep>
HWY_INLINE void each(int count, VectorStep vector, OneStep one) {
  constexpr int kStep = kLanes;
  int i = 0;
  for (; i + kStep <= count; i += kStep) vector(i);
  if (i < count) one(i, count - i);
}

template <class As>
void add_products(float* sums, const float* values, float weight, int count) {
  const Floats d;
  const auto factor = hn::Set(d, weight);
  const auto step = [&](float* sum, const float* value) HWY_ATTR {
    hn::StoreU(As::round(hn::Add(hn::LoadU(d, sum), As::product(hn::LoadU(d, value), factor))), d, sum);
  };
  each(
      count, [&](int i) HWY_ATTR { step(sums + i, values + i); },
      [&](int i, int rest) HWY_ATTR {
        float sum[kLanes] = {};
        float value[kLanes] = {};
        for (int j = 0; j < rest; ++j) {
          sum[j] = sums[i + j];
          value[j] = values[i + j];
        }
        step(sum, value);
        for (int j = 0; j < rest; ++j) sums[i + j] = sum[j];
      });
}

void add_products_int(std::uint32_t* sums, const std::uint32_t* values, std::uint32_t weight, int count) {
  const Words d;
  const auto factor = hn::Set(d, weight);
  each(
      count,
      [&](int i) HWY_ATTR {
        const auto product = hn::Mul(hn::LoadU(d, values + i), factor);
        hn::StoreU(hn::Add(hn::LoadU(d, sums + i), product), d, sums + i);
      },
      [&](int i, int rest) { kPlainPoolRows.add_products_int(sums + i, values + i, weight, rest); });
}

// For comparing only: subnormals become zero here, so that no compiler turns the choice of the untouched values into
// the CPU's max, which would flush what it hands on.
hn::Vec<Floats> compared(hn::Vec<Floats> value) {
  const Floats d;
  const Words du;
  const auto bits = hn::BitCast(du, value);
  const auto subnormal = hn::Eq(hn::And(bits, hn::Set(du, 0x7F800000U)), hn::Zero(du));
  return hn::BitCast(d, hn::IfThenElse(subnormal, hn::And(bits, hn::Set(du, 0x80000000U)), bits));
}

void take_max(float* best, const float* values, int count) {
  const Floats d;
  each(
      count,
      [&](int i) HWY_ATTR {
        const auto old = hn::LoadU(d, best + i);
        const auto value = hn::LoadU(d, values + i);
        hn::StoreU(hn::IfThenElse(hn::Gt(compared(old), compared(value)), old, value), d, best + i);
      },
      [&](int i, int rest) { kPlainPoolRows.take_max(best + i, values + i, rest); });
}

void take_min(float* best, const float* values, int count) {
  const Floats d;
  each(
      count,
      [&](int i) HWY_ATTR {
        const auto old = hn::LoadU(d, best + i);
        const auto value = hn::LoadU(d, values + i);
        hn::StoreU(hn::IfThenElse(hn::Lt(compared(old), compared(value)), old, value), d, best + i);
      },
      [&](int i, int rest) { kPlainPoolRows.take_min(best + i, values + i, rest); });
}

// f16 bits -> f32 with every bit of a NaN.
void widen_f16(const std::uint16_t* in, float* out, int count) {
  const Floats d;
  const Words du;
  each(
      count,
      [&](int i) HWY_ATTR {
        const auto half = hn::PromoteTo(du, hn::LoadU(Halves(), in + i));
        const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000)));
        const auto shifted = hn::ShiftLeft<13>(hn::And(half, hn::Set(du, 0x7FFF)));
        const auto top = hn::And(half, hn::Set(du, 0x7C00));
        const auto rebased = hn::Add(shifted, hn::Set(du, 112U << 23));
        const auto special = hn::Add(shifted, hn::Set(du, 224U << 23));
        // A subnormal half is a whole number of 2^-24.
        const hn::Rebind<std::int32_t, Floats> di;
        const auto mantissa = hn::ConvertTo(d, hn::BitCast(di, hn::And(half, hn::Set(du, 0x3FF))));
        const auto subnormal = hn::BitCast(du, hn::Mul(mantissa, hn::Set(d, 0x1p-24F)));
        auto bits = hn::IfThenElse(hn::Eq(top, hn::Zero(du)), subnormal, rebased);
        bits = hn::IfThenElse(hn::Eq(top, hn::Set(du, 0x7C00)), special, bits);
        hn::StoreU(hn::BitCast(d, hn::Or(bits, sign)), d, out + i);
      },
      [&](int i, int rest) { kPlainPoolRows.widen_f16(in + i, out + i, rest); });
}

void widen_bf16(const std::uint16_t* in, float* out, int count) {
  const Floats d;
  const Words du;
  each(
      count,
      [&](int i) HWY_ATTR {
        const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(Halves(), in + i)));
        hn::StoreU(hn::BitCast(d, bits), d, out + i);
      },
      [&](int i, int rest) { kPlainPoolRows.widen_bf16(in + i, out + i, rest); });
}

}  // namespace

PoolRows pool_rows() {
  return {add_products<AsF32>, add_products<AsF16>, add_products<AsBf16>, add_products_int, take_max, take_min,
          widen_f16,           widen_bf16};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(PoolRows, fast_pool_rows, (), pool_rows, ())

}  // namespace softtpu
#endif
