// Integer arithmetic of equal types without a shift with SIMD instructions, compiled for several instruction sets and
// chosen at run time.
#include "device/engines/bdc/integer/fast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/integer/integer_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

BinaryRow int_row(IntMode, Dtype, bool) { return nullptr; }
RepeatedRow repeated_int_row(IntMode, Dtype, bool) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums and differences of 32 bits that saturate, for which there is no instruction.
template <class V>
HWY_INLINE V saturated_sum(V a, V b) {
  const hn::DFromV<V> d;
  const V sum = hn::Add(a, b);
  constexpr auto kMost = std::numeric_limits<hn::TFromV<V> >::max();
  if constexpr (std::is_unsigned_v<hn::TFromV<V> >) {
    return hn::IfThenElse(hn::Lt(sum, a), hn::Set(d, kMost), sum);
  } else {
    // It overflows where its sign differs from that of both operands.
    const auto overflows = hn::Lt(hn::And(hn::Xor(a, sum), hn::Xor(b, sum)), hn::Zero(d));
    return hn::IfThenElse(overflows, hn::Xor(hn::BroadcastSignBit(a), hn::Set(d, kMost)), sum);
  }
}
template <class V>
HWY_INLINE V saturated_difference(V a, V b) {
  const hn::DFromV<V> d;
  if constexpr (std::is_unsigned_v<hn::TFromV<V> >) {
    return hn::Sub(hn::Max(a, b), b);
  } else {
    constexpr auto kMost = std::numeric_limits<hn::TFromV<V> >::max();
    const V difference = hn::Sub(a, b);
    const auto overflows = hn::Lt(hn::And(hn::Xor(a, b), hn::Xor(a, difference)), hn::Zero(d));
    return hn::IfThenElse(overflows, hn::Xor(hn::BroadcastSignBit(a), hn::Set(d, kMost)), difference);
  }
}

// Lanes on whole vectors of T: kSaturate clamps, else the low bits stay.
template <bool kSaturate>
struct Add {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    if constexpr (kSaturate && sizeof(hn::TFromV<V>) == 4) {
      return saturated_sum(a, b);
    } else if constexpr (kSaturate) {
      return hn::SaturatedAdd(a, b);
    } else {
      return hn::Add(a, b);
    }
  }
};
template <bool kSaturate>
struct Sub {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    if constexpr (kSaturate && sizeof(hn::TFromV<V>) == 4) {
      return saturated_difference(a, b);
    } else if constexpr (kSaturate) {
      return hn::SaturatedSub(a, b);
    } else {
      return hn::Sub(a, b);
    }
  }
};
template <bool>
struct Max {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Max(a, b);
  }
};
template <bool>
struct Min {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Min(a, b);
  }
};

template <class T, class Lane>
struct WholeStep {
  static constexpr int kStep = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  static HWY_INLINE void apply(T* dst, const T* a, const T* b) {
    const hn::ScalableTag<T> d;
    hn::StoreU(Lane::of(hn::LoadU(d, a), hn::LoadU(d, b)), d, dst);
  }
};

// Products of bytes in 16 bits, of 16-bit integers in 32.
template <class T, bool kSaturate>
struct ProductStep {
  static constexpr bool kBytes = sizeof(T) == 1;
  // An unsigned product of bytes is below 2^16: as unsigned lanes it is exact.
  using Byte2 = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  using Wide = std::conditional_t<kBytes, Byte2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t> >;
  using Tag = hn::ScalableTag<Wide>;
  static constexpr int kStep = static_cast<int>(hn::MaxLanes(Tag()));
  static HWY_INLINE void apply(T* dst, const T* a, const T* b) {
    const Tag d;
    const hn::Rebind<T, Tag> stored;
    const hn::RebindToSigned<Tag> as_signed;
    const auto product = hn::Mul(hn::PromoteTo(d, hn::LoadU(stored, a)), hn::PromoteTo(d, hn::LoadU(stored, b)));
    constexpr Wide kMask = std::numeric_limits<std::make_unsigned_t<T> >::max();
    if constexpr (!kSaturate) {
      // The low bits, put where the clamp of the store leaves them alone.
      const auto low = hn::And(product, hn::Set(d, kMask));
      const hn::Rebind<std::make_unsigned_t<T>, Tag> bits;
      hn::StoreU(hn::DemoteTo(bits, hn::BitCast(as_signed, low)), bits,
                 reinterpret_cast<std::make_unsigned_t<T>*>(dst));
    } else if constexpr (std::is_signed_v<T>) {
      hn::StoreU(hn::DemoteTo(stored, product), stored, dst);
    } else {
      hn::StoreU(hn::DemoteTo(stored, hn::BitCast(as_signed, hn::Min(product, hn::Set(d, kMask)))), stored, dst);
    }
  }
};

struct WordProduct {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class Step, class T>
void binary(void* dst, const void* a, const void* b, int count) {
  for_each_vector<Step, Step::kStep>(count, static_cast<T*>(dst), static_cast<const T*>(a), static_cast<const T*>(b));
}

template <class Step, class T>
void repeated(void* dst, RowOrOne a, RowOrOne b, int count) {
  for_each_vector<Step, Step::kStep>(count, static_cast<T*>(dst), VectorRow<T>(a), VectorRow<T>(b));
}

template <template <bool> class Lane, class T>
RepeatedRow repeated_whole(bool saturate) {
  return saturate ? repeated<WholeStep<T, Lane<true> >, T> : repeated<WholeStep<T, Lane<false> >, T>;
}
template <template <bool> class Lane, class T>
BinaryRow whole(bool saturate) {
  return saturate ? binary<WholeStep<T, Lane<true> >, T> : binary<WholeStep<T, Lane<false> >, T>;
}
template <class T>
BinaryRow product(bool saturate) {
  if constexpr (sizeof(T) == 4) {
    return saturate ? nullptr : binary<WholeStep<T, WordProduct>, T>;
  } else {
    return saturate ? binary<ProductStep<T, true>, T> : binary<ProductStep<T, false>, T>;
  }
}

}  // namespace

BinaryRow int_row(IntMode mode, Dtype type, bool saturate) {
  BinaryRow row = nullptr;
  for_int_type(type, [&]<class T>(T) {
    switch (mode) {
      case IntMode::kAdd: row = whole<Add, T>(saturate); return;
      case IntMode::kSub: row = whole<Sub, T>(saturate); return;
      case IntMode::kMul: row = product<T>(saturate); return;
      case IntMode::kMax: row = whole<Max, T>(false); return;
      case IntMode::kMin: row = whole<Min, T>(false); return;
    }
    unreachable(mode);
  });
  return row;
}

RepeatedRow repeated_int_row(IntMode mode, Dtype type, bool saturate) {
  RepeatedRow row = nullptr;
  for_int_type(type, [&]<class T>(T) {
    switch (mode) {
      case IntMode::kAdd: row = repeated_whole<Add, T>(saturate); return;
      case IntMode::kSub: row = repeated_whole<Sub, T>(saturate); return;
      case IntMode::kMul: return;
      case IntMode::kMax: row = repeated_whole<Max, T>(false); return;
      case IntMode::kMin: row = repeated_whole<Min, T>(false); return;
    }
    unreachable(mode);
  });
  return row;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(RepeatedRow, fast_repeated_int_row, (IntMode mode, Dtype type, bool saturate), repeated_int_row,
                 (mode, type, saturate))
SOFTTPU_DISPATCH(BinaryRow, fast_int_row, (IntMode mode, Dtype type, bool saturate), int_row, (mode, type, saturate))

}  // namespace softtpu
#endif
