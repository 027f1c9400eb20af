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
template <int kMost = kBlockRows, class Body>
void for_each_row_block(int rows, Body body) {
  int row = 0;
  for (; row + kMost <= rows; row += kMost) body(std::integral_constant<int, kMost>(), row);
  if (kMost > 4 && row + 4 <= rows) {
    body(std::integral_constant<int, 4>(), row);
    row += 4;
  }
  if (kMost > 2 && row + 2 <= rows) {
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

// Whether this turn is for AVX-512.
#undef SOFTTPU_AVX512
#define SOFTTPU_AVX512 (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL)

// f32 -> i32, fractions cut off. The caller knows that the values fit, which spares the correction that the library's
// conversion makes for those that do not.
template <class V>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>> truncated(V value) {
#if HWY_TARGET == HWY_SSE4
  return decltype(truncated(value)){_mm_cvttps_epi32(value.raw)};
#elif HWY_TARGET == HWY_AVX2
  return decltype(truncated(value)){_mm256_cvttps_epi32(value.raw)};
#elif SOFTTPU_AVX512
  return decltype(truncated(value)){_mm512_cvttps_epi32(value.raw)};
#else
  return decltype(truncated(value)){vcvtq_s32_f32(value.raw)};
#endif
}

// The same for any value: what does not fit, and a NaN, becomes the lowest integer.
template <class V>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>> truncated_or_lowest(V value) {
#if HWY_TARGET == HWY_NEON
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::int32_t> d;
  const auto fits = hn::RebindMask(d, hn::Lt(value, hn::Set(hn::ScalableTag<float>(), 0x1p31F)));
  return hn::IfThenElse(fits, truncated(value), hn::Set(d, INT32_MIN));
#else
  return truncated(value);
#endif
}

#if HWY_TARGET == HWY_NEON
// As vanished_product() of device/numeric/float_modes.hpp, in the places where `value` is zero.
template <class V>
HWY_NOINLINE V with_vanished_products(V a, V b, V value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto size_a = hn::Abs(a), size_b = hn::Abs(b);
  const auto scaled = hn::Mul(hn::Mul(hn::Min(size_a, size_b), hn::Set(d, 0x1p100F)), hn::Max(size_a, size_b));
  const auto up = hn::And(hn::Eq(value, hn::Zero(d)), hn::Ge(scaled, hn::Set(d, 0x1p-26F)));
  return hn::Or(value, hn::IfThenElseZero(up, hn::Set(d, 0x1p-126F)));
}
#endif

// a * b as the chip rounds it: float_product() of device/numeric/float_modes.hpp.
template <class V>
HWY_INLINE V product(V a, V b) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto value = hn::Mul(a, b);
#if HWY_TARGET == HWY_NEON
  const hn::ScalableTag<float> d;
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Eq(value, hn::Zero(d))))) return with_vanished_products(a, b, value);
#endif
  return value;
}

// Products as the processor rounds them, and as the chip does: loops try it with the former where FlushWatch tells
// whether the latter would have given something else.
struct QuickProduct {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hwy::HWY_NAMESPACE::Mul(a, b);
  }
};
struct ExactProduct {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return product(a, b);
  }
};

// Whether a zero has been made of anything since it began. Nothing is computed where that is as the chip does it.
class FlushWatch {
 public:
#if HWY_TARGET == HWY_NEON
  HWY_INLINE FlushWatch() { asm volatile("msr fpsr, xzr" ::: "memory"); }
  // What the answer is about: it has been computed by then.
  template <class V>
  HWY_INLINE void include(V& result) const {
    asm volatile("" : "+w"(result.raw));
  }
  HWY_INLINE bool has_seen() const {
    std::uint64_t status = 0;
    asm volatile("mrs %0, fpsr" : "=r"(status)::"memory");
    constexpr std::uint64_t kUnderflow = 8;
    return (status & kUnderflow) != 0;
  }
#else
  template <class V>
  HWY_INLINE void include(V&) const {}
  HWY_INLINE bool has_seen() const { return false; }
#endif
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
