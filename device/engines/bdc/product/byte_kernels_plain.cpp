// The straightforward inner loops of products of bytes.
#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/product.hpp"

namespace softtpu {
namespace {

constexpr int kPerWord = 4;

std::uint32_t widen(std::uint32_t byte, bool is_signed) {
  return is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)) : byte & 0xFFU;
}

void pack_right(int rows, const std::uint8_t* const* from, int count, bool /*is_signed*/, std::uint8_t turn,
                std::uint32_t* words) {
  for (int i = 0; i < count; ++i) {
    words[i] = 0;
    for (int j = 0; j < kPerWord; ++j) {
      const unsigned byte = (j < rows ? from[j][i] : 0U) ^ turn;
      words[i] |= byte << (8 * j);
    }
  }
}

std::uint32_t pack_left(const std::uint8_t* row, int count, bool is_signed, std::uint32_t* words) {
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    if (k % kPerWord == 0) words[k / kPerWord] = 0;
    words[k / kPerWord] |= std::uint32_t{row[k]} << (8 * (k % kPerWord));
    sum += widen(row[k], is_signed);
  }
  return sum;
}

void begin(int rows, const std::uint32_t* bases, const std::uint32_t* factors, const std::uint32_t* points,
           std::uint32_t* sums) {
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < kTileCols; ++col)
      sums[row * kTileCols + col] = 0U - (bases[row] + factors[row] * points[col]);
  }
}

void multiply(const ByteTile& tile, std::uint32_t* sums) {
  for (int row = 0; row < tile.size.rows; ++row) {
    std::uint32_t* sum = sums + row * kTileCols;
    for (int k = 0; k < tile.size.inner; ++k) {
      const std::uint32_t left = tile.left[row * tile.left_step + k];
      const std::uint32_t* right = tile.right + tile.offsets[k];
      for (int j = 0; j < kPerWord; ++j) {
        const std::uint32_t factor = widen(left >> (8 * j), tile.left_signed);
        for (int col = 0; col < tile.size.cols; ++col)
          sum[col] += factor * widen(right[col] >> (8 * j), tile.right_signed);
      }
    }
  }
}

}  // namespace

const ByteKernels kPlainByteKernels = {kPerWord, 0x01010101U, false, pack_right, pack_left, begin, multiply, nullptr};

}  // namespace softtpu
