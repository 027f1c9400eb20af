// Element-wise functions of one operand with SIMD instructions, compiled for several instruction sets and chosen at run
// time.
#include "device/engines/bdc/elementwise/fast.hpp"
#include "device/numeric/convert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/elementwise/unary_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_round.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

UnaryRow unary_row(UnaryMode, Rounding, Dtype, Specials, bool) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A float's bits as a vector of integers of its size.
template <class T>
struct BitsOf {
  using type = T;
};
template <>
struct BitsOf<float> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<F16> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<Bf16> {
  using type = std::uint16_t;
};
template <class T>
constexpr int whole_vector() {
  return static_cast<int>(hn::MaxLanes(hn::ScalableTag<typename BitsOf<T>::type>()));
}

struct Abs {
  template <class T>
  static constexpr int kStep = whole_vector<T>();
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    using B = typename BitsOf<T>::type;
    const hn::ScalableTag<B> d;
    const auto value = hn::LoadU(d, reinterpret_cast<const B*>(src));
    auto* out = reinterpret_cast<B*>(dst);
    if constexpr (!std::is_integral_v<T>) {
      hn::StoreU(hn::And(value, hn::Set(d, static_cast<B>(std::numeric_limits<B>::max() >> 1))), d, out);
    } else if constexpr (std::is_signed_v<T>) {
      hn::StoreU(hn::Max(value, hn::Sub(hn::Zero(d), value)), d, out);
    } else {
      hn::StoreU(value, d, out);
    }
  }
};

struct Neg {
  template <class T>
  static constexpr int kStep = std::is_integral_v<T> ? whole_vector<T>() : kLanes;
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    if constexpr (std::is_integral_v<T>) {
      const hn::ScalableTag<T> d;
      hn::StoreU(hn::Sub(hn::Zero(d), hn::LoadU(d, src)), d, dst);
    } else {
      using Unit = typename UnitOf<T>::type;
      Unit::store(Unit::sub(hn::Zero(Floats()), Unit::load(src)), dst);
    }
  }
};

struct Not {
  template <class T>
  static constexpr int kStep = whole_vector<T>();
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    const hn::ScalableTag<T> d;
    hn::StoreU(hn::Not(hn::LoadU(d, src)), d, dst);
  }
};

struct Sign {
  template <class T>
  static constexpr int kStep = kLanes;
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    if constexpr (std::is_integral_v<T>) {
      const auto value = load_ints(src);
      const auto one = hn::Set(Ints(), 1);
      if constexpr (std::is_signed_v<T>) {
        store_ints(hn::Max(hn::Min(value, one), hn::Set(Ints(), -1)), dst);
      } else {
        store_ints(hn::IfThenElseZero(hn::Ne(value, hn::Zero(Ints())), one), dst);
      }
    } else {
      using Unit = typename UnitOf<T>::type;
      const auto value = Unit::load(src);
      const auto zero = hn::Zero(Floats());
      const auto one = hn::Set(Floats(), 1.0F);
      const auto not_above = hn::IfThenElse(hn::Eq(value, zero), zero, hn::Neg(one));
      Unit::store(hn::IfThenElse(hn::Gt(value, zero), one, not_above), dst);
    }
  }
};

struct SignOfBits {
  template <class T>
  static constexpr int kStep = kLanes;
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    if constexpr (std::is_integral_v<T>) {
      Sign::apply(dst, src);
    } else {
      using Unit = typename UnitOf<T>::type;
      const auto value = Unit::load(src);
      const auto one = hn::Set(Floats(), 1.0F);
      const auto positive_zero = hn::RebindMask(Floats(), hn::Eq(bits_of(value), hn::Zero(Words())));
      const auto not_above = hn::IfThenZeroElse(positive_zero, hn::Neg(one));
      Unit::store(hn::IfThenElse(hn::Gt(value, hn::Zero(Floats())), one, not_above), dst);
    }
  }
};

template <Rounding kMode, Specials kSpecials>
struct Round {
  template <class T>
  static constexpr int kStep = kLanes;
  template <class T>
  static HWY_INLINE void apply(T* dst, const T* src) {
    using Unit = typename UnitOf<T>::type;
    const auto loaded = Unit::load(src);
    const auto value = kSpecials == Specials::kExact ? exact_integral_operand(loaded) : Unit::pass(loaded);
    const auto rounded = hn::CopySign(integral<kMode>(value), value);
    if constexpr (std::is_same_v<T, float>) {
      hn::StoreU(hn::IfThenElse(is_nan(value), value, rounded), Floats(), dst);
    } else {
      // A NaN keeps its bits.
      T out[kLanes];
      Unit::store(rounded, out);
      const auto kept = hn::RebindMask(Words(), is_nan(value));
      store_halves(hn::IfThenElse(kept, load_halves(src), load_halves(out)), dst);
    }
  }
};

template <class T, class Lane>
struct Step {
  static HWY_INLINE void apply(T* dst, const T* src) { Lane::apply(dst, src); }
};
template <class T, class Lane>
void unary(void* dst, const void* src, int count) {
  for_each_vector<Step<T, Lane>, Lane::template kStep<T> >(count, static_cast<T*>(dst), static_cast<const T*>(src));
}

}  // namespace

UnaryRow unary_row(UnaryMode mode, Rounding rounding, Dtype type, Specials specials, bool sign_of_bits) {
  UnaryRow row = nullptr;
  const auto take = [&]<class Lane>(Lane) { return [&]<class T>(T) { row = unary<T, Lane>; }; };
  switch (mode) {
    case UnaryMode::kAbs: for_any_type(type, take(Abs{})); return row;
    case UnaryMode::kNeg: for_any_type(type, take(Neg{})); return row;
    case UnaryMode::kNot: for_int_type(type, take(Not{})); return row;
    case UnaryMode::kSign:
      if (sign_of_bits) {
        for_any_type(type, take(SignOfBits{}));
      } else {
        for_any_type(type, take(Sign{}));
      }
      return row;
    case UnaryMode::kRound:
      for_integral_rounding(rounding, [&]<Rounding kMode>() {
        if (specials == Specials::kExact) {
          for_float_type(type, take(Round<kMode, Specials::kExact>{}));
        } else {
          for_float_type(type, take(Round<kMode, Specials::kFlushed>{}));
        }
      });
      return row;
  }
  unreachable(mode);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(UnaryRow, fast_unary_row,
                 (UnaryMode mode, Rounding rounding, Dtype type, Specials specials, bool sign_of_bits), unary_row,
                 (mode, rounding, type, specials, sign_of_bits))

}  // namespace softtpu
#endif
