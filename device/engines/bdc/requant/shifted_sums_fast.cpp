// Shifted sums with SIMD instructions.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "device/engines/bdc/requant/shifted_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/requant/shifted_sums_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_shift.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

ShiftSums shift_of_target(int result_bytes) { return plain_shift_sums(result_bytes); }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The low bits of 32-bit results that fit T.
template <class V, class T>
HWY_INLINE void store_low(V value, T* to) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if constexpr (sizeof(T) == 1) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(value.raw));
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(value.raw));
  }
#else
  // Not TruncateTo, which Highway 1.0.3 has wrong from 32 to 8 bits for the newest instructions.
  const hn::DFromV<V> d;
  const hn::Rebind<T, decltype(d)> stored;
  hn::StoreU(hn::DemoteTo(stored, hn::And(value, hn::Set(d, std::numeric_limits<T>::max()))), stored, to);
#endif
}

template <class V>
HWY_INLINE V cut(V value, V low, V high) {
  return hn::Min(hn::Max(value, low), high);
}

// Calls take(sums, addends, results) for vectors of kStep. The last one ends where the row does, and is taken first:
// results may lie where sums do. Of a row of less it is a copy.
template <int kStep, class T, class Take>
HWY_INLINE void for_vectors(const std::uint32_t* sums, const std::int64_t* addends, int count, T* results, Take take) {
  const auto whole = [&] {
    int done = 0;
    for (; done + kStep <= count; done += kStep)
      take(sums + done, addends == nullptr ? nullptr : addends + done, results + done);
    return done;
  };
  if (count > kStep && count % kStep != 0) {
    const int at = count - kStep;
    T end[kStep];
    take(sums + at, addends == nullptr ? nullptr : addends + at, end);
    whole();
    std::memcpy(results + at, end, sizeof end);
    return;
  }
  const int i = whole();
  if (i == count) return;
  std::uint32_t last_sums[kStep] = {};
  std::int64_t last_addends[kStep] = {};
  T last[kStep];
  std::copy(sums + i, sums + count, last_sums);
  if (addends != nullptr) std::copy(addends + i, addends + count, last_addends);
  take(last_sums, addends == nullptr ? nullptr : last_addends, last);
  std::copy(last, last + (count - i), results + i);
}

// In 64 bits, where no value overflows.
template <bool kLeft, class T>
void shift_wide(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start, const std::int64_t* addends,
                int count, T* results) {
  const hn::ScalableTag<std::int64_t> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<std::uint32_t, decltype(d)> words;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const hn::Rebind<T, decltype(d)> stored;
  const RoundedShift steps = rule.shift.steps();
  // Local values: a compiler that has to expect the rule to change would read it for each vector.
  const bool is_signed = rule.is_signed, raises = rule.floor != SumShift::kNoFloor, multiplies = rule.multiplier != 1;
  const auto floor = hn::Set(d, rule.floor), offset = hn::Set(d, std::int64_t{rule.offset});
  const auto low = hn::Set(d, rule.low), high = hn::Set(d, rule.high);
  const hn::Repartition<std::int32_t, decltype(d)> halves;
  const auto multiplier = hn::Set(halves, rule.multiplier);
  for_vectors<static_cast<int>(hn::MaxLanes(d))>(
      sums, addends, count, results, [&](const std::uint32_t* from, const std::int64_t* added, T* to) {
        const auto sum = hn::Add(hn::LoadU(words, from), hn::Set(words, start));
        auto value =
            is_signed ? hn::PromoteTo(d, hn::BitCast(integers, sum)) : hn::BitCast(d, hn::PromoteTo(bits, sum));
        if (added != nullptr) value = hn::Add(value, hn::LoadU(d, added));
        if (raises) value = hn::Max(value, floor);
        // The lower halves of signed sums are all that there is to multiply.
        if (multiplies) value = hn::MulEven(hn::BitCast(halves, value), multiplier);
        value = cut(hn::Add(shifted<kLeft>(d, value, steps), offset), low, high);
        hn::StoreU(hn::TruncateTo(stored, hn::BitCast(bits, value)), stored, to);
      });
}

// Sums from which the results are the limits all the same: what lies beyond them may be cut off before it is shifted.
struct Within {
  std::int64_t least, most;
};
Within within(const SumShift& rule) {
  const std::int64_t unit = std::int64_t{1} << rule.shift.steps().right;
  return {std::max((rule.low - 1) * unit, rule.floor), (rule.high + 1) * unit};
}
bool fits_32_bits(const SumShift& rule) {
  const RoundedShift steps = rule.shift.steps();
  constexpr std::int64_t kRoom = std::int64_t{1} << 30;
  if (rule.multiplier != 1 || rule.offset != 0) return false;
  return steps.left == 0 && steps.right < 30 && within(rule).least > -kRoom && within(rule).most < kRoom;
}

// In 32 bits: sums are cut so far first that rounding does not overflow.
template <class T>
void shift_narrow(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start, int count, T* results) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const RoundedShift steps = rule.shift.steps();
  const auto low = hn::Set(d, static_cast<std::int32_t>(rule.low)),
             high = hn::Set(d, static_cast<std::int32_t>(rule.high));
  const auto least = hn::Set(d, static_cast<std::int32_t>(within(rule).least));
  const auto most = hn::Set(d, static_cast<std::int32_t>(within(rule).most));
  const bool is_signed = rule.is_signed;
  for_vectors<static_cast<int>(hn::MaxLanes(d))>(
      sums, nullptr, count, results, [&](const std::uint32_t* from, const std::int64_t*, T* to) {
        const auto sum = hn::Add(hn::LoadU(bits, from), hn::Set(bits, start));
        const auto value = is_signed ? hn::Min(hn::Max(hn::BitCast(d, sum), least), most)
                                     : hn::BitCast(d, hn::Min(sum, hn::BitCast(bits, most)));
        store_low(cut(shifted<false>(d, value, steps), low, high), to);
      });
}

// Sums that are only limited.
bool is_only_limited(const SumShift& rule) {
  const RoundedShift steps = rule.shift.steps();
  return rule.multiplier == 1 && rule.offset == 0 && steps.left == 0 && steps.right == 0 && steps.positive == 0 &&
         steps.negative == 0 && steps.even == 0;
}
// In 32 bits, which hold the limits or all that may lie within them. Returns false where no sum lies within.
template <class T>
bool limit_sums(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start, int count,
                std::uint32_t* results) {
  constexpr std::int64_t kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  const std::int64_t least = std::max({rule.low, rule.floor, kLeast}), most = std::min(rule.high, kMost);
  if (least > most) return false;
  const hn::ScalableTag<T> d;
  const auto low = hn::Set(d, static_cast<T>(least)), high = hn::Set(d, static_cast<T>(most));
  const hn::RebindToUnsigned<decltype(d)> words;
  const auto begin = hn::Set(words, start);
  for_vectors<static_cast<int>(hn::MaxLanes(d))>(
      sums, nullptr, count, results, [&](const std::uint32_t* from, const std::int64_t*, std::uint32_t* to) HWY_ATTR {
        const auto sum = hn::BitCast(d, hn::Add(hn::LoadU(words, from), begin));
        hn::StoreU(hn::BitCast(words, cut(sum, low, high)), words, to);
      });
  return true;
}

// Where signed sums may be cut off, in 32 bits, before they are multiplied: after their shift, and with their offset,
// the products of what is left fit into 32 bits, and those of the rest are beyond the limits of the results, as the cut
// ones are. Products that lose their lower half have room in any case.
std::optional<Within> reach(const SumShift& rule) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min(), kHigh = -(kLow + 1), kRoom = 1 << 29;
  const RoundedShift steps = rule.shift.steps();
  const std::int64_t floor = std::max(rule.floor, kLow), offset = std::abs(std::int64_t{rule.offset});
  if (!rule.is_signed || steps.left != 0 || offset >= kRoom || floor > kHigh || rule.low < kLow || rule.high > kHigh)
    return std::nullopt;
  if (steps.right >= 32) return Within{floor, kHigh};
  const std::int64_t factor = std::abs(std::int64_t{rule.multiplier});
  const std::int64_t limit = std::max(-rule.low, rule.high) + offset + 1;
  // A product is beyond what its limit needs by less than the factor.
  if (limit + (factor >> steps.right) + 2 + offset > kHigh) return std::nullopt;
  const std::int64_t most = factor == 0 ? kHigh : std::min(kHigh, ((limit << steps.right) + factor - 1) / factor);
  return Within{std::max(floor, most == kHigh ? kLow : -most), most};
}

// Products in 64 bits, two vectors of them for one of results: their upper halves are shifted on (kUpper), or what
// stands above a shift of less than 32 places fits into 32 bits. What a rounded product is at most, 2^62 + 2^61, leaves
// room.
template <bool kUpper, bool kBySign, bool kToEven, class T>
void shift_products(const SumShift& rule, const Within& within, const std::uint32_t* sums, std::uint32_t start,
                    int count, T* results) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToUnsigned<decltype(d)> words;
  const hn::Repartition<std::int64_t, decltype(d)> wide;
  const hn::RebindToUnsigned<decltype(wide)> wide_bits;
  const RoundedShift steps = rule.shift.steps();
  const int right = steps.right;
  const auto multiplier = hn::Set(d, rule.multiplier), offset = hn::Set(d, rule.offset);
  const auto low = hn::Set(d, static_cast<std::int32_t>(rule.low));
  const auto high = hn::Set(d, static_cast<std::int32_t>(rule.high));
  const auto least = hn::Set(d, static_cast<std::int32_t>(within.least));
  const auto most = hn::Set(d, static_cast<std::int32_t>(within.most));
  // Below a shift of 32 places the offset has room beside the product before it is shifted.
  const std::int64_t early = kUpper ? 0 : std::int64_t{rule.offset} * (std::int64_t{1} << right);
  const auto bias = hn::Set(wide, steps.positive + early), more = hn::Set(wide, steps.negative - steps.positive);
  const auto begin = hn::Set(words, start);
  const auto odd = hn::Set(wide_bits, 0xFFFFFFFF00000000U);
  const auto one = hn::Set(wide_bits, std::uint64_t{1});
  const auto rounded = [&](auto product) HWY_ATTR {
    auto sum = hn::Add(product, bias);
    if constexpr (kBySign) sum = hn::Add(sum, hn::And(hn::VecFromMask(wide, hn::Lt(product, hn::Zero(wide))), more));
    if constexpr (kToEven) {
      const auto kept = hn::And(hn::ShiftRightSame(hn::BitCast(wide_bits, product), right), one);
      sum = hn::Add(sum, hn::BitCast(wide, kept));
    }
    return hn::BitCast(wide_bits, sum);
  };
  for_vectors<static_cast<int>(hn::MaxLanes(d))>(
      sums, nullptr, count, results, [&](const std::uint32_t* from, const std::int64_t*, T* to) HWY_ATTR {
        auto value = hn::Max(hn::BitCast(d, hn::Add(hn::LoadU(words, from), begin)), least);
        if constexpr (!kUpper) value = hn::Min(value, most);
        const auto upper = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide_bits, value)));
        const auto evens = rounded(hn::MulEven(value, multiplier)), odds = rounded(hn::MulEven(upper, multiplier));
        auto shifted_down = value;
        if constexpr (kUpper) {
          shifted_down =
              hn::ShiftRightSame(hn::BitCast(d, hn::Or(hn::ShiftRight<32>(evens), hn::And(odds, odd))), right - 32);
        } else {
          shifted_down = hn::OddEven(hn::BitCast(d, hn::ShiftLeftSame(odds, 32 - right)),
                                     hn::BitCast(d, hn::ShiftRightSame(evens, right)));
        }
        if constexpr (kUpper) shifted_down = hn::Add(shifted_down, offset);
        const auto result = cut(shifted_down, low, high);
        if constexpr (sizeof(T) == 4) {
          hn::StoreU(hn::BitCast(words, result), words, to);
        } else {
          store_low(result, to);
        }
      });
}
template <bool kUpper, class T>
void shift_products_of(const SumShift& rule, const Within& within, const std::uint32_t* sums, std::uint32_t start,
                       int count, T* results) {
  const RoundedShift steps = rule.shift.steps();
  if (steps.even != 0) return shift_products<kUpper, false, true>(rule, within, sums, start, count, results);
  if (steps.negative != steps.positive)
    return shift_products<kUpper, true, false>(rule, within, sums, start, count, results);
  shift_products<kUpper, false, false>(rule, within, sums, start, count, results);
}

template <class T>
void shift_row(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start, const std::int64_t* addends,
               int count, void* out) {
  auto* results = static_cast<T*>(out);
  if constexpr (sizeof(T) < 4) {
    if (addends == nullptr && fits_32_bits(rule)) return shift_narrow(rule, sums, start, count, results);
  }
  if (const auto within = addends == nullptr ? reach(rule) : std::nullopt) {
    if (rule.shift.steps().right >= 32) return shift_products_of<true>(rule, *within, sums, start, count, results);
    if constexpr (sizeof(T) < 4) return shift_products_of<false>(rule, *within, sums, start, count, results);
  }
  if constexpr (sizeof(T) == 4) {
    if (addends == nullptr && is_only_limited(rule) &&
        (rule.is_signed ? limit_sums<std::int32_t>(rule, sums, start, count, results)
                        : limit_sums<std::uint32_t>(rule, sums, start, count, results)))
      return;
  }
  if (rule.shift.steps().left != 0) return shift_wide<true>(rule, sums, start, addends, count, results);
  shift_wide<false>(rule, sums, start, addends, count, results);
}

}  // namespace

ShiftSums shift_of_target(int result_bytes) {
  if (result_bytes == 1) return &shift_row<std::uint8_t>;
  if (result_bytes == 2) return &shift_row<std::uint16_t>;
  return &shift_row<std::uint32_t>;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {
SOFTTPU_DISPATCH(ShiftSums, fast_shift_sums, (int result_bytes), shift_of_target, (result_bytes))
}  // namespace softtpu
#endif
