// Integer arithmetic of equal types without a shift with SIMD instructions, compiled for several instruction sets and
// chosen at run time.
#include "device/engines/bdc/integer/fast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/integer/integer_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"
#include "device/engines/bdc/rows/simd_shift.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

BinaryRow int_row(IntMode, Dtype, bool) { return nullptr; }
RepeatedRow repeated_int_row(IntMode, Dtype, bool) { return nullptr; }
ShiftedInts shifted_ints(IntMode, Dtype, Dtype) { return {}; }

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

// Of bytes in 16 bits, of 16-bit integers and products of bytes in 32.
template <class W, template <bool> class Lane, class A, class B>
void shifted_row(const NarrowShift& end, void* dst, const void* a, const void* b, int count) {
  const hn::ScalableTag<W> d;
  using Stored = std::make_unsigned_t<A>;
  const hn::Rebind<A, decltype(d)> first;
  const hn::Rebind<B, decltype(d)> second;
  const hn::Rebind<Stored, decltype(d)> stored;
  // A local value: a compiler that has to expect it to change would read it for each vector.
  const RoundedShift steps = end.steps;
  const auto low = hn::Set(d, static_cast<W>(end.low)), high = hn::Set(d, static_cast<W>(end.high));
  const auto bits = hn::Set(d, static_cast<W>(std::numeric_limits<Stored>::max()));
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto take = [&](const A* left, const B* right, Stored* to) HWY_ATTR {
    const auto value =
        Lane<false>::of(hn::PromoteTo(d, hn::LoadU(first, left)), hn::PromoteTo(d, hn::LoadU(second, right)));
    const auto result = hn::Min(hn::Max(shifted<true>(d, value, steps), low), high);
    // The low bits, put where the narrowing leaves them alone.
    hn::StoreU(hn::DemoteTo(stored, hn::And(result, bits)), stored, to);
  };
  const auto* left = static_cast<const A*>(a);
  const auto* right = static_cast<const B*>(b);
  auto* to = static_cast<Stored*>(dst);
  int i = 0;
  for (; i + kStep <= count; i += kStep) take(left + i, right + i, to + i);
  if (i == count) return;
  A last_left[kStep] = {};
  B last_right[kStep] = {};
  Stored last[kStep];
  std::copy(left + i, left + count, last_left);
  std::copy(right + i, right + count, last_right);
  take(last_left, last_right, last);
  std::copy(last, last + (count - i), to + i);
}

template <bool>
struct WideMul {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class A, class B>
ShiftedInts shifted_ints_of(IntMode mode) {
  // Results have one bit more than the operands, products twice as many, and rounding adds less than one unit.
  using W = std::conditional_t<sizeof(A) == 1, std::int16_t, std::int32_t>;
  constexpr ShiftReach kReach = sizeof(A) == 1 ? ShiftReach{6, 14} : ShiftReach{13, 29};
  switch (mode) {
    case IntMode::kAdd: return {shifted_row<W, Add, A, B>, kReach};
    case IntMode::kSub: return {shifted_row<W, Sub, A, B>, kReach};
    case IntMode::kMax: return {shifted_row<W, Max, A, B>, kReach};
    case IntMode::kMin: return {shifted_row<W, Min, A, B>, kReach};
    case IntMode::kMul:
      if constexpr (sizeof(A) == 1) return {shifted_row<std::int32_t, WideMul, A, B>, {14, 29}};
      return {};
  }
  unreachable(mode);
}

}  // namespace

ShiftedInts shifted_ints(IntMode mode, Dtype a, Dtype b) {
  ShiftedInts made;
  for_int_type(a, [&]<class A>(A) {
    for_int_type(b, [&]<class B>(B) {
      if constexpr (sizeof(A) == sizeof(B) && sizeof(A) < 4) made = shifted_ints_of<A, B>(mode);
    });
  });
  return made;
}

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
SOFTTPU_DISPATCH(ShiftedInts, fast_shifted_ints, (IntMode mode, Dtype a, Dtype b), shifted_ints, (mode, a, b))
SOFTTPU_DISPATCH(BinaryRow, fast_int_row, (IntMode mode, Dtype type, bool saturate), int_row, (mode, type, saturate))

}  // namespace softtpu
#endif
