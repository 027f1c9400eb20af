// The inner loops of products with SIMD instructions, compiled for several instruction sets and chosen at run time.
// Vectors run over columns, so that every sum keeps the order that the plain loops have.
#include "device/engines/bdc/product/product_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/product/product_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/product/group_sums.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/rows/simd.hpp"
#include "device/numeric/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

ProductKernels float_kernels() { return kPlainProductKernels; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Ints = hn::ScalableTag<std::int32_t>;

static_assert(kTileCols % (kLanes * kBlockVectors) == 0, "a tile has to be whole blocks");

// The sums of a block, from memory to registers and back.
template <int kRows, int kVectors>
HWY_INLINE void load_sums(const float* HWY_RESTRICT sums, hn::Vec<Floats> (&acc)[kRows][kVectors]) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::LoadU(Floats(), sums + r * kTileCols + v * kLanes);
  }
}
template <int kRows, int kVectors>
HWY_INLINE void store_sums(const hn::Vec<Floats> (&acc)[kRows][kVectors], float* HWY_RESTRICT sums) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(acc[r][v], Floats(), sums + r * kTileCols + v * kLanes);
  }
}

// ---- Running sums of rounded products ----

template <int kRows, int kVectors>
HWY_INLINE void copy_sums(const hn::Vec<Floats> (&from)[kRows][kVectors], hn::Vec<Floats> (&to)[kRows][kVectors]) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) to[r][v] = from[r][v];
  }
}

// add(kind of product), and once more with exact products where that gives something else.
template <int kRows, int kVectors, class Add>
HWY_INLINE void add_exactly(hn::Vec<Floats> (&acc)[kRows][kVectors], Add add) {
  if constexpr (HWY_TARGET == HWY_NEON) {
    hn::Vec<Floats> former[kRows][kVectors];
    copy_sums(acc, former);
    const FlushWatch watch;
    add(QuickProduct());
    for (auto& row : acc) {
      for (auto& sum : row) watch.include(sum);
    }
    if (HWY_LIKELY(!watch.has_seen())) return;
    copy_sums(former, acc);
    add(ExactProduct());
  } else {
    add(QuickProduct());
  }
}

// acc += the products k = 0, 2, 4 ... of kRows rows and kVectors vectors of columns.
template <class Product, int kRows, int kVectors>
HWY_INLINE void add_lane_of(int inner, const float* HWY_RESTRICT left, std::int64_t step,
                            const float* HWY_RESTRICT right, const std::int64_t* HWY_RESTRICT offsets,
                            hn::Vec<Floats> (&acc)[kRows][kVectors]) {
  const Floats d;
  for (int k = 0; k < inner; k += 2) {
    const float* HWY_RESTRICT place = right + offsets[k];
    hn::Vec<Floats> values[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) values[v] = hn::LoadU(d, place + v * kLanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, left[r * step + k]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::Add(acc[r][v], Product::of(factor, values[v]));
    }
  }
}
template <int kRows, int kVectors>
HWY_INLINE void add_lane(int inner, const float* HWY_RESTRICT left, std::int64_t step, const float* HWY_RESTRICT right,
                         const std::int64_t* HWY_RESTRICT offsets, hn::Vec<Floats> (&acc)[kRows][kVectors]) {
  add_exactly(acc, [&](auto kind) HWY_ATTR { add_lane_of<decltype(kind)>(inner, left, step, right, offsets, acc); });
}

// The same in memory.
template <int kRows, int kVectors>
void lane_block(int inner, const float* HWY_RESTRICT left, std::int64_t step, const float* HWY_RESTRICT right,
                const std::int64_t* HWY_RESTRICT offsets, float* HWY_RESTRICT sums) {
  hn::Vec<Floats> acc[kRows][kVectors];
  load_sums(sums, acc);
  add_lane(inner, left, step, right, offsets, acc);
  store_sums(acc, sums);
}

void one_lane(TileSize size, const float* left, std::int64_t step, const float* right, const std::int64_t* offsets,
              float* sums) {
  for_each_block(size.rows, size.cols, [&](auto rows, auto vectors, int row, int col) HWY_ATTR {
    lane_block<decltype(rows)::value, decltype(vectors)::value>(size.inner, left + row * step, step, right + col,
                                                                offsets, sums + row * kTileCols + col);
  });
}

void two_lanes(TileSize size, const float* left, std::int64_t step, const float* right, const std::int64_t* offsets,
               float* first, float* second) {
  one_lane(size, left, step, right, offsets, first);
  if (size.inner < 2) return;
  one_lane({size.rows, size.inner - 1, size.cols}, left + 1, step, right, offsets + 1, second);
}

// a + b, where one NaN stands for all.
HWY_INLINE hn::Vec<Floats> joined(hn::Vec<Floats> a, hn::Vec<Floats> b) {
  const Floats d;
  const auto sum = hn::Add(a, b);
  const auto nan = hn::BitCast(d, hn::Set(hn::ScalableTag<std::uint32_t>(), kNanInvalid));
  return hn::IfThenElse(hn::IsNaN(sum), nan, sum);
}

void join(int rows, const float* other, float* sums) {
  const Floats d;
  for (int i = 0; i < rows * kTileCols; i += kLanes)
    hn::StoreU(joined(hn::LoadU(d, sums + i), hn::LoadU(d, other + i)), d, sums + i);
}

// sums = or += both lanes. There are registers for one lane; the first waits in memory that the cache keeps.
template <int kRows, int kVectors, bool kAdd>
void joined_block(int inner, const float* HWY_RESTRICT left, std::int64_t step, const float* HWY_RESTRICT right,
                  const std::int64_t* HWY_RESTRICT offsets, float* HWY_RESTRICT sums) {
  const Floats d;
  HWY_ALIGN float waiting[kRows * kVectors * kLanes];
  hn::Vec<Floats> acc[kRows][kVectors];
  const auto clear = [&]() HWY_ATTR {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::Zero(d);
    }
  };
  clear();
  add_lane(inner, left, step, right, offsets, acc);
  const bool both = inner > 1;
  if (both) {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) hn::Store(acc[r][v], d, waiting + (r * kVectors + v) * kLanes);
    }
    clear();
    add_lane(inner - 1, left + 1, step, right, offsets + 1, acc);
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      float* to = sums + r * kTileCols + v * kLanes;
      auto sum = joined(both ? hn::Load(d, waiting + (r * kVectors + v) * kLanes) : hn::Zero(d), acc[r][v]);
      if constexpr (kAdd) sum = joined(hn::LoadU(d, to), sum);
      hn::StoreU(sum, d, to);
    }
  }
}

void joined_lanes(TileSize size, const float* left, std::int64_t step, const float* right, const std::int64_t* offsets,
                  bool add, float* sums) {
  for_each_block(size.rows, size.cols, [&](auto rows, auto vectors, int row, int col) HWY_ATTR {
    constexpr int kRows = decltype(rows)::value, kVectors = decltype(vectors)::value;
    const auto block = add ? joined_block<kRows, kVectors, true> : joined_block<kRows, kVectors, false>;
    block(size.inner, left + row * step, step, right + col, offsets, sums + row * kTileCols + col);
  });
}

// ---- Aligned groups ----

// acc += the products one by one: groups of one, which nothing is cut from. Of a product -0 becomes +0, and one NaN
// stands for all.
template <class Product, int kRows, int kVectors>
HWY_INLINE void add_singles(int inner, const float* HWY_RESTRICT left, std::int64_t step,
                            const float* HWY_RESTRICT right, const std::int64_t* HWY_RESTRICT offsets,
                            hn::Vec<Floats> (&acc)[kRows][kVectors]) {
  const Floats d;
  for (int k = 0; k < inner; ++k) {
    hn::Vec<Floats> values[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) values[v] = hn::LoadU(d, right + offsets[k] + v * kLanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, left[r * step + k]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v)
        acc[r][v] = hn::Add(acc[r][v], joined(Product::of(factor, values[v]), hn::Zero(d)));
    }
  }
}
// The same in memory.
template <int kRows, int kVectors>
void single_block(int inner, const float* HWY_RESTRICT left, std::int64_t step, const float* HWY_RESTRICT right,
                  const std::int64_t* HWY_RESTRICT offsets, float* HWY_RESTRICT sums) {
  hn::Vec<Floats> acc[kRows][kVectors];
  load_sums(sums, acc);
  add_exactly(acc, [&](auto kind) HWY_ATTR { add_singles<decltype(kind)>(inner, left, step, right, offsets, acc); });
  store_sums(acc, sums);
}

// sums += one group of `count` products for kRows rows and one vector of columns. A product is scaled so that the
// conversion to an integer cuts it where the unit does: one bit below the 24 bits of the group's largest product.
template <int kRows>
void group_block(int count, const float* HWY_RESTRICT left, std::int64_t step, const float* HWY_RESTRICT right,
                 const std::int64_t* HWY_RESTRICT offsets, bool nan_wins, float* HWY_RESTRICT sums) {
  const Floats d;
  const Ints di;
  hn::Vec<Ints> largest[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) largest[r] = hn::Zero(di);
  const FlushWatch watch;
  for (int k = 0; k < count; ++k) {
    const auto values = hn::LoadU(d, right + offsets[k]);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto product = hn::Mul(hn::Set(d, left[r * step + k]), values);
      largest[r] = hn::Max(largest[r], hn::BitCast(di, hn::Abs(product)));
    }
  }
  for (auto& most : largest) watch.include(most);
  const bool inexact = watch.has_seen();
  hn::Vec<Floats> scale[kRows];
  hn::Vec<Floats> weight[kRows];
  hn::Vec<Ints> total[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    if (HWY_UNLIKELY(inexact || needs_plain_sum(largest[r]))) {
      for (int i = 0; i < kLanes; ++i) {
        sums[r * kTileCols + i] += aligned_group_sum(left + r * step, right, offsets, i, count, nan_wins);
      }
      // Nothing is left to add: the scaled products vanish.
      scale[r] = weight[r] = hn::Zero(d);
    } else {
      const auto exponent = hn::Max(hn::ShiftRight<23>(largest[r]), hn::Set(di, 25));
      scale[r] = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(hn::Set(di, 127 + 127 + 24), exponent)));
      weight[r] = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(exponent, hn::Set(di, 24))));
    }
    total[r] = hn::Zero(di);
  }
  for (int k = 0; k < count; ++k) {
    const auto values = hn::LoadU(d, right + offsets[k]);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto product = hn::Mul(hn::Set(d, left[r * step + k]), values);
      total[r] = hn::Add(total[r], truncated(hn::Mul(product, scale[r])));
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    float* sum = sums + r * kTileCols;
    if (HWY_UNLIKELY(hn::AllTrue(d, hn::Eq(weight[r], hn::Zero(d))))) continue;
    hn::StoreU(hn::Add(hn::LoadU(d, sum), hn::Mul(hn::ConvertTo(d, total[r]), weight[r])), d, sum);
  }
}

#if SOFTTPU_FUSED_GROUPS

// Below that many rows or products of a group, or for one vector of columns, ordering operands for the fused loops
// takes longer than they gain.
constexpr int kFusedRows = 8, kFusedTerms = 16;

// Calls body(count, row, number) for blocks of rows of nearly one size.
template <int kMost = kBlockRows, class Body>
void for_block_of(int rows, int row, int number, const Body& body) {
  if constexpr (kMost > 1)
    if (rows < kMost) return for_block_of<kMost - 1>(rows, row, number, body);
  body(std::integral_constant<int, kMost>(), row, number);
}
template <class Body>
void for_each_even_block(int rows, const Body& body) {
  const int blocks = (rows + kBlockRows - 1) / kBlockRows;
  for (int i = 0; i < blocks; ++i) {
    const int row = rows * i / blocks;
    for_block_of(rows * (i + 1) / blocks - row, row, i, body);
  }
}

// sums += one group of `count` products.
void fused_group(TileSize size, int count, const float* left, std::int64_t step, const float* right,
                 const std::int64_t* offsets, float* sums) {
  namespace gd = groups_detail;
  auto* const blocks = room<gd::LeftRows, struct LeftGroups>((size.rows + kBlockRows - 1) / kBlockRows);
  for_each_even_block(size.rows, [&](auto rows, int row, int number)
                                     HWY_ATTR { gd::load_left(rows, count, left + row * step, step, blocks[number]); });
  // Behind the columns that count there is something in any tile.
  static_assert(kTileCols % (2 * kLanes) == 0);
  for (int first = 0; first < size.cols; first += 2 * kLanes) {
    auto& cols = *room<gd::RightCols, struct RightGroups>(1);
    gd::load_right(count, right + first, offsets, cols);
    const int vectors = first + kLanes < size.cols ? 2 : 1;
    for_each_even_block(size.rows, [&](auto rows, int row, int number) HWY_ATTR {
      constexpr int kRows = decltype(rows)::value;
      const gd::LeftRows& block = blocks[number];
      float* to = sums + row * kTileCols + first;
      if (HWY_LIKELY(gd::sum_by_logs<kRows>(count, block, cols, vectors, to))) return;
      for (int v = 0; v < vectors; ++v, to += kLanes) {
        const float* place = right + first + v * kLanes;
        const auto sum_apart = [&](int r, LargestProducts largest, hn::Vec<Floats> added) HWY_ATTR {
          const Floats d;
          const auto special = hn::RebindMask(d, is_special(largest)), tiny = hn::RebindMask(d, is_tiny(largest));
          const float* left_row = left + (row + r) * step;
          if (!hn::AllFalse(d, special))
            added = hn::IfThenElse(special, gd::special_sums(count, left_row, place, offsets, size.nan_wins), added);
          if (hn::AllFalse(d, tiny)) return added;
          alignas(64) float one_by_one[kLanes];
          hn::Store(added, d, one_by_one);
          std::uint8_t bits[8] = {};
          hn::StoreMaskBits(d, tiny, bits);
          for (int i = 0; i < kLanes; ++i) {
            if ((bits[i / 8] >> i % 8 & 1) != 0)
              one_by_one[i] = aligned_group_sum(left_row, place, offsets, i, count, size.nan_wins);
          }
          return hn::Load(d, one_by_one);
        };
        hn::Vec<Ints> largest[kRows];
        gd::largest_products<kRows>(count, left + row * step, step, place, offsets, largest);
        gd::sum_by_products<kRows>(count, block, cols, v, largest, to, sum_apart);
      }
    });
  }
}

#endif

void groups(TileSize size, int group, const float* left, std::int64_t step, const float* right,
            const std::int64_t* offsets, float* sums) {
  if (group == 1) {
    for_each_block(size.rows, size.cols, [&](auto rows, auto vectors, int row, int col) HWY_ATTR {
      single_block<decltype(rows)::value, decltype(vectors)::value>(size.inner, left + row * step, step, right + col,
                                                                    offsets, sums + row * kTileCols + col);
    });
    return;
  }
  for (int k = 0; k < size.inner; k += group) {
    const int count = HWY_MIN(group, size.inner - k);
#if SOFTTPU_FUSED_GROUPS
    if (size.rows >= kFusedRows && size.cols > kLanes && count >= kFusedTerms && count <= kGroupTerms) {
      fused_group(size, count, left + k, step, right, offsets + k, sums);
      continue;
    }
#endif
    for (int col = 0; col < size.cols; col += kLanes) {
      for_each_row_block(size.rows, [&](auto rows, int row) HWY_ATTR {
        group_block<decltype(rows)::value>(count, left + row * step + k, step, right + col, offsets + k, size.nan_wins,
                                           sums + row * kTileCols + col);
      });
    }
  }
}

}  // namespace

ProductKernels float_kernels() { return {two_lanes, joined_lanes, groups, join}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(ProductKernels, fast_product_kernels, (), float_kernels, ())

}  // namespace softtpu
#endif
