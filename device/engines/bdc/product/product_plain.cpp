// The straightforward inner loops of products.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/product_kernels.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

constexpr std::uint32_t kInfBits = 0x7F800000U;

// What a group gives that holds an infinity or a NaN: opposite infinities cancel to NaN, an infinity hides a NaN where
// that does not win.
float special_group_sum(const std::uint32_t* products, int count, bool nan_wins) {
  bool plus = false;
  bool minus = false;
  for (int i = 0; i < count; ++i) {
    plus = plus || products[i] == kInfBits;
    minus = minus || products[i] == (kInfBits | 0x80000000U);
    if (nan_wins && is_nan_bits(products[i])) return std::bit_cast<float>(kNanInvalid);
  }
  if (plus == minus) return std::bit_cast<float>(kNanInvalid);
  return std::bit_cast<float>(plus ? kInfBits : kInfBits | 0x80000000U);
}

void two_lanes(TileSize size, const float* left, std::int64_t step, const float* right, const std::int64_t* offsets,
               float* first, float* second) {
  for (int row = 0; row < size.rows; ++row) {
    for (int k = 0; k < size.inner; ++k) {
      float* lane = (k % 2 == 0 ? first : second) + row * kTileCols;
      const float factor = left[row * step + k];
      const float* values = right + offsets[k];
      for (int col = 0; col < size.cols; ++col) {
        const float product = float_product(factor, values[col]);
        lane[col] = lane[col] + product;
      }
    }
  }
}

void join(int rows, const float* other, float* sums) {
  for (int i = 0; i < rows * kTileCols; ++i) {
    const float sum = sums[i] + other[i];
    sums[i] = std::isnan(sum) ? std::bit_cast<float>(kNanInvalid) : sum;
  }
}

void joined_lanes(TileSize size, const float* left, std::int64_t step, const float* right, const std::int64_t* offsets,
                  bool add, float* sums) {
  for (int row = 0; row < size.rows; ++row, left += step, sums += kTileCols) {
    float first[kTileCols] = {};
    float second[kTileCols] = {};
    two_lanes({1, size.inner, size.cols}, left, step, right, offsets, first, second);
    join(1, second, first);
    if (add) {
      join(1, first, sums);
    } else {
      std::copy_n(first, kTileCols, sums);
    }
  }
}

void groups(TileSize size, int group, const float* left, std::int64_t step, const float* right,
            const std::int64_t* offsets, float* sums) {
  for (int row = 0; row < size.rows; ++row) {
    for (int k = 0; k < size.inner; k += group) {
      const int count = std::min(group, size.inner - k);
      for (int col = 0; col < size.cols; ++col) {
        float& sum = sums[row * kTileCols + col];
        sum = sum + aligned_group_sum(left + row * step + k, right, offsets + k, col, count, size.nan_wins);
      }
    }
  }
}

}  // namespace

float aligned_group_sum(const float* left, const float* right, const std::int64_t* offsets, int col, int count,
                        bool nan_wins) {
  std::array<std::uint32_t, kMostGroupTerms> products;
  std::uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    const float product = float_product(left[i], right[offsets[i] + col]);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(product);
    products[static_cast<std::size_t>(i)] = bits;
    largest = std::max(largest, bits & 0x7FFFFFFFU);
  }
  if (largest >= kInfBits) return special_group_sum(products.data(), count, nan_wins);
  const int exponent = static_cast<int>(largest >> 23);
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t bits = products[static_cast<std::size_t>(i)];
    const int own = static_cast<int>(bits >> 23 & 0xFFU);
    // One guard bit below the 24 of the largest product; what lies lower is cut off.
    const std::int64_t mantissa = own == 0 ? 0 : static_cast<std::int64_t>((bits & 0x7FFFFFU) | 0x800000U) << 1;
    const std::int64_t aligned = mantissa >> std::min(exponent - own, 62);
    sum += (bits >> 31) != 0 ? -aligned : aligned;
  }
  // The sum has at most 32 bits: exact in double, and rounded once by the conversion.
  return flush(static_cast<float>(std::ldexp(static_cast<double>(sum), exponent - 127 - 24)));
}

const ProductKernels kPlainProductKernels = {two_lanes, joined_lanes, groups, join};

}  // namespace softtpu
