// Conversions between data types with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include "device/engines/bdc/convert/fast.hpp"
#include "device/numeric/convert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/convert/convert_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_round.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

UnaryRow cast_row(Dtype, Dtype, Rounding, Specials) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class S, Rounding kMode, Specials kSpecials>
struct CastStep {
  static constexpr bool kExact = kSpecials == Specials::kExact;
  static constexpr bool kExactFloat = kExact && std::is_same_v<S, float>;
  static HWY_INLINE void apply(D* dst, const S* src) {
    if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
      store_ints(clamped(load_ints(src)), dst);
    } else if constexpr (std::is_integral_v<S>) {
      store_float(hn::ConvertTo(Floats(), load_ints(src)), dst);
    } else if constexpr (std::is_integral_v<D>) {
      const auto value = UnitOf<S>::type::load(src);
      if constexpr (kExact) {
        const auto operand = exact_integral_operand(value);
        store_ints(to_int(hn::IfThenZeroElse(is_nan(value), operand)), dst);
      } else {
        store_ints(to_int(UnitOf<S>::type::pass(value)), dst);
      }
    } else if constexpr (std::is_same_v<S, F16>) {
      const auto value = F16Unit::load(src);
      const auto nan =
          kExact ? hn::Or(word(0x7FFFFFFFU), hn::And(bits_of(value), word(0x80000000U))) : word(kNanInvalid);
      F32Unit::store(hn::IfThenElse(is_nan(value), float_of(nan), value), dst);
    } else if constexpr (std::is_same_v<S, Bf16>) {
      F32Unit::store(Bf16Unit::load(src), dst);
    } else if constexpr (kExact && std::is_same_v<D, F16> && kMode == Rounding::kHalfToEven) {
      // A subnormal becomes a zero by itself.
      const auto value = F32Unit::load(src);
      const auto nan = float_of(hn::Or(bits_of(value), word(0x7FFFFFFFU)));
      F16Unit::narrow(hn::IfThenElse(is_nan(value), nan, value), dst);
    } else if constexpr (kExact && std::is_same_v<D, F16>) {
      const auto value = flushed(F32Unit::load(src));
      const auto sign = hn::ShiftRight<16>(hn::And(bits_of(value), word(0x80000000U)));
      const auto nan_sign = hn::IfThenElseZero(hn::RebindMask(Words(), is_nan(value)), sign);
      store_halves(hn::Or(rounded_to_f16<kMode>(value), nan_sign), dst);
    } else {
      store_float(F32Unit::load(src), dst);
    }
  }

 private:
  // What a store to a narrower type does not clamp.
  static HWY_INLINE IntVector clamped(IntVector value) {
    if constexpr (std::is_same_v<S, std::uint32_t> && !std::is_same_v<D, std::uint32_t>) {
      return hn::BitCast(Ints(), hn::Min(hn::BitCast(Words(), value), word(0x7FFFFFFFU)));
    } else if constexpr (std::is_same_v<D, std::uint32_t> && std::is_signed_v<S>) {
      return hn::Max(value, hn::Zero(Ints()));
    } else {
      return value;
    }
  }
  static HWY_INLINE void store_float(FloatVector value, D* dst) {
    if constexpr (std::is_same_v<D, F16> && kMode == Rounding::kHalfToEven) {
      F16Unit::store(value, dst);
    } else if constexpr (std::is_same_v<D, F16>) {
      store_halves(rounded_to_f16<kMode>(flushed(value)), dst);
    } else if constexpr (std::is_same_v<D, Bf16>) {
      store_halves(rounded_to_bf16<kMode, kExactFloat>(value), dst);
    } else {
      F32Unit::store(value, dst);
    }
  }
  static HWY_INLINE IntVector to_int(FloatVector value) {
    if constexpr (sizeof(D) < 4) {
      const auto low = hn::Set(Floats(), static_cast<float>(std::numeric_limits<D>::lowest()));
      const auto high = hn::Set(Floats(), static_cast<float>(std::numeric_limits<D>::max()));
      // A NaN takes the lowest value.
      return truncated(integral<kMode>(hn::IfThenElse(hn::Ge(value, low), hn::Min(value, high), low)));
    } else if constexpr (std::is_signed_v<D>) {
      // What does not fit becomes the lowest value in the conversion.
      const auto rounded = integral<kMode>(value);
      const auto large = hn::RebindMask(Ints(), hn::Ge(rounded, hn::Set(Floats(), 0x1p31F)));
      return hn::IfThenElse(large, hn::Set(Ints(), 0x7FFFFFFF), truncated_or_lowest(rounded));
    } else {
      const auto zero = hn::Zero(Floats());
      const auto half_range = hn::Set(Floats(), 0x1p31F);
      const auto rounded = integral<kMode>(hn::IfThenElse(hn::Ge(value, zero), value, zero));
      const auto upper = hn::Ge(rounded, half_range);
      const auto low = truncated(hn::Sub(rounded, hn::IfThenElseZero(upper, half_range)));
      const auto top = hn::IfThenElseZero(hn::RebindMask(Ints(), upper), hn::BitCast(Ints(), word(0x80000000U)));
      const auto large = hn::RebindMask(Ints(), hn::Ge(rounded, hn::Set(Floats(), 0x1p32F)));
      return hn::IfThenElse(large, hn::Set(Ints(), -1), hn::Xor(low, top));
    }
  }
};

template <class D, class S, Rounding kMode, Specials kSpecials>
void cast(void* dst, const void* src, int count) {
  for_each_vector<CastStep<D, S, kMode, kSpecials>, kLanes>(count, static_cast<D*>(dst), static_cast<const S*>(src));
}

template <class D, class S, Specials kSpecials>
UnaryRow rounded(Rounding mode) {
  switch (mode) {
    case Rounding::kHalfToEven: return cast<D, S, Rounding::kHalfToEven, kSpecials>;
    case Rounding::kHalfAwayFromZero: return cast<D, S, Rounding::kHalfAwayFromZero, kSpecials>;
    case Rounding::kTowardsZero: return cast<D, S, Rounding::kTowardsZero, kSpecials>;
    case Rounding::kDown: return cast<D, S, Rounding::kDown, kSpecials>;
    case Rounding::kUp: return cast<D, S, Rounding::kUp, kSpecials>;
    case Rounding::kHalfUp: return cast<D, S, Rounding::kHalfUp, kSpecials>;
    case Rounding::kHalfDown: return cast<D, S, Rounding::kHalfDown, kSpecials>;
  }
  unreachable(mode);
}
template <class D, class S, Specials kSpecials>
UnaryRow integral_rounded(Rounding mode) {
  UnaryRow row = nullptr;
  for_integral_rounding(mode, [&]<Rounding kMode>() { row = cast<D, S, kMode, kSpecials>; });
  return row;
}
template <class D, class S, Specials kSpecials = Specials::kFlushed>
UnaryRow exact() {
  return cast<D, S, Rounding::kHalfToEven, kSpecials>;
}

template <class D, class S, Specials kSpecials>
UnaryRow row_of(Rounding mode) {
  constexpr bool kFromInt = std::is_integral_v<S>;
  if constexpr (kFromInt && std::is_integral_v<D>) {
    return exact<D, S>();
  } else if constexpr (std::is_integral_v<D>) {
    return integral_rounded<D, S, kSpecials>(mode);
  } else if constexpr (kFromInt && sizeof(S) == 4) {
    // Larger numbers lose bits twice on the way through f32, except where the second step only finds an infinity.
    constexpr bool kOneRounding = std::is_signed_v<S> && !std::is_same_v<D, Bf16>;
    if (!kOneRounding || mode != Rounding::kHalfToEven) return nullptr;
    return exact<D, S>();
  } else if constexpr (kFromInt && (sizeof(S) == 1 || std::is_same_v<D, float>)) {
    return exact<D, S>();
  } else if constexpr (kFromInt || std::is_same_v<S, float>) {
    // From integers there are no specials.
    return rounded < D, S, kFromInt ? Specials::kFlushed : kSpecials > (mode);
  } else if constexpr (std::is_same_v<D, float>) {
    return exact<D, S, kSpecials>();
  } else {
    return nullptr;
  }
}

}  // namespace

UnaryRow cast_row(Dtype to, Dtype from, Rounding rounding, Specials specials) {
  UnaryRow row = nullptr;
  for_any_type(to, [&]<class D>(D) {
    for_any_type(from, [&]<class S>(S) {
      if constexpr (!std::is_same_v<D, S>) {
        row = specials == Specials::kExact && !std::is_integral_v<S> ? row_of<D, S, Specials::kExact>(rounding)
                                                                     : row_of<D, S, Specials::kFlushed>(rounding);
      }
    });
  });
  return row;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(UnaryRow, fast_cast_row, (Dtype to, Dtype from, Rounding rounding, Specials specials), cast_row,
                 (to, from, rounding, specials))

}  // namespace softtpu
#endif
