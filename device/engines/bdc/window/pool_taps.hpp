// The loops of poolings and depthwise convolutions over one row of windows, given where each tap reads: plain or SIMD.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

// SIMD loops read whole vectors: so many elements behind a row may be read, whatever they hold.
inline constexpr int kTapSlack = 64;

// rows[k][i] is what tap k of window i reads. out[i] is of the pooling's stored type.
template <class P>
struct TapRows {
  const P* const* rows = nullptr;
  int taps = 0;
  int count = 0;  // windows
};

struct PoolTaps {
  // Two running sums from `even` and `odd`: products of taps 0, 2 ... and 1, 3 ..., then both added, each step rounded
  // to the type; a NaN is the type's only one.
  using SumFloats = void (*)(const TapRows<float>& taps, const float* weights, float even, float odd, void* out);
  SumFloats sum_f32, sum_f16, sum_bf16;
  // start + products, modulo 2^32. As many as kTapSlack elements behind the results may be written as well.
  template <class P>
  using SumInts = void (*)(const TapRows<P>& taps, const std::uint32_t* weights, std::uint32_t start,
                           std::uint32_t* out);
  SumInts<std::uint32_t> sum_ints;
  SumInts<std::int8_t> sum_s8;
  SumInts<std::uint8_t> sum_u8;
};
PoolTaps plain_pool_taps();
PoolTaps fast_pool_taps();
PoolTaps pool_taps();

// Which of floats that none is better than another is kept.
enum class Equals : std::uint8_t {
  kLast,      // the last one, NaNs as well
  kFirst,     // the first one and no NaN (but a minimum of 16-bit floats takes NaNs over)
  kFirstTap,  // as kFirst, but a maximum begins with the first tap, and every minimum takes NaNs over
};

// The largest or smallest of the taps and of the least or greatest finite value. Floats are read as f32 with every bit
// of a NaN, integers as they are stored.
using BestRow = void (*)(const void* const* rows, int taps, int count, void* out);
BestRow plain_best_row(Dtype type, bool largest, Equals equals);
BestRow fast_best_row(Dtype type, bool largest, Equals equals);
BestRow best_row(Dtype type, bool largest, Equals equals);

}  // namespace softtpu
