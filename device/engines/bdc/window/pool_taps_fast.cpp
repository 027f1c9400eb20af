// The loops over windows with SIMD instructions: neighbouring windows side by side, sums in registers.
#include "device/engines/bdc/window/pool_best.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/numeric/by_type.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/window/pool_taps_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

PoolTaps taps_of_target() { return plain_pool_taps(); }
BestRow best_of_target(Dtype type, bool largest, Equals equals) { return plain_best_row(type, largest, equals); }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Writes kStep results, or those that are left of a row.
template <int kStep, class T, class Store>
HWY_INLINE void store_part(T* out, int left, Store store) {
  if (left >= kStep) return store(out);
  T part[kStep];
  store(part);
  std::memcpy(out, part, sizeof(T) * static_cast<unsigned>(left));
}

// ---- Sums of floats ----

struct F32Products : F32Unit {
  static HWY_INLINE FloatVector product(FloatVector a, FloatVector b) { return HWY_NAMESPACE::product(a, b); }
  static HWY_INLINE void finish(FloatVector sum, float* out) {
    store(hn::IfThenElse(is_nan(sum), float_of(word(kNanInvalid)), sum), out);
  }
};
struct F16Products : F16Unit {
  static HWY_INLINE FloatVector product(FloatVector a, FloatVector b) { return round(hn::Mul(a, b)); }
  static HWY_INLINE void finish(FloatVector sum, F16* out) { store(sum, out); }
};
struct Bf16Products : Bf16Unit {
  // The lower half of a NaN that bf16 operands give is zero, so it stays a NaN without being looked at.
  static HWY_INLINE FloatVector round(FloatVector value) {
    return float_of(hn::And(nearest(bits_of(value)), word(0xFFFF0000U)));
  }
  // A product just below the least normal number rounds up to it before small results become zero.
  static HWY_INLINE FloatVector product(FloatVector a, FloatVector b) {
    const Floats d;
    const auto value = hn::Mul(a, b);
    const auto vanished = hn::Eq(value, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, vanished))) return round(value);
    const auto scaled = hn::Mul(hn::Mul(a, hn::Set(d, 0x1p64F)), b);
    const auto magnitude = hn::Abs(scaled);
    const auto rounds_up = hn::And(vanished, hn::And(hn::Ge(magnitude, hn::Set(d, 0x1p-62F * (1 - 0x1p-9F))),
                                                     hn::Lt(magnitude, hn::Set(d, 0x1p-62F))));
    return hn::IfThenElse(rounds_up, hn::CopySign(hn::Set(d, 0x1p-126F), scaled), round(value));
  }
  static HWY_INLINE void finish(FloatVector sum, Bf16* out) { store(sum, out); }
};

template <class Unit>
void sum_floats(const TapRows<float>& taps, const float* weights, float even, float odd, void* out) {
  using T = typename Unit::Stored;
  const Floats d;
  const auto add = [&](FloatVector& sum, int k, int i) HWY_ATTR {
    const auto product = Unit::product(hn::LoadU(d, taps.rows[k] + i), hn::Set(d, weights[k]));
    sum = Unit::round(hn::Add(sum, product));
  };
  for (int i = 0; i < taps.count; i += kLanes) {
    auto even_sum = hn::Set(d, even);
    auto odd_sum = hn::Set(d, odd);
    int k = 0;
    for (; k + 2 <= taps.taps; k += 2) {
      add(even_sum, k, i);
      add(odd_sum, k + 1, i);
    }
    if (k < taps.taps) add(even_sum, k, i);
    const auto sum = hn::Add(even_sum, odd_sum);
    store_part<kLanes>(static_cast<T*>(out) + i, taps.count - i, [&](T* to) HWY_ATTR { Unit::finish(sum, to); });
  }
}

void sum_ints(const TapRows<std::uint32_t>& taps, const std::uint32_t* weights, std::uint32_t start,
              std::uint32_t* out) {
  const Words d;
  for (int i = 0; i < taps.count; i += kLanes) {
    auto sum = hn::Set(d, start);
    for (int k = 0; k < taps.taps; ++k) {
      sum = hn::Add(sum, hn::Mul(hn::LoadU(d, taps.rows[k] + i), hn::Set(d, weights[k])));
    }
    hn::StoreU(sum, d, out + i);
  }
}

#if HWY_TARGET == HWY_AVX3_DL

// Four taps of 64 windows at a time: their bytes are brought together in words, which a dot product takes.
constexpr int kDotWindows = 64, kMostDots = 64;

// Weights as words of four taps each, with what they add to every sum: one of the two factors of a dot product is
// unsigned and the other signed, and a tap that is neither as it is stored differs by 128 from one that is.
template <class T>
struct DotWeights {
  std::uint32_t words[kMostDots] = {};
  std::uint32_t more = 0;
  bool signed_weights = false, turns = false;
  int dots = 0;

  // Whether all weights are bytes of one kind.
  bool take(const std::uint32_t* weights, int taps) {
    bool all_signed = true, all_unsigned = true;
    std::uint32_t total = 0;
    for (int k = 0; k < taps; ++k) {
      all_signed = all_signed && weights[k] + 128U < 256U;
      all_unsigned = all_unsigned && weights[k] < 256U;
      total += weights[k];
    }
    if (taps > 4 * kMostDots || !(all_signed || all_unsigned)) return false;
    signed_weights = std::is_signed_v<T> ? !all_unsigned : all_signed;
    turns = signed_weights == std::is_signed_v<T>;
    if (turns) more = signed_weights ? 0U - 128U * total : 128U * total;
    dots = (taps + 3) / 4;
    for (int k = 0; k < taps; ++k) words[k / 4] |= (weights[k] & 0xFFU) << (8 * (k % 4));
    return true;
  }
};

// A dot product of bytes for each word; the assembler's name for it, as byte_kernels_fast.cpp has it.
template <bool kSignedWeights>
HWY_INLINE void add_dot(WordVector& sum, WordVector taps, WordVector weights) {
  if constexpr (kSignedWeights) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(taps.raw), "v"(weights.raw));
  } else {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(weights.raw), "v"(taps.raw));
  }
}

// The windows [0, whole multiple of kDotWindows).
template <bool kSignedWeights, class T>
void sum_dots(const TapRows<T>& taps, const DotWeights<T>& weights, std::uint32_t start, int windows,
              std::uint32_t* out) {
  const hn::ScalableTag<std::uint8_t> bytes;
  const hn::Repartition<std::uint16_t, decltype(bytes)> pairs;
  const Words d;
  const auto turn = hn::Set(bytes, weights.turns ? std::uint8_t{0x80} : std::uint8_t{0});
  // The last word may have fewer taps: its weights are 0 there.
  const auto row = [&](int k) { return reinterpret_cast<const std::uint8_t*>(taps.rows[k < taps.taps ? k : 0]); };
  for (int i = 0; i < windows; i += kDotWindows) {
    WordVector sums[4] = {hn::Set(d, start + weights.more), hn::Set(d, start + weights.more),
                          hn::Set(d, start + weights.more), hn::Set(d, start + weights.more)};
    for (int dot = 0; dot < weights.dots; ++dot) {
      const auto load = [&](int k) HWY_ATTR { return hn::Xor(hn::LoadU(bytes, row(4 * dot + k) + i), turn); };
      const auto first = load(0), second = load(1), third = load(2), fourth = load(3);
      const auto low = hn::BitCast(pairs, hn::InterleaveLower(bytes, first, second));
      const auto high = hn::BitCast(pairs, hn::InterleaveUpper(bytes, first, second));
      const auto next_low = hn::BitCast(pairs, hn::InterleaveLower(bytes, third, fourth));
      const auto next_high = hn::BitCast(pairs, hn::InterleaveUpper(bytes, third, fourth));
      const auto factors = hn::Set(d, weights.words[dot]);
      add_dot<kSignedWeights>(sums[0], hn::BitCast(d, hn::InterleaveLower(pairs, low, next_low)), factors);
      add_dot<kSignedWeights>(sums[1], hn::BitCast(d, hn::InterleaveUpper(pairs, low, next_low)), factors);
      add_dot<kSignedWeights>(sums[2], hn::BitCast(d, hn::InterleaveLower(pairs, high, next_high)), factors);
      add_dot<kSignedWeights>(sums[3], hn::BitCast(d, hn::InterleaveUpper(pairs, high, next_high)), factors);
    }
    // Interleaving left four neighbours in each quarter of a vector, sixteen apart from those in the next quarter.
    const auto a = _mm512_shuffle_i32x4(sums[0].raw, sums[1].raw, 0x44);
    const auto b = _mm512_shuffle_i32x4(sums[2].raw, sums[3].raw, 0x44);
    const auto c = _mm512_shuffle_i32x4(sums[0].raw, sums[1].raw, 0xEE);
    const auto e = _mm512_shuffle_i32x4(sums[2].raw, sums[3].raw, 0xEE);
    _mm512_storeu_si512(out + i, _mm512_shuffle_i32x4(a, b, 0x88));
    _mm512_storeu_si512(out + i + 16, _mm512_shuffle_i32x4(a, b, 0xDD));
    _mm512_storeu_si512(out + i + 32, _mm512_shuffle_i32x4(c, e, 0x88));
    _mm512_storeu_si512(out + i + 48, _mm512_shuffle_i32x4(c, e, 0xDD));
  }
}

// How many of the first windows have their sums.
template <class T>
int sum_first_windows(const TapRows<T>& taps, const std::uint32_t* weights, std::uint32_t start, std::uint32_t* out) {
  // The rest of up to half as many takes less time one vector at a time.
  const int windows = (taps.count + kDotWindows / 2 - 1) / kDotWindows * kDotWindows;
  DotWeights<T> dots;
  if (windows == 0 || !dots.take(weights, taps.taps)) return 0;
  if (dots.signed_weights) {
    sum_dots<true>(taps, dots, start, windows, out);
  } else {
    sum_dots<false>(taps, dots, start, windows, out);
  }
  return windows;
}

#else

template <class T>
int sum_first_windows(const TapRows<T>&, const std::uint32_t*, std::uint32_t, std::uint32_t*) {
  return 0;
}

#endif

// Bytes are widened as they are read: in a plane of bytes four times as much stays near.
template <class T>
void sum_bytes(const TapRows<T>& taps, const std::uint32_t* weights, std::uint32_t start, std::uint32_t* out) {
  const Words d;
  const auto product = [&](int k, int i) HWY_ATTR {
    return hn::Mul(hn::BitCast(d, load_ints(taps.rows[k] + i)), hn::Set(d, weights[k]));
  };
  int i = sum_first_windows(taps, weights, start, out);
  for (; i + 2 * kLanes <= taps.count; i += 2 * kLanes) {
    auto first = hn::Set(d, start), second = first;
    for (int k = 0; k < taps.taps; ++k) {
      first = hn::Add(first, product(k, i));
      second = hn::Add(second, product(k, i + kLanes));
    }
    hn::StoreU(first, d, out + i);
    hn::StoreU(second, d, out + i + kLanes);
  }
  for (; i < taps.count; i += kLanes) {
    auto sum = hn::Set(d, start);
    for (int k = 0; k < taps.taps; ++k) sum = hn::Add(sum, product(k, i));
    hn::StoreU(sum, d, out + i);
  }
}

// ---- Maximum and minimum ----

// For comparing only: subnormals of bf16 become zero here, so that no compiler turns the choice of the untouched values
// into the CPU's max, which would flush what it hands on. A widened f16 is never subnormal; an f32 is flushed anyway.
template <class T>
HWY_INLINE FloatVector compared(FloatVector value) {
  return std::is_same_v<T, Bf16> ? flushed(value) : value;
}

// An f32 that is an f16 exactly -> its bits, with every bit of a NaN.
HWY_INLINE WordVector restored_f16(WordVector bits) {
  const auto sign = hn::And(bits, word(0x80000000U));
  const auto magnitude = hn::Xor(bits, sign);
  const auto as_int = hn::BitCast(Ints(), magnitude);
  const auto normal = hn::ShiftRight<13>(hn::Sub(magnitude, word(112U << 23)));
  const auto steps =
      hn::BitCast(Words(), hn::ConvertTo(Ints(), hn::Mul(float_of(magnitude), hn::Set(Floats(), 0x1p24F))));
  const auto special = hn::Or(word(0x7C00), hn::And(hn::ShiftRight<13>(magnitude), word(0x3FF)));
  const auto is_small = hn::RebindMask(Words(), hn::Lt(as_int, hn::Set(Ints(), 113 << 23)));
  const auto is_special = hn::RebindMask(Words(), hn::Gt(as_int, hn::Set(Ints(), 0x7F7FFFFF)));
  const auto half = hn::IfThenElse(is_special, special, hn::IfThenElse(is_small, steps, normal));
  return hn::Or(half, hn::ShiftRight<16>(sign));
}

template <class T>
HWY_INLINE void store_restored(FloatVector value, T* out) {
  const auto bits = bits_of(value);
  if constexpr (std::is_same_v<T, float>) {
    F32Unit::store(flushed(value), out);
  } else if constexpr (std::is_same_v<T, Bf16>) {
    store_halves(hn::ShiftRight<16>(bits), out);
  } else {
    store_halves(restored_f16(bits), out);
  }
}

// The mask of those that stay, as stays() of the plain loops says it.
template <class T, bool kLargest, Equals kEquals>
HWY_INLINE auto stays(FloatVector kept, FloatVector value) {
  const auto first = compared<T>(kept), other = compared<T>(value);
  if constexpr (kEquals == Equals::kLast) {
    return kLargest ? hn::Gt(first, other) : hn::Lt(first, other);
  } else if constexpr (!kLargest && (sizeof(T) == 2 || kEquals == Equals::kFirstTap)) {
    return hn::Le(first, other);
  } else {
    return hn::Not(kLargest ? hn::Gt(other, first) : hn::Lt(other, first));
  }
}

template <class T, bool kLargest, Equals kEquals>
void best_floats(const void* const* rows, int taps, int count, void* out) {
  const Floats d;
  for (int i = 0; i < count; i += kLanes) {
    auto kept = hn::Set(d, first_best<T>(kLargest));
    if constexpr (kLargest && kEquals == Equals::kFirstTap) kept = hn::LoadU(d, static_cast<const float*>(rows[0]) + i);
    for (int k = 0; k < taps; ++k) {
      const auto value = hn::LoadU(d, static_cast<const float*>(rows[k]) + i);
      kept = hn::IfThenElse(stays<T, kLargest, kEquals>(kept, value), kept, value);
    }
    store_part<kLanes>(static_cast<T*>(out) + i, count - i, [&](T* to) HWY_ATTR { store_restored(kept, to); });
  }
}

template <class T, bool kLargest>
void best_ints(const void* const* rows, int taps, int count, void* out) {
  const hn::ScalableTag<T> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  static_assert(kStep <= kTapSlack);
  for (int i = 0; i < count; i += kStep) {
    auto kept = hn::Set(d, first_best<T>(kLargest));
    for (int k = 0; k < taps; ++k) {
      const auto value = hn::LoadU(d, static_cast<const T*>(rows[k]) + i);
      kept = kLargest ? hn::Max(kept, value) : hn::Min(kept, value);
    }
    store_part<kStep>(static_cast<T*>(out) + i, count - i, [&](T* to) HWY_ATTR { hn::StoreU(kept, d, to); });
  }
}

}  // namespace

PoolTaps taps_of_target() {
  return {sum_floats<F32Products>, sum_floats<F16Products>, sum_floats<Bf16Products>, sum_ints,
          sum_bytes<std::int8_t>,  sum_bytes<std::uint8_t>};
}

BestRow best_of_target(Dtype type, bool largest, Equals equals) {
  if (is_fp8(type)) return plain_best_row(type, largest, equals);
  BestRow row = nullptr;
  for_any_type(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      row = largest ? best_ints<T, true> : best_ints<T, false>;
    } else {
      row = for_equals(equals, [&]<Equals kEquals>() -> BestRow {
        return largest ? best_floats<T, true, kEquals> : best_floats<T, false, kEquals>;
      });
    }
  });
  return row;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(PoolTaps, fast_pool_taps, (), taps_of_target, ())
SOFTTPU_DISPATCH(BestRow, fast_best_row, (Dtype type, bool largest, Equals equals), best_of_target,
                 (type, largest, equals))

}  // namespace softtpu
#endif
