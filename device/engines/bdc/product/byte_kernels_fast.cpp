// Products of bytes with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include <algorithm>
#include <cstring>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/load.hpp"
#include "device/numeric/by_type.hpp"

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

std::uint32_t pack_left(const std::uint8_t* row, int count, bool is_signed, std::uint32_t* words) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto flip = hn::Set(d, is_signed ? 0x80 : 0);
  auto* out = reinterpret_cast<std::uint8_t*>(words);
  auto sums = hn::Zero(d64);
  int i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto bytes = hn::LoadU(d, row + i);
    hn::StoreU(bytes, d, out + i);
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(bytes, flip)));
  }
  if (i < count) {
    const auto rest = static_cast<std::size_t>(count - i);
    const auto bytes = hn::MaskedLoad(hn::FirstN(d, rest), d, row + i);
    hn::BlendedStore(bytes, hn::FirstN(d, (rest + kPerWord - 1) / kPerWord * kPerWord), d, out + i);
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(bytes, flip)));
    i += kStep;
  }
  // Each byte that was turned, those behind the row too, has become 128 larger.
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) -
         (is_signed ? 128U : 0U) * static_cast<std::uint32_t>(i);
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

// Sums that are made at once have blocks of up to four vectors, whose bytes fill one.
constexpr int kMostVectors = 4;

using ByteVector = hn::Vec<hn::ScalableTag<std::uint8_t> >;

// The bytes of values cut to the type's range: of two vectors of 16 bits, those of the second behind those of the first
// in each block of 16 bytes.
template <class T, class V>
HWY_INLINE ByteVector bytes_of(V low, V high) {
  constexpr bool kSigned = std::is_signed_v<T>;
#if HWY_TARGET == HWY_NEON
  if constexpr (kSigned)
    return ByteVector{vreinterpretq_u8_s8(vcombine_s8(vqmovn_s16(low.raw), vqmovn_s16(high.raw)))};
  else
    return ByteVector{vcombine_u8(vqmovun_s16(low.raw), vqmovun_s16(high.raw))};
#elif SOFTTPU_AVX512
  return ByteVector{kSigned ? _mm512_packs_epi16(low.raw, high.raw) : _mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
  return ByteVector{kSigned ? _mm256_packs_epi16(low.raw, high.raw) : _mm256_packus_epi16(low.raw, high.raw)};
#else
  return ByteVector{kSigned ? _mm_packs_epi16(low.raw, high.raw) : _mm_packus_epi16(low.raw, high.raw)};
#endif
}

// By a number of places for each lane, where that is one instruction.
template <class V>
HWY_INLINE V shifted_right(V value, int places) {
#if HWY_TARGET == HWY_AVX2 || SOFTTPU_AVX512
  return value >> hn::Set(Ints(), places);
#else
  return hn::ShiftRightSame(value, places);
#endif
}

// All lanes, or the first `count` of them and no byte behind.
template <bool kAll, class D, class V, class T>
HWY_INLINE void store_first(V values, D d, int count, T* to) {
  if constexpr (kAll) {
    hn::StoreU(values, d, to);
  } else {
    count = HWY_MIN(count, static_cast<int>(hn::MaxLanes(d)));
    if (count <= 0) return;
#if SOFTTPU_AVX512
    hn::BlendedStore(values, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
    T lanes[hn::MaxLanes(d)];
    hn::StoreU(values, d, lanes);
    copy_run(lanes, count, to);
#endif
  }
}

// The results of a row's sums, all or `count`: of kVectors vectors, the rest of which repeat the last one. (Compilers
// do not keep an array in registers that is handed on.)
template <bool kAll, int kVectors, class T>
HWY_INLINE void store_ended(Register a, Register b, Register c, Register e, int right, int count, T* results) {
  const Ints d;
  const auto each = [&](auto store) HWY_ATTR {
    store(0, hn::Vec<Ints>{a});
    if constexpr (kVectors > 1) store(1, hn::Vec<Ints>{b});
    if constexpr (kVectors > 2) store(2, hn::Vec<Ints>{c});
    if constexpr (kVectors > 2) store(3, hn::Vec<Ints>{e});
  };
  if constexpr (sizeof(T) == 2) {
    const hn::Rebind<T, Ints> stored;
    each([&](int v, hn::Vec<Ints> sums) HWY_ATTR {
      const auto ended = hn::DemoteTo(stored, shifted_right(sums, right));
      store_first<kAll>(ended, stored, count - v * kLanes, results + v * kLanes);
    });
  } else {
    const hn::Repartition<std::int16_t, Ints> d16;
    const auto halves = [&](Register first, Register second) HWY_ATTR {
      return hn::ReorderDemote2To(d16, shifted_right(hn::Vec<Ints>{first}, right),
                                  shifted_right(hn::Vec<Ints>{second}, right));
    };
    const auto low = halves(a, b);
    const auto high = kVectors > 2 ? halves(c, e) : low;
    // Each block of 16 bytes has four results of each vector.
    constexpr int kBlocks = kLanes / 4;
    alignas(64) std::int32_t order[kLanes];
    for (int i = 0; i < kLanes; ++i) order[i] = i % kBlocks * 4 + i / kBlocks;
    const auto bytes = hn::BitCast(d, bytes_of<T>(low, high));
    const hn::Repartition<T, Ints> d8;
    const auto ordered = kBlocks == 1 ? bytes : hn::TableLookupLanes(bytes, hn::SetTableIndices(d, order));
    store_first<kAll && kVectors == kMostVectors>(hn::BitCast(d8, ordered), d8, HWY_MIN(count, kVectors * kLanes),
                                                  results);
  }
}

template <bool kAll, int kVectors, class T>
HWY_INLINE void store_row(const Register (&sums)[kVectors], int right, int count, T* results) {
  if constexpr (sizeof(T) == 4) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v)
      store_first<kAll>(hn::Vec<Ints>{sums[v]}, Ints(), count - v * kLanes, results + v * kLanes);
  } else {
    constexpr int kLast = kVectors - 1;
    store_ended<kAll, kVectors>(sums[0], sums[HWY_MIN(1, kLast)], sums[HWY_MIN(2, kLast)], sums[kLast], right, count,
                                results);
  }
}

// Results of kRows rows in the columns [col, end), kVectors whole vectors at a time where kAll, or one block that may
// not be whole. What all of them need is held in local values: results are bytes, and a compiler has to expect that
// storing bytes changes anything else. How bases are held decides with GCC 12 whether the sums stay in registers.
template <int kRows, int kVectors, bool kAll, bool kLeftSigned, class T>
HWY_INLINE void make_rows(const ByteTile& whole, const SumStart& start, int right, int row, int col, int end,
                          void* const* results) {
  const Ints d;
  const ByteTile tile = whole;
  const auto* points = reinterpret_cast<const std::int32_t*>(start.points);
  const std::uint32_t* factors = start.factors + row;
  const std::uint32_t* bases = start.bases + row;
  T* to[kRows];
  Register held[kRows];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    to[r] = static_cast<T*>(results[row + r]);
    held[r] = hn::Neg(hn::Vec<Ints>{factor_at(bases + r)}).raw;
  }
  for (; col < end; col += kVectors * kLanes) {
    Register acc[kRows][kVectors];
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const Register base = sizeof(T) == 4 ? held[r] : hn::Neg(hn::Vec<Ints>{factor_at(bases + r)}).raw;
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) acc[r][v] = base;
    }
    // Which results have points is known here: a branch would keep the sums of the loop in memory.
    if constexpr (sizeof(T) == 4) {
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r) {
        const hn::Vec<Ints> factor{factor_at(factors + r)};
        HWY_UNROLL(4)
        for (int v = 0; v < kVectors; ++v) {
          const auto off = hn::Mul(factor, hn::LoadU(d, points + col + v * kLanes));
          acc[r][v] = hn::Sub(hn::Vec<Ints>{acc[r][v]}, off).raw;
        }
      }
    }
    add_words<kLeftSigned>(tile, row, col, acc);
    const int count = tile.size.cols - col;
    if (kAll || HWY_LIKELY(count >= kVectors * kLanes)) {
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r) store_row<true, kVectors>(acc[r], right, kVectors * kLanes, to[r] + col);
    } else {
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r) store_row<false, kVectors>(acc[r], right, count, to[r] + col);
    }
  }
}

template <bool kLeftSigned, class T>
void make_as(const ByteTile& tile, const SumStart& start, int right, void* const* results) {
  const int cols = tile.size.cols;
  const auto columns = [&](auto vectors, auto all, int col, int end) {
    constexpr int kVectors = decltype(vectors)::value;
    constexpr int kRows = kVectors == kMostVectors ? kBlockRows / 2 : kBlockRows;
    if (col >= end) return;
    for_each_row_block<kRows>(tile.size.rows, [&](auto rows, int row) HWY_ATTR {
      make_rows<decltype(rows)::value, kVectors, decltype(all)::value, kLeftSigned, T>(tile, start, right, row, col,
                                                                                       end, results);
    });
  };
  const std::integral_constant<int, kMostVectors> most;
  const int whole = cols / (kMostVectors * kLanes) * (kMostVectors * kLanes), rest = cols - whole;
  // Sums that stay as they are take one loop for both kinds of blocks: with GCC 12 it alone keeps them in registers.
  columns(most, std::bool_constant<(sizeof(T) < 4)>(), 0, whole);
  if (rest > (kMostVectors - 1) * kLanes) return columns(most, std::false_type(), whole, cols);
  const int two = rest > kLanes ? whole + 2 * kLanes : whole;
  columns(std::integral_constant<int, 2>(), std::false_type(), whole, two);
  columns(std::integral_constant<int, 1>(), std::false_type(), two, cols);
}

template <class T>
void make_results(const ByteTile& tile, const SumStart& start, int right, void* const* results) {
  tile.left_signed ? make_as<true, T>(tile, start, right, results) : make_as<false, T>(tile, start, right, results);
}

void make(const ByteTile& tile, const SumStart& start, const QuickEnd& end, void* const* results) {
  if (size_of(end.result) == 4) return make_results<std::int32_t>(tile, start, 0, results);
  for_int_type(end.result, [&]<class T>(T) {
    if constexpr (sizeof(T) < 4) make_results<T>(tile, start, end.right, results);
  });
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

ByteKernels best_byte_kernels() { return {kPerWord, kOnes, kTurnsRight, pack_right, pack_left, make, multiply}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(ByteKernels, fast_byte_kernels, (), best_byte_kernels, ())

}  // namespace softtpu
#endif
