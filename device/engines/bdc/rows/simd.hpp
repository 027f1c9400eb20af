// Small steps that the SIMD loops share. Included once for each instruction set, after hwy/highway.h.
#if defined(SOFTTPU_BDC_SIMD_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_SIMD_HPP_
#undef SOFTTPU_BDC_SIMD_HPP_
#else
#define SOFTTPU_BDC_SIMD_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if !SOFTTPU_NO_VECTORS

inline constexpr int kLanes = static_cast<int>(hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::ScalableTag<float>()));
// Sums that stay in registers: rows x vectors of columns. 32 registers with AVX-512, else 16.
inline constexpr int kBlockRows = kLanes == 16 ? 8 : 4;
inline constexpr int kBlockVectors = kLanes == 16 ? 3 : 2;

// Calls body(count, row) with a compile-time count for blocks of rows.
template <class Body>
void for_each_row_block(int rows, Body body) {
  int row = 0;
  for (; row + kBlockRows <= rows; row += kBlockRows) body(std::integral_constant<int, kBlockRows>(), row);
  if (kBlockRows > 4 && row + 4 <= rows) {
    body(std::integral_constant<int, 4>(), row);
    row += 4;
  }
  if (row + 2 <= rows) {
    body(std::integral_constant<int, 2>(), row);
    row += 2;
  }
  if (row < rows) body(std::integral_constant<int, 1>(), row);
}

// Calls body(rows, vectors, row, col) with compile-time sizes for blocks of rows and of vectors of columns.
template <class Body>
void for_each_block(int rows, int cols, Body body) {
  const auto down = [&](auto vectors, int col) {
    for_each_row_block(rows, [&](auto count, int row) { body(count, vectors, row, col); });
  };
  int col = 0;
  for (; col + kLanes * (kBlockVectors - 1) < cols; col += kLanes * kBlockVectors)
    down(std::integral_constant<int, kBlockVectors>(), col);
  if (kBlockVectors > 2 && col + kLanes < cols) return down(std::integral_constant<int, 2>(), col);
  if (col < cols) down(std::integral_constant<int, 1>(), col);
}

// f32 -> i32, fractions cut off. The caller knows that the values fit, which spares the correction that the library's
// conversion makes for those that do not.
template <class V>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>> truncated(V value) {
#if HWY_TARGET == HWY_SSE4
  return decltype(truncated(value)){_mm_cvttps_epi32(value.raw)};
#elif HWY_TARGET == HWY_AVX2
  return decltype(truncated(value)){_mm256_cvttps_epi32(value.raw)};
#else
  return decltype(truncated(value)){_mm512_cvttps_epi32(value.raw)};
#endif
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
