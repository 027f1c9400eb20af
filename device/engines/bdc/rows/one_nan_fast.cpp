// The only NaN in place of others, with SIMD instructions: results are read, and written where there is a NaN.
#include <cstdint>

#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/numeric/only_nan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/rows/one_nan_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

UnifyRow unify_row() { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;

void unify(std::uint32_t* words, int count) {
  const hn::ScalableTag<std::int32_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), step = 4 * lanes;
  auto* const values = reinterpret_cast<std::int32_t*>(words);
  const auto magnitude = hn::Set(d, kMagnitude), infinity = hn::Set(d, kInfinity);
  const auto size = [&](int at) { return hn::And(hn::LoadU(d, values + at), magnitude); };
  const auto settle = [&](int at) {
    const auto value = hn::LoadU(d, values + at);
    const auto is_nan = hn::Gt(hn::And(value, magnitude), infinity);
    hn::StoreU(hn::IfThenElse(is_nan, hn::Set(d, static_cast<std::int32_t>(kOnlyNan)), value), d, values + at);
  };
  int i = 0;
  for (; i + step <= count; i += step) {
    const auto largest = hn::Max(hn::Max(size(i), size(i + lanes)), hn::Max(size(i + 2 * lanes), size(i + 3 * lanes)));
    if (HWY_LIKELY(hn::AllFalse(d, hn::Gt(largest, infinity)))) continue;
    for (int part = 0; part < step; part += lanes) settle(i + part);
  }
  for (; i + lanes <= count; i += lanes) settle(i);
  for (; i < count; ++i) {
    if ((values[i] & kMagnitude) > kInfinity) values[i] = static_cast<std::int32_t>(kOnlyNan);
  }
}

}  // namespace

UnifyRow unify_row() { return unify; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(UnifyRow, fast_unify_row, (), unify_row, ())

}  // namespace softtpu
#endif
