// Products of bytes with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include <algorithm>
#include <cstring>

#include "device/bdc/product_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/bdc/product_bytes_fast.cpp"
#include "device/bdc/simd_targets.hpp"

#include "device/bdc/product.hpp"
#include "device/bdc/scratch.hpp"
#include "device/bdc/simd.hpp"

// Machines of this target have the dot product of bytes, but the library does not ask the compiler for it.
#if HWY_TARGET == HWY_AVX3_DL
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace softtpu {
namespace HWY_NAMESPACE {

using ByteKernel = decltype(ProductKernels::bytes);

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

ByteKernel byte_kernel() { return kPlainProductKernels.bytes; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Ints = hn::ScalableTag<std::int32_t>;
// The processor's own type: compilers keep arrays of it in registers, which they do not with the library's.
using Register = decltype(hn::Vec<Ints>::raw);

#if HWY_TARGET == HWY_AVX3_DL
// Four products of an unsigned and a signed byte at once. Operands of which one is signed are taken as they are; else
// the right one is moved to the other kind of byte, and the sums are put right by the sums of the left rows.
constexpr int kDepthStep = 4;
constexpr bool kDotOfBytes = true;
constexpr std::int32_t kOnes = 0x01010101;
using Element = std::uint8_t;
template <bool kLeftSigned>
HWY_INLINE void add_dot(Register& sum, Register values, Register factors) {
  // Written out, as GCC 12 keeps copies of the sums of its intrinsic in memory, which takes three times as long.
  if constexpr (kLeftSigned) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(values), "v"(factors));
  } else {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(factors), "v"(values));
  }
}

// Up to four rows side by side; rows behind the last one are zeros.
void pack_right(int rows, bool moved, const std::uint8_t* right, Element* out) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const auto flip = hn::Set(d, moved ? 0x80 : 0);
  for (int col = 0; col < kTileCols; col += static_cast<int>(hn::MaxLanes(d))) {
    hn::Vec<decltype(d)> row[kDepthStep];
    for (int i = 0; i < kDepthStep; ++i) {
      row[i] = i < rows ? hn::Xor(hn::LoadU(d, right + i * kTileCols + col), flip) : hn::Zero(d);
    }
    hn::StoreInterleaved4(row[0], row[1], row[2], row[3], d, out + col * kDepthStep);
  }
}
#else
// Two products of 16-bit integers at once.
constexpr int kDepthStep = 2;
constexpr bool kDotOfBytes = false;
constexpr std::int32_t kOnes = 0x00010001;
using Element = std::int16_t;
template <bool>
HWY_INLINE void add_dot(Register& sum, Register values, Register factors) {
  const hn::Repartition<std::int16_t, Ints> d16;
  hn::Vec<Ints> unused = hn::Zero(Ints());
  // Only sums of neighbours: the second accumulator stays zero on x86.
  sum = hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(d16, hn::Vec<Ints>{values}),
                                      hn::BitCast(d16, hn::Vec<Ints>{factors}), hn::Vec<Ints>{sum}, unused)
            .raw;
}

// Up to two rows side by side; rows behind the last one are zeros.
void pack_right(int rows, bool is_signed, const std::uint8_t* right, Element* out) {
  const hn::CappedTag<std::int16_t, 16> d;
  const hn::Rebind<std::uint8_t, decltype(d)> unsigned_bytes;
  const hn::Rebind<std::int8_t, decltype(d)> signed_bytes;
  for (int col = 0; col < kTileCols; col += static_cast<int>(hn::MaxLanes(d))) {
    hn::Vec<decltype(d)> row[kDepthStep];
    for (int i = 0; i < kDepthStep; ++i) {
      row[i] = hn::Zero(d);
      if (i >= rows) continue;
      const auto bytes = hn::LoadU(unsigned_bytes, right + i * kTileCols + col);
      row[i] = is_signed ? hn::PromoteTo(d, hn::BitCast(signed_bytes, bytes)) : hn::PromoteTo(d, bytes);
    }
    hn::StoreInterleaved2(row[0], row[1], d, out + col * kDepthStep);
  }
}
#endif

// One tile for the loops below: rows of the left matrix as they are read, packed rows of the right one, and what moving
// the right bytes has added to every sum of a row.
struct Operands {
  const std::uint8_t* left;
  std::int64_t left_step;  // bytes
  const std::int32_t* right;
  const std::uint32_t* excess;
  int steps;
};

HWY_INLINE Register factor_at(const std::uint8_t* place) {
  std::int32_t factor;
  std::memcpy(&factor, place, sizeof(factor));
  return hn::Set(Ints(), factor).raw;
}

template <int kRows, bool kLeftSigned>
void byte_block(const Operands& tile, int row, int col, std::uint32_t* HWY_RESTRICT sums) {
  const Ints d;
  const std::uint8_t* HWY_RESTRICT left = tile.left + row * tile.left_step;
  const std::int64_t step = tile.left_step;
  const std::int32_t* HWY_RESTRICT right = tile.right + col;
  Register acc[kRows][kBlockVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) acc[r][v] = hn::Zero(d).raw;
  }
  for (int k = 0; k < tile.steps; ++k) {
    Register values[kBlockVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) values[v] = hn::Load(d, right + k * kTileCols + v * kLanes).raw;
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factors = factor_at(left + r * step + k * 4);
      HWY_UNROLL(3)
      for (int v = 0; v < kBlockVectors; ++v) add_dot<kLeftSigned>(acc[r][v], values[v], factors);
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    auto* out = reinterpret_cast<std::int32_t*>(sums) + (row + r) * kTileCols + col;
    const auto excess = hn::Set(d, static_cast<std::int32_t>(tile.excess[row + r]));
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) {
      const auto sum = hn::Add(hn::LoadU(d, out + v * kLanes), hn::Sub(hn::Vec<Ints>{acc[r][v]}, excess));
      hn::StoreU(sum, d, out + v * kLanes);
    }
  }
}

template <bool kLeftSigned>
void add_products(TileSize size, const Operands& tile, std::uint32_t* sums) {
  for (int col = 0; col < size.cols; col += kLanes * kBlockVectors) {
    for_each_row_block(size.rows, [&](auto count, int row) HWY_ATTR {
      byte_block<decltype(count)::value, kLeftSigned>(tile, row, col, sums);
    });
  }
}

template <bool kLeftSigned>
void add_columns(TileSize size, const Operands& tile, std::int32_t excess, std::uint32_t* column_sums) {
  const Ints d;
  for (int col = 0; col < size.cols; col += kLanes) {
    Register sum = hn::Set(d, -excess).raw;
    for (int k = 0; k < tile.steps; ++k) {
      add_dot<kLeftSigned>(sum, hn::Load(d, tile.right + k * kTileCols + col).raw, hn::Set(d, kOnes).raw);
    }
    auto* out = reinterpret_cast<std::int32_t*>(column_sums) + col;
    hn::StoreU(hn::Add(hn::LoadU(d, out), hn::Vec<Ints>{sum}), d, out);
  }
}

// The sum of bytes as they are read.
std::uint32_t sum_of(const std::uint8_t* bytes, int count, bool is_signed) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto flip = hn::Set(d, is_signed ? 0x80 : 0);
  auto sums = hn::Zero(d64);
  int i = 0;
  for (; i + kStep <= count; i += kStep) sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, bytes + i), flip)));
  auto sum = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) -
             (is_signed ? 128U : 0U) * static_cast<std::uint32_t>(i);
  for (; i < count; ++i) sum += is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(bytes[i])) : bytes[i];
  return sum;
}

// The left rows as 16-bit integers, filled up with zeros.
void pack_left(TileSize size, int steps, bool is_signed, const std::uint8_t* left, std::int64_t step,
               std::int16_t* out) {
  for (int row = 0; row < size.rows; ++row, left += step) {
    for (int k = 0; k < size.inner; ++k)
      out[k] = is_signed ? static_cast<std::int16_t>(static_cast<std::int8_t>(left[k])) : std::int16_t{left[k]};
    std::fill(out + size.inner, out + steps * 2, std::int16_t{0});
    out += steps * 2;
  }
}

void bytes(TileSize size, bool left_signed, bool right_signed, const std::uint8_t* left, std::int64_t step,
           const std::uint8_t* right, std::uint32_t* sums, std::uint32_t* column_sums) {
  thread_local Scratch<Element> packed;
  thread_local Scratch<std::uint32_t> excesses;
  const int steps = (size.inner + kDepthStep - 1) / kDepthStep;
  const bool moved = kDotOfBytes && left_signed == right_signed;
  Element* values = packed.room(std::int64_t{steps} * kDepthStep * kTileCols);
  for (int at = 0; at < steps; ++at) {
    pack_right(size.inner - at * kDepthStep, kDotOfBytes ? moved : right_signed, right + at * kDepthStep * kTileCols,
               values + std::int64_t{at} * kDepthStep * kTileCols);
  }
  // A signed byte moved to an unsigned one is 128 larger, the other way it is 128 smaller.
  const std::uint32_t by = !moved ? 0U : right_signed ? 128U : static_cast<std::uint32_t>(-128);
  std::uint32_t* excess = excesses.room(size.rows);
  for (int row = 0; row < size.rows; ++row)
    excess[row] = moved ? by * sum_of(left + row * step, size.inner, left_signed) : 0U;
  Operands tile{left, step, reinterpret_cast<const std::int32_t*>(values), excess, steps};
  if constexpr (!kDotOfBytes) {
    thread_local Scratch<std::int16_t> packed_left;
    std::int16_t* rows = packed_left.room(std::int64_t{size.rows} * steps * 2);
    pack_left(size, steps, left_signed, left, step, rows);
    tile.left = reinterpret_cast<const std::uint8_t*>(rows);
    tile.left_step = std::int64_t{steps} * 4;
  }
  const auto columns_excess = static_cast<std::int32_t>(by * static_cast<std::uint32_t>(size.inner));
  if (left_signed) {
    add_products<true>(size, tile, sums);
    if (column_sums != nullptr) add_columns<true>(size, tile, columns_excess, column_sums);
  } else {
    add_products<false>(size, tile, sums);
    if (column_sums != nullptr) add_columns<false>(size, tile, columns_excess, column_sums);
  }
}

}  // namespace

ByteKernel byte_kernel() { return bytes; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(decltype(ProductKernels::bytes), fast_byte_kernel, (), byte_kernel, ())

}  // namespace softtpu
#endif
