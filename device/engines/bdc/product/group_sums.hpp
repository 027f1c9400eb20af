// Sums of aligned groups of products with SIMD instructions. Included once for each instruction set, after simd.hpp.
//
// A group's products are cut where its largest one ends, so two passes look at each product. The first multiplies
// magnitudes and keeps the largest. The second is one fused multiply-add in double precision for each product, rounded
// down, into a sum so large that its last bit is where products are cut: the addition cuts. Cutting goes towards zero,
// though, and rounding down moves negative products away from it. Therefore one factor is larger by 2^-30 of itself,
// which is too little to carry a product over a place where it is cut, but leaves none exactly there: rounding down
// then makes every negative product one unit too small, cut or not, and their number is put right in one step for a
// group.
#if defined(SOFTTPU_BDC_GROUP_SUMS_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_GROUP_SUMS_HPP_
#undef SOFTTPU_BDC_GROUP_SUMS_HPP_
#else
#define SOFTTPU_BDC_GROUP_SUMS_HPP_
#endif

#include <hwy/highway.h>

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
using Doubles = hn::ScalableTag<double>;
using HalfFloats = hn::Rebind<float, Doubles>;
inline constexpr int kHalf = kLanes / 2;

// Magnitudes of the operands between which no product is tiny, infinite or a NaN: 2^-50 to 2^63.
inline constexpr std::uint32_t kLeastUsual = (127U - 50U) << 23, kMostUsual = (127U + 63U) << 23;
inline constexpr double kBitLarger = 1 + 0x1p-30;

// One group as both passes read it.
struct Operands {
  alignas(64) double right[kGroupTerms * kTileCols];
  alignas(64) float right_sizes[kGroupTerms * kTileCols];
  // Bit k: the factor of product k is below zero, is not zero.
  alignas(64) std::uint32_t right_minus[kTileCols];
  alignas(64) std::uint32_t right_some[kTileCols];
  bool right_usual[kTileCols / kLanes];  // of each vector of columns
  alignas(64) double left[kBlockRows * kGroupTerms];
  alignas(64) float left_sizes[kBlockRows * kGroupTerms];
  std::uint32_t left_minus[kBlockRows], left_some[kBlockRows];
  bool left_usual;
};

// The largest magnitude and one less than the smallest that is not zero, as bits.
struct Reach {
  hn::Vec<Words> high, low;
  HWY_INLINE void add(hn::Vec<Floats> size) {
    const auto bits = hn::BitCast(Words(), size);
    high = hn::Max(high, bits);
    low = hn::Min(low, hn::Sub(bits, hn::Set(Words(), 1)));
  }
  HWY_INLINE bool usual() const {
    const Ints d;
    const auto above = hn::Gt(hn::BitCast(d, high), hn::Set(d, static_cast<std::int32_t>(kMostUsual)));
    // Without any that is not zero the lower end is all ones.
    const auto below = hn::Lt(hn::And(hn::BitCast(d, low), hn::Set(d, 0x7FFFFFFF)),
                              hn::Set(d, static_cast<std::int32_t>(kLeastUsual) - 1));
    return hn::AllFalse(d, hn::Or(above, below));
  }
};

HWY_INLINE void store_doubles(hn::Vec<Floats> values, double factor, double* out) {
  const Doubles d;
  const HalfFloats half;
  const auto by = hn::Set(d, factor);
  hn::Store(hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, values)), by), d, out);
  hn::Store(hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, values)), by), d, out + kHalf);
}

inline void load_right(int count, int vectors, const float* HWY_RESTRICT right,
                       const std::int64_t* HWY_RESTRICT offsets, Operands& group) {
  const Floats d;
  const Words dw;
  for (int v = 0; v < vectors; ++v) {
    const int col = v * kLanes;
    auto minus = hn::Zero(dw), some = hn::Zero(dw), bit = hn::Set(dw, 1);
    Reach reach{hn::Zero(dw), hn::Set(dw, ~0U)};
    for (int k = 0; k < count; ++k) {
      const auto values = hn::LoadU(d, right + offsets[k] + col);
      const auto size = hn::Abs(values);
      hn::Store(size, d, group.right_sizes + k * kTileCols + col);
      store_doubles(values, 1, group.right + k * kTileCols + col);
      minus = hn::Or(minus, hn::IfThenElseZero(hn::RebindMask(dw, hn::Lt(values, hn::Zero(d))), bit));
      some = hn::Or(some, hn::IfThenElseZero(hn::RebindMask(dw, hn::Ne(values, hn::Zero(d))), bit));
      bit = hn::Add(bit, bit);
      reach.add(size);
    }
    hn::Store(minus, dw, group.right_minus + col);
    hn::Store(some, dw, group.right_some + col);
    group.right_usual[v] = reach.usual();
  }
}

inline void load_left(int rows, int count, const float* HWY_RESTRICT left, std::int64_t step, Operands& group) {
  const Floats d;
  Reach reach{hn::Zero(Words()), hn::Set(Words(), ~0U)};
  for (int r = 0; r < rows; ++r) {
    const float* row = left + r * step;
    alignas(64) float whole[kGroupTerms] = {};
    if (count < kGroupTerms) row = static_cast<float*>(std::memcpy(whole, row, static_cast<unsigned>(count) * 4));
    std::uint8_t minus[4] = {}, some[4] = {};
    for (int k = 0; k < kGroupTerms; k += kLanes) {
      const auto values = hn::LoadU(d, row + k);
      const auto size = hn::Abs(values);
      hn::Store(size, d, group.left_sizes + r * kGroupTerms + k);
      store_doubles(values, kBitLarger, group.left + r * kGroupTerms + k);
      hn::StoreMaskBits(d, hn::Lt(values, hn::Zero(d)), minus + k / 8);
      hn::StoreMaskBits(d, hn::Ne(values, hn::Zero(d)), some + k / 8);
      reach.add(size);
    }
    std::memcpy(&group.left_minus[r], minus, 4);
    std::memcpy(&group.left_some[r], some, 4);
  }
  group.left_usual = reach.usual();
}

// a * b + sum, rounded down.
HWY_INLINE hn::Vec<Doubles> add_down(hn::Vec<Doubles> a, hn::Vec<Doubles> b, hn::Vec<Doubles> sum) {
  return hn::Vec<Doubles>{_mm512_fmadd_round_pd(a.raw, b.raw, sum.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}

// The largest magnitude among a group's products, as bits.
template <int kRows, bool kUsual>
HWY_INLINE void largest_products(int count, const Operands& group, int col, hn::Vec<Ints>* largest) {
  const Floats d;
  const Ints di;
  hn::Vec<Floats> sizes[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) sizes[r] = hn::Zero(d);
  for (int k = 0; k < count; ++k) {
    const auto values = hn::Load(d, group.right_sizes + k * kTileCols + col);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto product = hn::Mul(hn::Set(d, group.left_sizes[r * kGroupTerms + k]), values);
      if constexpr (kUsual) {
        sizes[r] = hn::Max(sizes[r], product);
      } else {
        // A NaN is larger than all.
        sizes[r] = hn::BitCast(d, hn::Max(hn::BitCast(di, sizes[r]), hn::BitCast(di, hn::Abs(product))));
      }
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) largest[r] = hn::BitCast(di, sizes[r]);
}

// How many of the products are below zero.
HWY_INLINE hn::Vec<Ints> negatives(const Operands& group, int row, int col) {
  const Words d;
  const auto minus = hn::Xor(hn::Set(d, group.left_minus[row]), hn::Load(d, group.right_minus + col));
  const auto some = hn::And(hn::Set(d, group.left_some[row]), hn::Load(d, group.right_some + col));
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

// sums += one group for kRows rows and one vector of columns. Where largest products ask for it, sum_apart(row, largest
// products, sums of the other columns) gives what is added to that row.
template <int kRows, bool kUsual, class SumApart>
HWY_INLINE void group_block(int count, const Operands& group, int col, float* HWY_RESTRICT sums, SumApart sum_apart) {
  const Floats d;
  const Ints di;
  const Words dw;
  const Doubles dd;
  const HalfFloats half;
  hn::Vec<Ints> largest[kRows];
  largest_products<kRows, kUsual>(count, group, col, largest);
  // The sums are in units of the cut, 2^-24 of the largest product's power of two: 1.5 * 2^52 units leave 2^51 to
  // either side, and the low words of what lies above are the units themselves.
  hn::Vec<Doubles> low[kRows], high[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    const auto power = hn::BitCast(d, hn::And(largest[r], hn::Set(di, 0x7F800000)));
    const auto start = hn::Set(dd, 1.5 * 0x1p52 * 0x1p-24);
    low[r] = hn::Mul(hn::PromoteTo(dd, hn::LowerHalf(half, power)), start);
    high[r] = hn::Mul(hn::PromoteTo(dd, hn::UpperHalf(half, power)), start);
  }
  for (int k = 0; k < count; ++k) {
    const double* values = group.right + k * kTileCols + col;
    const auto first = hn::Load(dd, values), second = hn::Load(dd, values + kHalf);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(dd, group.left[r * kGroupTerms + k]);
      low[r] = add_down(factor, first, low[r]);
      high[r] = add_down(factor, second, high[r]);
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    float* sum = sums + r * kTileCols;
    auto total = hn::BitCast(di, hn::ConcatEven(dw, hn::BitCast(dw, high[r]), hn::BitCast(dw, low[r])));
    total = hn::Add(total, negatives(group, r, col));
    // Products of which none is left were too small for the unit.
    if constexpr (!kUsual) total = hn::IfThenElseZero(hn::Gt(largest[r], hn::Zero(di)), total);
    const auto power = hn::BitCast(d, hn::And(largest[r], hn::Set(di, 0x7F800000)));
    const auto unit = hn::Mul(power, hn::Set(d, 0x1p-24F));
    auto added = hn::Mul(hn::ConvertTo(d, total), unit);
    if (!kUsual && HWY_UNLIKELY(needs_plain_sum(largest[r]))) added = sum_apart(r, largest[r], added);
    hn::StoreU(hn::Add(hn::LoadU(d, sum), added), d, sum);
  }
}

}  // namespace groups_detail

#endif
#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
