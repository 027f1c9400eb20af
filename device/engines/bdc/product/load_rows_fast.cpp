// The loops that load rows of operands, with SIMD instructions.
#include "device/engines/bdc/product/load_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/product/load_rows_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

const LoadRows& rows_of_target() { return kPlainLoadRows; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// vector(i) for whole vectors of [0, count), the last one once more up to the end; rest() where there is less than one.
template <int kStep, class Vector, class Rest>
HWY_INLINE void each_vector(int count, const Vector& vector, const Rest& rest) {
  if (count < kStep) return rest();
  int i = 0;
  for (; i + kStep <= count; i += kStep) vector(i);
  if (i < count) vector(count - kStep);
}

// Processors set the highest bit of a NaN's payload when they widen it.
void widen_f16(const std::uint16_t* stored, float* values, int count) {
  const auto vector = [&](int i) HWY_ATTR {
    const auto half = load_halves(stored + i);
    const auto special = hn::Eq(hn::And(half, word(0x7C00)), word(0x7C00));
    const bool ordinary = HWY_LIKELY(hn::AllFalse(Words(), special));
    hn::StoreU(ordinary ? F16Unit::load(reinterpret_cast<const F16*>(stored + i)) : widened_f16(half), Floats(),
               values + i);
  };
  each_vector<kLanes>(count, vector, [&] { kPlainLoadRows.widen_f16(stored, values, count); });
}

void widen_bf16(const std::uint16_t* stored, float* values, int count) {
  const auto vector = [&](int i) HWY_ATTR {
    hn::StoreU(float_of(hn::ShiftLeft<16>(load_halves(stored + i))), Floats(), values + i);
  };
  each_vector<kLanes>(count, vector, [&] { kPlainLoadRows.widen_bf16(stored, values, count); });
}

void round_f16(const float* values, std::uint16_t* stored, int count) {
  const auto vector = [&](int i) HWY_ATTR {
    F16Unit::store(hn::LoadU(Floats(), values + i), reinterpret_cast<F16*>(stored + i));
  };
  each_vector<kLanes>(count, vector, [&] { kPlainLoadRows.round_f16(values, stored, count); });
}

void round_bf16(const float* values, std::uint16_t* stored, int count) {
  const auto vector = [&](int i) HWY_ATTR {
    Bf16Unit::store(flushed(hn::LoadU(Floats(), values + i)), reinterpret_cast<Bf16*>(stored + i));
  };
  each_vector<kLanes>(count, vector, [&] { kPlainLoadRows.round_bf16(values, stored, count); });
}

template <class T, void (*LoadRows::*kPlain)(const T*, std::uint32_t*, int)>
void widen_bytes(const T* stored, std::uint32_t* values, int count) {
  const auto vector = [&](int i)
                          HWY_ATTR { hn::StoreU(hn::BitCast(Words(), load_ints(stored + i)), Words(), values + i); };
  each_vector<kLanes>(count, vector, [&] { (kPlainLoadRows.*kPlain)(stored, values, count); });
}

template <class D, class T, class Rest>
HWY_INLINE void split_vectors(D d, const T* from, int pairs, T* even, T* odd, const Rest& rest) {
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto vector = [&](int i) HWY_ATTR {
    const auto low = hn::LoadU(d, from + 2 * i);
    const auto high = hn::LoadU(d, from + 2 * i + kStep);
    hn::StoreU(hn::ConcatEven(d, high, low), d, even + i);
    hn::StoreU(hn::ConcatOdd(d, high, low), d, odd + i);
  };
  each_vector<kStep>(pairs, vector, rest);
}

// Rows of less than a vector take short ones.
template <class T, void (*LoadRows::*kPlain)(const void*, int, void*, void*)>
void split(const void* row, int pairs, void* even, void* odd) {
  const auto* const from = static_cast<const T*>(row);
  auto *const evens = static_cast<T*>(even), *const odds = static_cast<T*>(odd);
  const hn::CappedTag<T, 16 / sizeof(T)> few;
  split_vectors(hn::ScalableTag<T>(), from, pairs, evens, odds, [&] {
    split_vectors(few, from, pairs, evens, odds, [&] { (kPlainLoadRows.*kPlain)(row, pairs, even, odd); });
  });
}

constexpr LoadRows kRows = {widen_f16,
                            widen_bf16,
                            round_f16,
                            round_bf16,
                            widen_bytes<std::int8_t, &LoadRows::widen_s8>,
                            widen_bytes<std::uint8_t, &LoadRows::widen_u8>,
                            split<std::uint8_t, &LoadRows::split_bytes>,
                            split<std::uint32_t, &LoadRows::split_words>};

}  // namespace

const LoadRows& rows_of_target() { return kRows; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(const LoadRows&, fast_load_rows, (), rows_of_target, ())

}  // namespace softtpu
#endif
