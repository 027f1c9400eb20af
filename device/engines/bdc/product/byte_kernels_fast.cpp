// Products of bytes with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include <algorithm>
#include <cstring>
#include <limits>

#include "device/engines/bdc/product/byte_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/product/byte_kernels_fast.cpp"
#define SOFTTPU_WITH_AVX3_DL
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/rows/simd.hpp"

// Machines of this target have the dot product of bytes, but the library does not ask the compiler for it.
#if HWY_TARGET == HWY_AVX3_DL
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

ByteKernels best_byte_kernels() { return kPlainByteKernels; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Ints = hn::ScalableTag<std::int32_t>;
using Words = hn::ScalableTag<std::uint32_t>;
// The processor's own type: compilers keep arrays of it in registers, which they do not with the library's.
using Register = decltype(hn::Vec<Ints>::raw);

#if HWY_TARGET == HWY_AVX3_DL
// Four products of an unsigned and a signed byte at once.
constexpr int kPerWord = 4;
constexpr bool kTurnsRight = true;
constexpr std::uint32_t kOnes = 0x01010101;
template <bool kLeftSigned>
HWY_INLINE void add_dot(Register& sum, Register values, Register factors) {
  // Written out, as GCC 12 keeps copies of the sums of its intrinsic in memory, which takes three times as long.
  if constexpr (kLeftSigned) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(values), "v"(factors));
  } else {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(factors), "v"(values));
  }
}

void pack_right(int rows, const std::uint8_t* const* from, int count, bool /*is_signed*/, std::uint8_t turn,
                std::uint32_t* words) {
  const hn::CappedTag<std::uint8_t, 32> d;  // tiles have a multiple of 32 columns
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto flip = hn::Set(d, turn);
  int i = 0;
  for (; i + kStep <= count; i += kStep) {
    hn::Vec<decltype(d)> row[kPerWord];
    for (int j = 0; j < kPerWord; ++j) row[j] = j < rows ? hn::Xor(hn::LoadU(d, from[j] + i), flip) : flip;
    hn::StoreInterleaved4(row[0], row[1], row[2], row[3], d, reinterpret_cast<std::uint8_t*>(words + i));
  }
  if (i == count) return;
  const std::uint8_t* rest[kPerWord] = {};
  for (int j = 0; j < rows; ++j) rest[j] = from[j] + i;
  kPlainByteKernels.pack_right(rows, rest, count - i, false, turn, words + i);
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

std::uint32_t pack_left(const std::uint8_t* row, int count, bool is_signed, std::uint32_t* words) {
  words[(count - 1) / kPerWord] = 0;
  std::memcpy(words, row, static_cast<unsigned>(count));
  return sum_of(row, count, is_signed);
}
#else
// Two products of 16-bit integers at once.
constexpr int kPerWord = 2;
constexpr bool kTurnsRight = false;
constexpr std::uint32_t kOnes = 0x00010001;
template <bool>
HWY_INLINE void add_dot(Register& sum, Register values, Register factors) {
#if HWY_TARGET == HWY_NEON
  const int16x8_t left = vreinterpretq_s16_s32(values), right = vreinterpretq_s16_s32(factors);
  const int32x4_t low = vmull_s16(vget_low_s16(left), vget_low_s16(right));
  sum = vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(left, right)));
#else
  const hn::Repartition<std::int16_t, Ints> d16;
  hn::Vec<Ints> unused = hn::Zero(Ints());
  // Only sums of neighbours: the second accumulator stays zero on x86.
  sum = hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(d16, hn::Vec<Ints>{values}),
                                      hn::BitCast(d16, hn::Vec<Ints>{factors}), hn::Vec<Ints>{sum}, unused)
            .raw;
#endif
}

std::int16_t widened(std::uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<std::int16_t>(static_cast<std::int8_t>(byte)) : std::int16_t{byte};
}

void pack_right(int rows, const std::uint8_t* const* from, int count, bool is_signed, std::uint8_t /*turn*/,
                std::uint32_t* words) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> unsigned_bytes;
  const hn::Rebind<std::int8_t, decltype(d)> signed_bytes;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  auto* out = reinterpret_cast<std::int16_t*>(words);
  int i = 0;
  for (; i + kStep <= count; i += kStep) {
    hn::Vec<decltype(d)> row[kPerWord];
    for (int j = 0; j < kPerWord; ++j) {
      row[j] = hn::Zero(d);
      if (j >= rows) continue;
      const auto bytes = hn::LoadU(unsigned_bytes, from[j] + i);
      row[j] = is_signed ? hn::PromoteTo(d, hn::BitCast(signed_bytes, bytes)) : hn::PromoteTo(d, bytes);
    }
    hn::StoreInterleaved2(row[0], row[1], d, out + i * kPerWord);
  }
  for (; i < count; ++i) {
    for (int j = 0; j < kPerWord; ++j)
      out[i * kPerWord + j] = j < rows ? widened(from[j][i], is_signed) : std::int16_t{0};
  }
}

std::uint32_t pack_left(const std::uint8_t* row, int count, bool is_signed, std::uint32_t* words) {
  auto* out = reinterpret_cast<std::int16_t*>(words);
  out[(count - 1) / kPerWord * kPerWord + 1] = 0;
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    out[k] = widened(row[k], is_signed);
    sum += static_cast<std::uint32_t>(std::int32_t{out[k]});
  }
  return sum;
}
#endif

void begin(int rows, const std::uint32_t* bases, const std::uint32_t* factors, const std::uint32_t* points,
           std::uint32_t* sums) {
  const Words d;
  for (int row = 0; row < rows; ++row, sums += kTileCols) {
    const auto start = hn::Set(d, 0U - bases[row]);
    const auto factor = hn::Set(d, 0U - factors[row]);
    if (factors[row] == 0) {
      for (int col = 0; col < kTileCols; col += kLanes) hn::StoreU(start, d, sums + col);
    } else {
      for (int col = 0; col < kTileCols; col += kLanes)
        hn::StoreU(hn::Add(start, hn::Mul(factor, hn::LoadU(d, points + col))), d, sums + col);
    }
  }
}

HWY_INLINE Register factor_at(const std::uint32_t* place) {
  return hn::Set(Ints(), static_cast<std::int32_t>(*place)).raw;
}

// acc += the products of kRows rows and kVectors vectors of columns.
template <bool kLeftSigned, int kRows, int kVectors>
HWY_INLINE void add_words(const ByteTile& tile, int row, int col, Register (&acc)[kRows][kVectors]) {
  const Ints d;
  const std::uint32_t* HWY_RESTRICT left = tile.left + row * tile.left_step;
  const std::int64_t step = tile.left_step;
  const auto* HWY_RESTRICT right = reinterpret_cast<const std::int32_t*>(tile.right) + col;
  const std::int64_t* HWY_RESTRICT offsets = tile.offsets;
  const int words = tile.size.inner;
  for (int k = 0; k < words; ++k) {
    const std::int32_t* HWY_RESTRICT place = right + offsets[k];
    Register values[kVectors];
    HWY_UNROLL(6)
    for (int v = 0; v < kVectors; ++v) values[v] = hn::LoadU(d, place + v * kLanes).raw;
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factors = factor_at(left + r * step + k);
      HWY_UNROLL(6)
      for (int v = 0; v < kVectors; ++v) add_dot<kLeftSigned>(acc[r][v], values[v], factors);
    }
  }
}

template <int kRows, int kVectors, bool kLeftSigned>
void byte_block(const ByteTile& tile, int row, int col, std::uint32_t* HWY_RESTRICT out) {
  const Ints d;
  auto* HWY_RESTRICT sums = reinterpret_cast<std::int32_t*>(out) + row * kTileCols + col;
  Register acc[kRows][kVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(6)
    for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::LoadU(d, sums + r * kTileCols + v * kLanes).raw;
  }
  add_words<kLeftSigned>(tile, row, col, acc);
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(6)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::Vec<Ints>{acc[r][v]}, d, sums + r * kTileCols + v * kLanes);
  }
}

template <int kRows, int kVectors, bool kLeftSigned, class T>
void ended_block(const ByteTile& tile, const QuickEnd& end, int row, int col, T* HWY_RESTRICT results) {
  const Ints d;
  const hn::Rebind<T, Ints> stored;
  Register acc[kRows][kVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    const auto start = factor_at(end.starts + row + r);
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) acc[r][v] = start;
  }
  add_words<kLeftSigned>(tile, row, col, acc);
  const int right = end.right;
  const auto low = hn::Set(d, end.low), high = hn::Set(d, end.high), bits = hn::Set(d, std::numeric_limits<T>::max());
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      const auto value = hn::ShiftRightSame(hn::Vec<Ints>{acc[r][v]}, right);
      // As in shifted_sums_fast.cpp: not TruncateTo.
      const auto kept = hn::And(hn::Min(hn::Max(value, low), high), bits);
      hn::StoreU(hn::DemoteTo(stored, kept), stored, results + (row + r) * kTileCols + col + v * kLanes);
    }
  }
}

template <bool kLeftSigned, class T>
void multiply_and_end_as(const ByteTile& tile, const QuickEnd& end, void* results) {
  for_each_block(tile.size.rows, tile.size.cols, [&](auto rows, auto vectors, int row, int col) HWY_ATTR {
    ended_block<decltype(rows)::value, decltype(vectors)::value, kLeftSigned>(tile, end, row, col,
                                                                              static_cast<T*>(results));
  });
}

void multiply_and_end(const ByteTile& tile, const QuickEnd& end, void* results) {
  if (end.result_bytes == 1) {
    const auto make =
        tile.left_signed ? multiply_and_end_as<true, std::uint8_t> : multiply_and_end_as<false, std::uint8_t>;
    return make(tile, end, results);
  }
  const auto make =
      tile.left_signed ? multiply_and_end_as<true, std::uint16_t> : multiply_and_end_as<false, std::uint16_t>;
  make(tile, end, results);
}

template <bool kLeftSigned>
void multiply_as(const ByteTile& tile, std::uint32_t* sums) {
  // One row alone takes all columns at once: its few sums would wait for each other.
  if (tile.size.rows == 1) {
    constexpr int kWide = HWY_MIN(6, kTileCols / kLanes);
    for (int col = 0; col < tile.size.cols; col += kWide * kLanes)
      byte_block<1, kWide, kLeftSigned>(tile, 0, col, sums);
    return;
  }
  for_each_block(tile.size.rows, tile.size.cols, [&](auto rows, auto vectors, int row, int col) HWY_ATTR {
    byte_block<decltype(rows)::value, decltype(vectors)::value, kLeftSigned>(tile, row, col, sums);
  });
}

void multiply(const ByteTile& tile, std::uint32_t* sums) {
  tile.left_signed ? multiply_as<true>(tile, sums) : multiply_as<false>(tile, sums);
}

}  // namespace

ByteKernels best_byte_kernels() {
  return {kPerWord, kOnes, kTurnsRight, pack_right, pack_left, begin, multiply, multiply_and_end};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(ByteKernels, fast_byte_kernels, (), best_byte_kernels, ())

}  // namespace softtpu
#endif
