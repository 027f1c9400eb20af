// Sums of aligned groups of products with SIMD instructions. Included once for each instruction set, after simd.hpp.
//
// A group's products are cut where its largest one ends, so two passes look at each product. The first finds the power
// of two of the largest, by a sum of 16-bit logarithms and a maximum. Only the integer part of a sum has to be right:
// the fraction of the right logarithm is ten bits of the operand, that of the left one is what its operand needs of
// them to reach the next power of two. Where operands reach too far apart for 16 bits, the products themselves are
// compared.
//
// The second pass is one fused multiply-add in double precision for each product, rounded down, into a sum so large
// that its last bit is where products are cut: the addition cuts. Cutting goes towards zero, though, and rounding down
// moves negative products away from it. Therefore one factor is larger by 2^-30 of itself, which is too little to carry
// a product over a place where it is cut, but leaves none exactly there: rounding down then makes every negative
// product one unit too small, cut or not, and their number is put right in one step for a group.
#if defined(SOFTTPU_BDC_GROUP_SUMS_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_GROUP_SUMS_HPP_
#undef SOFTTPU_BDC_GROUP_SUMS_HPP_
#else
#define SOFTTPU_BDC_GROUP_SUMS_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/product_kernels.hpp"
#include "device/engines/bdc/rows/simd.hpp"
#include "device/memory/scratch.hpp"
#include "device/numeric/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if !SOFTTPU_NO_VECTORS

// A group whose largest product is a NaN, an infinity, or so small that a unit of the cut leaves the range of f32.
using LargestProducts = hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>>;
HWY_INLINE auto is_special(LargestProducts largest) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::int32_t> d;
  return hwy::HWY_NAMESPACE::Gt(largest, hwy::HWY_NAMESPACE::Set(d, 0x7F7FFFFF));
}
HWY_INLINE auto is_tiny(LargestProducts largest) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::int32_t> d;
  return hn::And(hn::Lt(largest, hn::Set(d, 25 << 23)), hn::Gt(largest, hn::Zero(d)));
}
HWY_INLINE bool needs_plain_sum(LargestProducts largest) {
  const hwy::HWY_NAMESPACE::ScalableTag<std::int32_t> d;
  return !hwy::HWY_NAMESPACE::AllFalse(d, hwy::HWY_NAMESPACE::Or(is_tiny(largest), is_special(largest)));
}

// Narrower sets have more units for integers than for multiplications: for them the fused loops gain nothing.
#undef SOFTTPU_FUSED_GROUPS
#if !SOFTTPU_AVX512
#define SOFTTPU_FUSED_GROUPS 0
#else
#define SOFTTPU_FUSED_GROUPS 1

namespace groups_detail {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Ints = hn::ScalableTag<std::int32_t>;
using Words = hn::ScalableTag<std::uint32_t>;
using Logs = hn::ScalableTag<std::uint16_t>;
using Doubles = hn::ScalableTag<double>;
using HalfFloats = hn::Rebind<float, Doubles>;
inline constexpr int kHalf = kLanes / 2;

inline constexpr double kBitLarger = 1 + 0x1p-30;

// Exponents of f32 between which the largest operands of a group have to be for its sum by logarithms: from 2^-36 to
// below 2^60 no largest product that they find is tiny, and no sum is infinite.
inline constexpr std::int32_t kLeastExponent = 127 - 36, kMostExponent = 127 + 59;
// A logarithm has an exponent above ten bits of fraction. The largest operand of a row or column has this exponent;
// what is below 0 becomes 0.
inline constexpr std::int32_t kTopExponent = 31;

// A group of a block of rows and of two vectors of columns, as its passes read it. What the exponent of a largest
// logarithm lacks to be the unit of a cut, as bits of f32, is the sum of the units of row and column. Bit k of a mask:
// the factor of product k is below zero, is not zero.
struct LeftRows {
  alignas(64) double values[kBlockRows * kGroupTerms];
  alignas(64) std::uint32_t logs[kBlockRows * kGroupTerms];  // in both halves
  std::int32_t units[kBlockRows];
  std::uint32_t minus[kBlockRows], some[kBlockRows];
  bool usual;
};
struct RightCols {
  // Of each vector, in the order of InterleaveLower and -Upper.
  alignas(64) double values[2][kGroupTerms * kLanes];
  alignas(64) std::uint32_t logs[kGroupTerms * kLanes];  // of the second vector: in the upper halves
  alignas(64) std::int32_t units[2][kLanes];
  alignas(64) std::uint32_t minus[2][kLanes], some[2][kLanes];
  bool usual;
};

HWY_INLINE void store_doubles(hn::Vec<Floats> values, double factor, double* out) {
  const Doubles d;
  const HalfFloats half;
  const auto by = hn::Set(d, factor);
  hn::Store(hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, values)), by), d, out);
  hn::Store(hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, values)), by), d, out + kHalf);
}

HWY_INLINE hn::Vec<Ints> bits_of_size(hn::Vec<Floats> values) { return hn::BitCast(Ints(), hn::Abs(values)); }

HWY_INLINE hn::Vec<Words> with_bits(hn::Vec<Words> words, hn::Mask<Floats> where, hn::Vec<Words> bits) {
  return hn::Vec<Words>{_mm512_mask_or_epi32(words.raw, where.raw, words.raw, bits.raw)};
}

inline void load_right(int count, const float* HWY_RESTRICT right, const std::int64_t* HWY_RESTRICT offsets,
                       RightCols& group) {
  const Floats d;
  const Ints di;
  const Words dw;
  const Doubles pairs;
  alignas(64) static constexpr std::int64_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
  const auto order = hn::SetTableIndices(pairs, kOrder);
  hn::Vec<Ints> lowest[2];
  group.usual = true;
  for (int v = 0; v < 2; ++v) {
    auto minus = hn::Zero(dw), some = hn::Zero(dw), bit = hn::Set(dw, 1);
    auto high = hn::Zero(di);
    for (int k = 0; k < count; ++k) {
      const auto values = hn::LoadU(d, right + offsets[k] + v * kLanes);
      const auto paired = hn::TableLookupLanes(hn::BitCast(pairs, values), order);
      store_doubles(hn::BitCast(d, paired), 1, group.values[v] + k * kLanes);
      minus = with_bits(minus, hn::Lt(values, hn::Zero(d)), bit);
      some = with_bits(some, hn::Ne(values, hn::Zero(d)), bit);
      bit = hn::Add(bit, bit);
      high = hn::Max(high, bits_of_size(values));
    }
    hn::Store(minus, dw, group.minus[v]);
    hn::Store(some, dw, group.some[v]);
    // A column of zeros gives no sum with any unit: its logarithms are like those of a largest operand.
    const auto zeros = hn::Eq(high, hn::Zero(di));
    const auto exponent = hn::IfThenElse(zeros, hn::Set(di, 127), hn::ShiftRight<23>(high));
    group.usual = group.usual && hn::AllFalse(di, hn::Or(hn::Lt(exponent, hn::Set(di, kLeastExponent)),
                                                         hn::Gt(exponent, hn::Set(di, kMostExponent))));
    hn::Store(hn::ShiftLeft<23>(hn::Sub(exponent, hn::Set(di, 2 * kTopExponent + 127 + 24))), di, group.units[v]);
    lowest[v] = hn::IfThenElse(zeros, hn::Set(di, -(kTopExponent << 10)),
                               hn::ShiftLeft<10>(hn::Sub(exponent, hn::Set(di, kTopExponent))));
  }
  for (int k = 0; k < count; ++k) {
    const auto log = [=](int v) HWY_ATTR {
      const auto bits = bits_of_size(hn::LoadU(Floats(), right + offsets[k] + v * kLanes));
      return hn::Max(hn::Sub(hn::ShiftRight<13>(bits), lowest[v]), hn::Zero(di));
    };
    hn::Store(hn::BitCast(dw, hn::Or(log(0), hn::ShiftLeft<16>(log(1)))), dw, group.logs + k * kLanes);
  }
}

// What a left factor of mantissa m needs of the 1024 steps of the right one's mantissa to reach the next power of two:
// 2048 less the least mantissa whose product with m is at least 2^21, which is 2^21 / m rounded up. No quotient lies
// within 2^-11 below or above an integer without being one, so a near one less 2^-12 is rounded up as well.
HWY_INLINE hn::Vec<Ints> complements(hn::Vec<Ints> bits) {
  const Floats d;
  const Ints di;
  const auto mantissa = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x007FFFFF)), hn::Set(di, 0x3F800000)));
  const auto near = hn::ApproximateReciprocal(mantissa);
  const auto twice = hn::Mul(near, hn::Set(d, 2048));
  const auto quotient = hn::MulAdd(hn::NegMulAdd(mantissa, near, hn::Set(d, 1)), twice, twice);
  return truncated(hn::Sub(hn::Set(d, 2048 + 0x1p-12F), quotient));
}

HWY_INLINE std::uint32_t bits_of(hn::Mask<Floats> mask) { return static_cast<std::uint32_t>(mask.raw); }

inline void load_left(int rows, int count, const float* HWY_RESTRICT left, std::int64_t step, LeftRows& group) {
  const Floats d;
  const Ints di;
  static_assert(kGroupTerms == 2 * kLanes);
  alignas(64) float whole[kBlockRows * kGroupTerms];
  if (count < kGroupTerms) {
    std::memset(whole, 0, sizeof whole);
    for (int r = 0; r < rows; ++r)
      std::memcpy(whole + r * kGroupTerms, left + r * step, static_cast<unsigned>(count) * sizeof(float));
    left = whole;
    step = kGroupTerms;
  }
  auto highest = hn::Zero(di);
  for (int r = 0; r < rows; ++r) {
    const float* row = left + r * step;
    highest = hn::Max(highest, bits_of_size(hn::LoadU(d, row)));
    highest = hn::Max(highest, bits_of_size(hn::LoadU(d, row + kLanes)));
  }
  const std::int32_t high = hn::GetLane(hn::MaxOfLanes(di, highest));
  const std::int32_t exponent = high == 0 ? 127 : high >> 23;
  group.usual = exponent >= kLeastExponent && exponent <= kMostExponent;
  const auto lowest = hn::Set(di, (exponent - kTopExponent) * 1024);
  for (int r = 0; r < rows; ++r) {
    std::uint32_t minus = 0, some = 0;
    for (int k = 0; k < kGroupTerms; k += kLanes) {
      const auto values = hn::LoadU(d, left + r * step + k);
      const int to = r * kGroupTerms + k;
      store_doubles(values, kBitLarger, group.values + to);
      const auto bits = bits_of_size(values);
      const auto log = hn::Add(hn::And(hn::ShiftRight<13>(bits), hn::Set(di, ~1023)), complements(bits));
      const auto clipped = hn::Max(hn::Sub(log, lowest), hn::Zero(di));
      hn::Store(hn::BitCast(Words(), hn::Or(clipped, hn::ShiftLeft<16>(clipped))), Words(), group.logs + to);
      minus |= bits_of(hn::Lt(values, hn::Zero(d))) << k;
      some |= bits_of(hn::Ne(values, hn::Zero(d))) << k;
    }
    group.minus[r] = minus;
    group.some[r] = some;
    group.units[r] = exponent * (1 << 23);
    // As for columns.
    if (some == 0) std::fill_n(group.logs + r * kGroupTerms, kGroupTerms, std::uint32_t{kTopExponent} * 0x04000400U);
  }
}

// a * b + sum, rounded down.
HWY_INLINE hn::Vec<Doubles> add_down(hn::Vec<Doubles> a, hn::Vec<Doubles> b, hn::Vec<Doubles> sum) {
  return hn::Vec<Doubles>{_mm512_fmadd_round_pd(a.raw, b.raw, sum.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}

// The low words of sums that InterleaveLower and -Upper began.
HWY_INLINE hn::Vec<Floats> low_words(hn::Vec<Doubles> low, hn::Vec<Doubles> high) {
  const Floats d;
  return hn::Vec<Floats>{_mm512_shuffle_ps(hn::BitCast(d, low).raw, hn::BitCast(d, high).raw, 0x88)};
}

// The largest logarithms among a group's products, of both vectors as RightCols has them. Those with the
// highest bit are no sums of logarithms that were below 0.
template <int kRows>
HWY_INLINE void largest_logs(int count, const LeftRows& left, const RightCols& right, hn::Vec<Logs>* largest) {
  const Logs d;
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) largest[r] = hn::Zero(d);
  for (int k = 0; k < count; ++k) {
    const auto logs = hn::BitCast(d, hn::Load(Words(), right.logs + k * kLanes));
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto log = hn::BitCast(d, hn::Set(Words(), left.logs[r * kGroupTerms + k]));
      largest[r] = hn::Max(largest[r], hn::Add(log, logs));
    }
  }
}

// The largest magnitude among a group's products, as bits. A NaN is larger than all.
template <int kRows>
HWY_INLINE void largest_products(int count, const float* HWY_RESTRICT left, std::int64_t step,
                                 const float* HWY_RESTRICT right, const std::int64_t* HWY_RESTRICT offsets,
                                 hn::Vec<Ints>* largest) {
  const Floats d;
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) largest[r] = hn::Zero(Ints());
  for (int k = 0; k < count; ++k) {
    const auto values = hn::LoadU(d, right + offsets[k]);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r)
      largest[r] = hn::Max(largest[r], bits_of_size(hn::Mul(hn::Set(d, left[r * step + k]), values)));
  }
}

// How many of the products are below zero.
HWY_INLINE hn::Vec<Ints> negatives(const LeftRows& left, int row, const RightCols& right, int v) {
  const Words d;
  const auto minus = hn::Xor(hn::Set(d, left.minus[row]), hn::Load(d, right.minus[v]));
  const auto some = hn::And(hn::Set(d, left.some[row]), hn::Load(d, right.some[v]));
  return hn::BitCast(Ints(), hn::PopulationCount(hn::And(minus, some)));
}

// What each column of a row gets from a group that holds an infinity or a NaN there: opposite infinities give NaN, one
// hides a NaN where that does not win.
HWY_INLINE hn::Vec<Floats> special_sums(int count, const float* HWY_RESTRICT left, const float* HWY_RESTRICT right,
                                        const std::int64_t* HWY_RESTRICT offsets, bool nan_wins) {
  const Floats d;
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity()), below = hn::Neg(infinity);
  auto plus = hn::Lt(infinity, below), minus = plus, nan = plus;  // nowhere
  for (int k = 0; k < count; ++k) {
    const auto product = hn::Mul(hn::Set(d, left[k]), hn::LoadU(d, right + offsets[k]));
    plus = hn::Or(plus, hn::Eq(product, infinity));
    minus = hn::Or(minus, hn::Eq(product, below));
    nan = hn::Or(nan, hn::IsNaN(product));
  }
  auto invalid = hn::Not(hn::Xor(plus, minus));
  if (nan_wins) invalid = hn::Or(invalid, nan);
  const auto sums = hn::IfThenElse(plus, infinity, below);
  return hn::IfThenElse(invalid, hn::BitCast(d, hn::Set(Words(), kNanInvalid)), sums);
}

// sums += one group for kRows rows and one vector of columns, cut to multiples of units: 2^-24 of the power of two of
// the largest product, as bits. added(row, sum, number of units, unit) is what a sum becomes.
template <int kRows, class Added>
HWY_INLINE void cut_sums(int count, const LeftRows& left, const RightCols& right, int v, const hn::Vec<Ints>* units,
                         float* HWY_RESTRICT sums, Added added) {
  const Floats d;
  const Ints di;
  const Doubles dd;
  // Sums start from 1.5 * 2^52 units, which leave 2^51 to either side: low words are the units above them.
  hn::Vec<Doubles> low[kRows], high[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    constexpr std::int32_t kStart = ((1023 - 127 + 52) << 20) + (1 << 19);
    const auto start = hn::Add(hn::ShiftRight<3>(units[r]), hn::Set(di, kStart));
    low[r] = hn::BitCast(dd, hn::InterleaveLower(di, hn::Zero(di), start));
    high[r] = hn::BitCast(dd, hn::InterleaveUpper(di, hn::Zero(di), start));
  }
  for (int k = 0; k < count; ++k) {
    const double* values = right.values[v] + k * kLanes;
    const auto first = hn::Load(dd, values), second = hn::Load(dd, values + kHalf);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(dd, left.values[r * kGroupTerms + k]);
      low[r] = add_down(factor, first, low[r]);
      high[r] = add_down(factor, second, high[r]);
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    float* sum = sums + r * kTileCols;
    const auto above = hn::BitCast(di, low_words(low[r], high[r]));
    const auto total = hn::ConvertTo(d, hn::Add(above, negatives(left, r, right, v)));
    hn::StoreU(added(r, hn::LoadU(d, sum), total, hn::BitCast(d, units[r])), d, sum);
  }
}

// The same for both vectors of columns, or the first alone, with logarithms. False, with nothing added, where they do
// not tell.
template <int kRows>
HWY_INLINE bool sum_by_logs(int count, const LeftRows& left, const RightCols& right, int vectors,
                            float* HWY_RESTRICT sums) {
  const Ints di;
  const Logs dl;
  if (!left.usual || !right.usual) return false;
  hn::Vec<Logs> logs[kRows];
  largest_logs<kRows>(count, left, right, logs);
  auto all = logs[0];
  HWY_UNROLL(8)
  for (int r = 1; r < kRows; ++r) all = hn::And(all, logs[r]);
  if (HWY_UNLIKELY(!hn::AllTrue(dl, hn::Gt(all, hn::Set(dl, 0x7FFF))))) return false;
  hn::Vec<Ints> upper[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) upper[r] = hn::ShiftLeft<16>(hn::BitCast(di, logs[r]));
  for (int v = 0; v < vectors; ++v, sums += kLanes) {
    const auto right_units = hn::Load(di, right.units[v]);
    hn::Vec<Ints> units[kRows];
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto exponent = hn::And(hn::ShiftRight<3>(upper[r]), hn::Set(di, 0x1F800000));
      units[r] = hn::Add(hn::Add(exponent, hn::Set(di, left.units[r])), right_units);
      upper[r] = hn::BitCast(di, logs[r]);
    }
    // A sum of a group is exact before it is added: one fused addition rounds as two steps do.
    cut_sums<kRows>(count, left, right, v, units, sums,
                    [](int, hn::Vec<Floats> sum, hn::Vec<Floats> total, hn::Vec<Floats> unit)
                        HWY_ATTR { return hn::MulAdd(total, unit, sum); });
  }
  return true;
}

// The same with products of one vector of columns, for any group. Where largest products ask for it, sum_apart(row,
// largest products, sums of the other columns) gives what is added to that row.
template <int kRows, class SumApart>
HWY_INLINE void sum_by_products(int count, const LeftRows& left, const RightCols& right, int v,
                                const hn::Vec<Ints>* largest, float* HWY_RESTRICT sums, SumApart sum_apart) {
  const Ints di;
  hn::Vec<Ints> units[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r)
    units[r] = hn::Sub(hn::And(largest[r], hn::Set(di, 0x7F800000)), hn::Set(di, 24 << 23));
  const auto added = [&](int r, hn::Vec<Floats> sum, hn::Vec<Floats> total, hn::Vec<Floats> unit) HWY_ATTR {
    auto sums_of_row = hn::Mul(total, unit);
    if (HWY_UNLIKELY(needs_plain_sum(largest[r]))) sums_of_row = sum_apart(r, largest[r], sums_of_row);
    // Products of which none is left were too small for the unit.
    const auto some = hn::RebindMask(Floats(), hn::Gt(largest[r], hn::Zero(di)));
    return hn::Add(sum, hn::IfThenElseZero(some, sums_of_row));
  };
  // Without a sum that is neither zero nor special there is nothing to cut.
  auto least = hn::Set(Words(), ~0U);
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) least = hn::Min(least, hn::BitCast(Words(), hn::Sub(largest[r], hn::Set(di, 1))));
  if (!hn::AllTrue(Words(), hn::Gt(least, hn::Set(Words(), 0x7F7FFFFEU))))
    return cut_sums<kRows>(count, left, right, v, units, sums, added);
  const Floats d;
  for (int r = 0; r < kRows; ++r) {
    float* sum = sums + r * kTileCols;
    hn::StoreU(added(r, hn::LoadU(d, sum), hn::Zero(d), hn::Zero(d)), d, sum);
  }
}

}  // namespace groups_detail

#endif
#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
