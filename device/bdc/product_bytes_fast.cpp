// Products of bytes with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include <algorithm>
#include <vector>

#include "device/bdc/product_kernels.hpp"

#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/bdc/product_bytes_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/bdc/product.hpp"
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

#if HWY_TARGET == HWY_AVX3_DL
// Four products of an unsigned and a signed byte at once: the right matrix is moved to unsigned and the left one to
// signed bytes, and the sums are put right afterwards.
constexpr int kDepthStep = 4;
constexpr bool kShiftsSigns = true;
using Element = std::uint8_t;
HWY_INLINE hn::Vec<Ints> add_dot(hn::Vec<Ints> sum, hn::Vec<Ints> values, hn::Vec<Ints> factors) {
  return hn::Vec<Ints>{_mm512_dpbusd_epi32(sum.raw, values.raw, factors.raw)};
}

// Up to four rows side by side; rows behind the last one are zeros.
void pack_right(int rows, bool is_signed, const std::uint8_t* right, Element* out) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const auto flip = hn::Set(d, is_signed ? 0x80 : 0);
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
constexpr bool kShiftsSigns = false;
using Element = std::int16_t;
HWY_INLINE hn::Vec<Ints> add_dot(hn::Vec<Ints> sum, hn::Vec<Ints> values, hn::Vec<Ints> factors) {
  const hn::Repartition<std::int16_t, Ints> d16;
  hn::Vec<Ints> unused = hn::Zero(Ints());
  // Only sums of neighbours: the second accumulator stays zero on x86.
  return hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(d16, values), hn::BitCast(d16, factors), sum, unused);
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

Element left_element(std::uint8_t byte, bool is_signed) {
  if (kShiftsSigns) return static_cast<Element>(is_signed ? byte : byte ^ 0x80);
  return static_cast<Element>(is_signed ? static_cast<std::int8_t>(byte) : byte);
}

template <int kRows>
void byte_block(int quads, const std::int32_t* HWY_RESTRICT left, std::int64_t step,
                const std::int32_t* HWY_RESTRICT right, std::uint32_t* HWY_RESTRICT sums) {
  const Ints d;
  auto* out = reinterpret_cast<std::int32_t*>(sums);
  hn::Vec<Ints> acc[kRows][kBlockVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) acc[r][v] = hn::LoadU(d, out + r * kTileCols + v * kLanes);
  }
  for (int k = 0; k < quads; ++k) {
    hn::Vec<Ints> values[kBlockVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) values[v] = hn::LoadU(d, right + k * kTileCols + v * kLanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factors = hn::Set(d, left[r * step + k]);
      HWY_UNROLL(3)
      for (int v = 0; v < kBlockVectors; ++v) acc[r][v] = add_dot(acc[r][v], values[v], factors);
    }
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kBlockVectors; ++v) hn::StoreU(acc[r][v], d, out + r * kTileCols + v * kLanes);
  }
}

// The operands of one tile, kDepthStep neighbours of the inner dimension side by side; kept from tile to tile.
struct ByteTile {
  std::vector<Element> left, right;
};

void pack_bytes(TileSize size, int steps, bool left_signed, bool right_signed, const std::uint8_t* left,
                std::int64_t step, const std::uint8_t* right, ByteTile& tile) {
  const std::size_t width = static_cast<std::size_t>(steps) * kDepthStep;
  tile.left.resize(static_cast<std::size_t>(size.rows) * width);
  for (int row = 0; row < size.rows; ++row) {
    Element* out = tile.left.data() + static_cast<std::size_t>(row) * width;
    for (int k = 0; k < size.inner; ++k) out[k] = left_element(left[row * step + k], left_signed);
    std::fill(out + size.inner, out + width, Element());
  }
  tile.right.resize(width * kTileCols);
  for (int at = 0; at < steps; ++at) {
    pack_right(size.inner - at * kDepthStep, right_signed, right + at * kDepthStep * kTileCols,
               tile.right.data() + static_cast<std::size_t>(at) * kTileCols * kDepthStep);
  }
}

// What moving the signs has changed: sum of (a - p)(b + q) for sum of a * b, where p and q are 128 or 0.
void put_signs_right(TileSize size, bool left_signed, bool right_signed, const ByteTile& tile, int steps,
                     const std::uint8_t* right, std::uint32_t* sums) {
  const std::size_t width = static_cast<std::size_t>(steps) * kDepthStep;
  std::uint32_t columns[kTileCols] = {};
  if (!left_signed) {
    for (int k = 0; k < size.inner; ++k) {
      for (int col = 0; col < size.cols; ++col) {
        const std::uint8_t byte = right[k * kTileCols + col];
        columns[col] += right_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)) : byte;
      }
    }
  }
  for (int row = 0; row < size.rows; ++row) {
    std::uint32_t total = 0;
    if (right_signed) {
      const Element* factors = tile.left.data() + static_cast<std::size_t>(row) * width;
      for (int k = 0; k < size.inner; ++k) total += static_cast<std::uint32_t>(static_cast<std::int8_t>(factors[k]));
    }
    for (int col = 0; col < size.cols; ++col) sums[row * kTileCols + col] += 128U * columns[col] - 128U * total;
  }
}

void bytes(TileSize size, bool left_signed, bool right_signed, const std::uint8_t* left, std::int64_t step,
           const std::uint8_t* right, std::uint32_t* sums) {
  thread_local ByteTile tile;
  const int steps = (size.inner + kDepthStep - 1) / kDepthStep;
  pack_bytes(size, steps, left_signed, right_signed, left, step, right, tile);
  const auto* factors = reinterpret_cast<const std::int32_t*>(tile.left.data());
  const auto* values = reinterpret_cast<const std::int32_t*>(tile.right.data());
  for (int col = 0; col < size.cols; col += kLanes * kBlockVectors) {
    for_each_row_block(size.rows, [&](auto count, int row) HWY_ATTR {
      byte_block<decltype(count)::value>(steps, factors + std::int64_t{row} * steps, steps, values + col,
                                         sums + row * kTileCols + col);
    });
  }
  if (kShiftsSigns) put_signs_right(size, left_signed, right_signed, tile, steps, right, sums);
}

}  // namespace

ByteKernel byte_kernel() { return bytes; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

HWY_EXPORT(byte_kernel);

decltype(ProductKernels::bytes) fast_byte_kernel() { return HWY_DYNAMIC_DISPATCH(byte_kernel)(); }

}  // namespace softtpu
#endif
