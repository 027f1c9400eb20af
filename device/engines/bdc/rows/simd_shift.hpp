// Rounded shifts (device/numeric/shift.hpp) on vectors. Included once for each instruction set.
#if defined(SOFTTPU_BDC_SIMD_SHIFT_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_SIMD_SHIFT_HPP_
#undef SOFTTPU_BDC_SIMD_SHIFT_HPP_
#else
#define SOFTTPU_BDC_SIMD_SHIFT_HPP_
#endif

#include <hwy/highway.h>

#include "device/numeric/shift.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if !SOFTTPU_NO_VECTORS

// One vector of values, rounded and shifted, and shifted to the left before where kLeft. Lanes hold all of that.
template <bool kLeft, class D, class V>
HWY_INLINE V shifted(D d, V value, const RoundedShift& steps) {
  namespace hn = hwy::HWY_NAMESPACE;
  using Lane = hn::TFromD<D>;
  if constexpr (kLeft) value = hn::ShiftLeftSame(value, steps.left);
  auto round = hn::Set(d, static_cast<Lane>(steps.positive));
  if (steps.negative != steps.positive)
    round = hn::IfThenElse(hn::Lt(value, hn::Zero(d)), hn::Set(d, static_cast<Lane>(steps.negative)), round);
  if (steps.even != 0) round = hn::Add(round, hn::And(hn::Set(d, Lane{1}), hn::ShiftRightSame(value, steps.right)));
  return hn::ShiftRightSame(hn::Add(value, round), steps.right);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
