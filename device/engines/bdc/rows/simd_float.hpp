// The float unit on vectors: how stored elements are loaded and rounded, and arithmetic with the chip's NaN rules. The
// plain forms are Wide<T> (device/numeric/formats.hpp) and chip_add() ... (device/numeric/float_unit.hpp).
// Included once for each instruction set, after hwy/highway.h. To be used inside an FpuScope.
#if defined(SOFTTPU_BDC_SIMD_FLOAT_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_SIMD_FLOAT_HPP_
#undef SOFTTPU_BDC_SIMD_FLOAT_HPP_
#else
#define SOFTTPU_BDC_SIMD_FLOAT_HPP_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "device/engines/bdc/rows/simd.hpp"
#include "device/memory/one_element.hpp"
#include "device/numeric/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if !SOFTTPU_NO_VECTORS

using Floats = hwy::HWY_NAMESPACE::ScalableTag<float>;
using Words = hwy::HWY_NAMESPACE::ScalableTag<std::uint32_t>;
using Ints = hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>;
using Halves = hwy::HWY_NAMESPACE::Rebind<std::uint16_t, Floats>;
using FloatVector = hwy::HWY_NAMESPACE::Vec<Floats>;
using WordVector = hwy::HWY_NAMESPACE::Vec<Words>;
using IntVector = hwy::HWY_NAMESPACE::Vec<Ints>;
using FloatMask = hwy::HWY_NAMESPACE::Mask<Floats>;

// ---- Rows in whole vectors ----

// A source of vectors: a row of elements, or a vector of equal ones in every place.
template <class T>
class VectorRow {
 public:
  VectorRow(const RowOrOne& source) : row_(static_cast<const T*>(source.row)), mask_(source.one ? 0 : ~0) {}
  const T* operator+(int i) const { return row_ + (i & mask_); }
  bool one() const { return mask_ == 0; }

 private:
  const T* row_;
  int mask_;
};

// Step::apply(dst, src...) for each kStep elements of rows, each a pointer or a VectorRow; a step reads before it
// writes. Elements behind the last whole vector take one more, which ends with the row and comes before all others, as
// a source may be dst. A row of less than a vector is copied to one.
template <class Step, int kStep, class D, class... Row>
struct VectorLoop {
  template <std::size_t... kSource>
  static HWY_INLINE void run(std::index_sequence<kSource...>, int count, D* dst, Row... src) {
    std::array<D, kStep> dst_end;
    const int whole = count / kStep * kStep, last = count - kStep;
    if (whole == 0) {
      std::tuple<std::array<std::remove_cvref_t<decltype(*(src + 0))>, kStep>...> src_end;
      (copy(src, count, std::get<kSource>(src_end)), ...);
      Step::apply(dst_end.data(), (src + 0)...);
      std::memcpy(dst, dst_end.data(), sizeof(D) * static_cast<unsigned>(count));
      return;
    }
    if (whole < count) Step::apply(dst_end.data(), (src + last)...);
    for (int i = 0; i < whole; i += kStep) Step::apply(dst + i, (src + i)...);
    if (whole < count) std::memcpy(dst + last, dst_end.data(), sizeof dst_end);
  }

 private:
  template <class T>
  static HWY_INLINE void copy(const T*& row, int count, std::array<T, kStep>& copied) {
    std::memcpy(copied.data(), row, sizeof(T) * static_cast<unsigned>(count));
    std::memset(copied.data() + count, 0, sizeof(T) * static_cast<unsigned>(kStep - count));
    row = copied.data();
  }
  template <class T>
  static HWY_INLINE void copy(VectorRow<T>& row, int count, std::array<T, kStep>& copied) {
    if (row.one()) return;
    const T* from = row + 0;
    copy(from, count, copied);
    row = RowOrOne{from, false};
  }
};
template <class Step, int kStep, class D, class... Row>
HWY_INLINE void for_each_vector(int count, D* dst, Row... src) {
  VectorLoop<Step, kStep, D, Row...>::run(std::index_sequence_for<Row...>(), count, dst, src...);
}

// ---- Bits ----

HWY_INLINE WordVector bits_of(FloatVector value) { return hwy::HWY_NAMESPACE::BitCast(Words(), value); }
HWY_INLINE FloatVector float_of(WordVector bits) { return hwy::HWY_NAMESPACE::BitCast(Floats(), bits); }
HWY_INLINE WordVector word(std::uint32_t bits) { return hwy::HWY_NAMESPACE::Set(Words(), bits); }
HWY_INLINE FloatMask is_nan(FloatVector value) { return hwy::HWY_NAMESPACE::IsNaN(value); }
HWY_INLINE WordVector load_halves(const void* stored) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::PromoteTo(Words(), hn::LoadU(Halves(), static_cast<const std::uint16_t*>(stored)));
}
// The low 16 bits of each word; the others are 0.
HWY_INLINE void store_halves(WordVector bits, void* stored) {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(Ints(), bits)), Halves(), static_cast<std::uint16_t*>(stored));
}

// Stored integers as 32-bit lanes, and 32-bit lanes clamped to a stored integer type.
template <class T>
HWY_INLINE IntVector load_ints(const T* stored) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(T) == 4) {
    return hn::LoadU(Ints(), reinterpret_cast<const std::int32_t*>(stored));
  } else {
    return hn::PromoteTo(Ints(), hn::LoadU(hn::Rebind<T, Ints>(), stored));
  }
}
template <class T>
HWY_INLINE void store_ints(IntVector values, T* stored) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(T) == 4) {
    hn::StoreU(values, Ints(), reinterpret_cast<std::int32_t*>(stored));
  } else if constexpr (sizeof(T) == 1) {
    const hn::Rebind<T, Ints> d;
#if !SOFTTPU_AVX512
    // The library narrows in two steps, of which the second takes 16-bit values for signed ones.
    if constexpr (!std::is_signed_v<T>) values = hn::Min(values, hn::Set(Ints(), 255));
    hn::StoreU(hn::DemoteTo(d, values), d, stored);
#else
    if constexpr (std::is_signed_v<T>) {
      hn::StoreU(hn::Vec<decltype(d)>{_mm512_cvtsepi32_epi8(values.raw)}, d, stored);
    } else {
      hn::StoreU(hn::Vec<decltype(d)>{_mm512_cvtusepi32_epi8(hn::Max(values, hn::Zero(Ints())).raw)}, d, stored);
    }
#endif
  } else {
    const hn::Rebind<T, Ints> d;
    hn::StoreU(hn::DemoteTo(d, values), d, stored);
  }
}

// Subnormals to zeros of the same sign.
HWY_INLINE WordVector flushed_bits(WordVector bits) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto subnormal = hn::Eq(hn::And(bits, word(0x7F800000U)), hn::Zero(Words()));
  return hn::IfThenElse(subnormal, hn::And(bits, word(0x80000000U)), bits);
}
HWY_INLINE FloatVector flushed(FloatVector value) { return float_of(flushed_bits(bits_of(value))); }

// f16 bits -> f32 with every bit of a NaN.
HWY_INLINE FloatVector widened_f16(WordVector half) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto sign = hn::ShiftLeft<16>(hn::And(half, word(0x8000)));
  const auto shifted = hn::ShiftLeft<13>(hn::And(half, word(0x7FFF)));
  const auto top = hn::And(half, word(0x7C00));
  const auto rebased = hn::Add(shifted, word(112U << 23));
  const auto special = hn::Add(shifted, word(224U << 23));
  // A subnormal half is a whole number of 2^-24.
  const auto mantissa = hn::ConvertTo(Floats(), hn::BitCast(Ints(), hn::And(half, word(0x3FF))));
  const auto subnormal = bits_of(hn::Mul(mantissa, hn::Set(Floats(), 0x1p-24F)));
  auto bits = hn::IfThenElse(hn::Eq(top, hn::Zero(Words())), subnormal, rebased);
  bits = hn::IfThenElse(hn::Eq(top, word(0x7C00)), special, bits);
  return float_of(hn::Or(bits, sign));
}

// ---- Units, one for each storage type ----
//   load    kLanes stored elements as f32; subnormals that the unit reads as zeros may stay (the CPU does it)
//   store   an f32 that the CPU has computed, rounded to the type
//   pass    an operand as the unit hands it on, before it is stored
//   round   as store and load one after the other
//   add ... with the NaN that the type can tell from others

struct F32Unit {
  using Stored = float;
  static HWY_INLINE FloatVector load(const float* stored) { return hwy::HWY_NAMESPACE::LoadU(Floats(), stored); }
  static HWY_INLINE void store(FloatVector value, float* stored) {
    hwy::HWY_NAMESPACE::StoreU(value, Floats(), stored);
  }
  static HWY_INLINE FloatVector pass(FloatVector value) { return flushed(value); }
  static HWY_INLINE FloatVector round(FloatVector value) { return value; }
  // A NaN in the first operand goes before one in the second, whatever order the compiler gives them.
  static HWY_INLINE FloatVector settled(FloatVector result, FloatVector a, [[maybe_unused]] FloatVector b) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_NEON
    // The processor's own NaN, of invalid operations on numbers, has the other sign.
    const auto invalid = hn::AndNot(is_nan(b), is_nan(result));
    result = hn::IfThenElse(invalid, float_of(word(kNanInvalid)), result);
#endif
    return hn::IfThenElse(is_nan(a), float_of(hn::Or(bits_of(a), word(0x00400000U))), result);
  }
  static HWY_INLINE FloatVector add(FloatVector a, FloatVector b) {
    return settled(hwy::HWY_NAMESPACE::Add(a, b), a, b);
  }
  static HWY_INLINE FloatVector sub(FloatVector a, FloatVector b) {
    return settled(hwy::HWY_NAMESPACE::Sub(a, b), a, b);
  }
  static HWY_INLINE FloatVector mul(FloatVector a, FloatVector b) { return settled(product(a, b), a, b); }
};

// The 16-bit types store every NaN alike.
struct HalfArithmetic {
  static HWY_INLINE FloatVector add(FloatVector a, FloatVector b) { return hwy::HWY_NAMESPACE::Add(a, b); }
  static HWY_INLINE FloatVector sub(FloatVector a, FloatVector b) { return hwy::HWY_NAMESPACE::Sub(a, b); }
  static HWY_INLINE FloatVector mul(FloatVector a, FloatVector b) { return product(a, b); }
  static HWY_INLINE FloatVector with_stored_nan(FloatVector value) {
    return hwy::HWY_NAMESPACE::IfThenElse(is_nan(value), float_of(word(0x7FFFFFFFU)), value);
  }
};

struct F16Unit : HalfArithmetic {
  using Stored = F16;
  static HWY_INLINE FloatVector load(const F16* stored) {
#if HWY_TARGET == HWY_SSE4
    return widened_f16(load_halves(stored));
#else
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Rebind<hwy::float16_t, Floats> d;
    return hn::PromoteTo(Floats(), hn::LoadU(d, reinterpret_cast<const hwy::float16_t*>(stored)));
#endif
  }
  static HWY_INLINE void store(FloatVector value, F16* stored) { narrow(with_stored_nan(value), stored); }
  // Whose NaNs, if there are any, have all bits but the sign.
  static HWY_INLINE void narrow(FloatVector value, F16* stored) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SSE4
    const auto bits = bits_of(round(value));
    const auto sign = hn::And(bits, word(0x80000000U));
    const auto magnitude = hn::Xor(bits, sign);
    const auto normal = hn::ShiftRight<13>(hn::Sub(magnitude, word(112U << 23)));
    const auto steps = hn::ConvertTo(Ints(), hn::Mul(float_of(magnitude), hn::Set(Floats(), 0x1p24F)));
    const auto small = hn::Lt(hn::BitCast(Ints(), magnitude), hn::Set(Ints(), 113 << 23));
    const auto special = hn::Gt(hn::BitCast(Ints(), magnitude), hn::Set(Ints(), 0x7F7FFFFF));
    auto half = hn::IfThenElse(hn::RebindMask(Words(), small), hn::BitCast(Words(), steps), normal);
    half = hn::IfThenElse(hn::RebindMask(Words(), special),
                          hn::Or(word(0x7C00), hn::And(hn::ShiftRight<13>(magnitude), word(0x3FF))), half);
    store_halves(hn::Or(half, hn::ShiftRight<16>(sign)), stored);
#else
    const hn::Rebind<hwy::float16_t, Floats> d;
    hn::StoreU(hn::DemoteTo(d, value), d, reinterpret_cast<hwy::float16_t*>(stored));
#endif
  }
  static HWY_INLINE FloatVector pass(FloatVector value) { return value; }
  static HWY_INLINE FloatVector round(FloatVector value) {
    namespace hn = hwy::HWY_NAMESPACE;
    const Floats d;
#if HWY_TARGET == HWY_SSE4
    const auto bits = bits_of(value);
    const auto sign = hn::And(bits, word(0x80000000U));
    const auto magnitude = hn::Xor(bits, sign);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), word(1));
    const auto nearest = hn::And(hn::Add(hn::Add(magnitude, word(0xFFF)), odd), word(0xFFFFE000U));
    // Adding 0.5 leaves multiples of 2^-24, the step of subnormal halves.
    const auto half = hn::Set(d, 0.5F);
    const auto subnormal = hn::Sub(hn::Add(float_of(magnitude), half), half);
    auto result = hn::IfThenElse(hn::Lt(float_of(magnitude), hn::Set(d, 0x1p-14F)), subnormal, float_of(nearest));
    result = hn::IfThenElse(hn::Ge(result, hn::Set(d, 65536.0F)), float_of(word(0x7F800000U)), result);
    result = hn::Or(result, float_of(sign));
    return hn::IfThenElse(is_nan(value), value, result);
#else
    const hn::Rebind<hwy::float16_t, Floats> dh;
    return hn::PromoteTo(d, hn::DemoteTo(dh, value));
#endif
  }
};

struct Bf16Unit : HalfArithmetic {
  using Stored = Bf16;
  static HWY_INLINE FloatVector load(const Bf16* stored) {
    return float_of(hwy::HWY_NAMESPACE::ShiftLeft<16>(load_halves(stored)));
  }
  static HWY_INLINE void store(FloatVector value, Bf16* stored) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto half = hn::ShiftRight<16>(nearest(bits_of(value)));
    store_halves(hn::IfThenElse(hn::RebindMask(Words(), is_nan(value)), word(kNan16), half), stored);
  }
  static HWY_INLINE FloatVector pass(FloatVector value) { return flushed(value); }
  static HWY_INLINE FloatVector round(FloatVector value) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto rounded = float_of(hn::And(nearest(bits_of(value)), word(0xFFFF0000U)));
    return hn::IfThenElse(is_nan(value), value, rounded);
  }
  // The upper half is the rounded number; the lower one is not cleared.
  static HWY_INLINE WordVector nearest(WordVector bits) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto odd = hn::And(hn::ShiftRight<16>(bits), word(1));
    return hn::Add(hn::Add(bits, word(0x7FFF)), odd);
  }
};

// The unit of a storage type.
template <class T>
struct UnitOf;
template <>
struct UnitOf<float> {
  using type = F32Unit;
};
template <>
struct UnitOf<F16> {
  using type = F16Unit;
};
template <>
struct UnitOf<Bf16> {
  using type = Bf16Unit;
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
