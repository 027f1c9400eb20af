// The straightforward inner loops of products of bytes.
#include <algorithm>
#include <limits>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/memory/scratch.hpp"
#include "device/numeric/by_type.hpp"

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

// The products of one row.
void add_row(const ByteTile& tile, int row, std::uint32_t* sums) {
  for (int k = 0; k < tile.size.inner; ++k) {
    const std::uint32_t left = tile.left[row * tile.left_step + k];
    const std::uint32_t* right = tile.right + tile.offsets[k];
    for (int j = 0; j < kPerWord; ++j) {
      const std::uint32_t factor = widen(left >> (8 * j), tile.left_signed);
      for (int col = 0; col < tile.size.cols; ++col)
        sums[col] += factor * widen(right[col] >> (8 * j), tile.right_signed);
    }
  }
}

template <class T>
void end_row(const std::uint32_t* sums, int count, int right, void* results) {
  auto* ended = static_cast<T*>(results);
  for (int col = 0; col < count; ++col) {
    if constexpr (sizeof(T) == 4) {
      ended[col] = static_cast<T>(sums[col]);
    } else {
      using Range = std::numeric_limits<T>;
      const std::int32_t shifted = static_cast<std::int32_t>(sums[col]) >> right;
      ended[col] = static_cast<T>(std::clamp<std::int32_t>(shifted, Range::min(), Range::max()));
    }
  }
}

void make(const ByteTile& tile, const SumStart& start, const QuickEnd& end, void* const* results) {
  const int count = tile.size.cols;
  std::uint32_t* sums = room<std::uint32_t, struct SumsOfRow>(count);
  for (int row = 0; row < tile.size.rows; ++row) {
    for (int col = 0; col < count; ++col)
      sums[col] = 0U - start.bases[row] - (size_of(end.result) < 4 ? 0U : start.factors[row] * start.points[col]);
    add_row(tile, row, sums);
    for_int_type(end.result, [&]<class T>(T) { end_row<T>(sums, count, end.right, results[row]); });
  }
}

void multiply(const ByteTile& tile, std::uint32_t* sums) {
  for (int row = 0; row < tile.size.rows; ++row) add_row(tile, row, sums + row * kTileCols);
}

}  // namespace

const ByteKernels kPlainByteKernels = {kPerWord, 0x01010101U, false, pack_right, pack_left, make, multiply};

}  // namespace softtpu
