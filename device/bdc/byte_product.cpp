#include "device/bdc/byte_product.hpp"

#include <algorithm>

#include "device/bdc/byte_kernels.hpp"
#include "device/bdc/product_results.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"

namespace softtpu {
namespace {

constexpr int kRowsAtOnce = 64;    // rows of the result whose sums stay in the first-level cache
constexpr int kWordsAtOnce = 256;  // words of a column that pass over them
constexpr int kLeftRows = 64;      // rows of the left matrix that are loaded together
// Words of the right matrix that are packed before they are multiplied.
constexpr std::int64_t kPackedWords = 4 << 20;

// Words of a right matrix that stays in the second-level cache while all rows of the left one pass. A thread then takes
// rows, which it has packed itself; of a larger one it takes columns.
constexpr std::int64_t kKeptWords = 1 << 18;

class Multiplication {
 public:
  explicit Multiplication(const ByteProduct& product)
      : product_(product),
        kernels_(byte_kernels()),
        rows_(product.size.rows),
        words_((product.size.inner + kernels_.per_word - 1) / kernels_.per_word),
        turn_(byte_turn(product.left_signed, product.right_signed)) {
    // An unsigned byte is 128 larger than the signed one that it was, the other way round 128 smaller.
    if (turn_ != 0) moved_by_ = product.right_signed ? 128U : static_cast<std::uint32_t>(-128);
    pack_left();
  }

  void run() {
    Results<std::uint32_t> results(product_.size, product_.store_last, product_.store);
    if (product_.packed != nullptr) {
      multiply(*product_.packed, 0, results);
      return results.finish();
    }
    const std::int64_t tile_words = std::int64_t{words_} * kTileCols;
    const int chunk = static_cast<int>(std::max<std::int64_t>(1, kPackedWords / tile_words)) * kTileCols;
    for (int col = 0; col < product_.size.cols; col += chunk) {
      multiply(pack_right(col, std::min(chunk, product_.size.cols - col)), col, results);
    }
    results.finish();
  }

 private:
  void pack_left() {
    const std::int64_t inner = product_.size.inner;
    left_ = room<std::uint32_t, struct Left>(std::int64_t{rows_} * words_);
    bases_ = room<std::uint32_t, struct Bases>(rows_);
    factors_ = room<std::uint32_t, struct Factors>(rows_);
    parallel_for((rows_ + kLeftRows - 1) / kLeftRows, rows_ * inner, [&](int block) {
      const int first = block * kLeftRows, count = std::min(kLeftRows, rows_ - first);
      std::uint8_t* bytes = room<std::uint8_t, struct LeftBytes>(inner * kLeftRows);
      product_.source.left(first, count, bytes);
      for (int row = first; row < first + count; ++row, bytes += inner) {
        const std::uint32_t sum =
            kernels_.pack_left(bytes, product_.size.inner, product_.left_signed, left_ + std::int64_t{row} * words_);
        bases_[row] = moved_by_ * sum;
        factors_[row] = product_.zero_points == ZeroPoints::kOfColumns ? sum
                        : product_.zero_points == ZeroPoints::kOfRows  ? product_.points[static_cast<std::size_t>(row)]
                                                                       : 0U;
      }
    });
    ones_ = room<std::uint32_t, struct Ones>(words_);
    std::fill_n(ones_, words_, kernels_.ones);
  }

  // Columns [col, col + count), one tile behind the other.
  PackedRight<std::uint32_t> pack_right(int col, int count) {
    PackedRight<std::uint32_t> packed;
    packed.parts = 1;
    packed.part_cols = count;
    packed.offsets.resize(static_cast<std::size_t>(words_));
    for (int k = 0; k < words_; ++k) packed.offsets[static_cast<std::size_t>(k)] = std::int64_t{k} * kTileCols;
    const int tiles = packed.tiles();
    packed.tile_step = std::int64_t{words_} * kTileCols;
    std::uint32_t* out = room<std::uint32_t, struct Right>(tiles * packed.tile_step);
    packed.values = out;
    const int inner = product_.size.inner;
    const int at_once = product_.right_depth;
    const int parts = (inner + at_once - 1) / at_once;
    parallel_for(parts * tiles, std::int64_t{inner} * count, [&](int index) {
      std::uint8_t* bytes = room<std::uint8_t, struct RightBytes>(std::int64_t{at_once} * kTileCols);
      const int first = index / tiles * at_once, tile = index % tiles;
      const int depth = std::min(at_once, inner - first);
      const int cols = std::min(kTileCols, count - tile * kTileCols);
      product_.source.right(first, depth, col + tile * kTileCols, cols, bytes);
      const int per_word = kernels_.per_word;
      for (int i = 0; i < depth; i += per_word) {
        const std::uint8_t* from[4];
        for (int j = 0; j < per_word; ++j) from[j] = bytes + (i + j) * kTileCols;
        kernels_.pack_right(std::min(per_word, depth - i), from, kTileCols, product_.right_signed, turn_,
                            out + tile * packed.tile_step + std::int64_t{(first + i) / per_word} * kTileCols);
      }
    });
    return packed;
  }

  void multiply(const PackedRight<std::uint32_t>& packed, int col, Results<std::uint32_t>& results) {
    const int tiles = packed.tiles(), down = (rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
    const bool by_rows = std::int64_t{words_} * packed.parts * packed.part_cols <= kKeptWords;
    const std::int64_t steps = std::int64_t{rows_} * words_ * packed.parts * packed.part_cols;
    parallel_for(tiles * down, steps, [&](int index) {
      const int row = (by_rows ? index / tiles : index % down) * kRowsAtOnce;
      const int at = by_rows ? index % tiles : index / down;
      const Tile tile{row, std::min(kRowsAtOnce, rows_ - row), col + at * kTileCols, packed.cols(at)};
      multiply_tile(tile, packed.tile(at), packed.offsets.data(), results);
    });
  }

  void multiply_tile(const Tile& tile, const std::uint32_t* right, const std::int64_t* offsets,
                     Results<std::uint32_t>& results) {
    alignas(64) std::uint32_t points[kTileCols] = {};
    if (product_.zero_points == ZeroPoints::kOfColumns)
      std::copy_n(product_.points.data() + tile.col, tile.cols, points);
    ByteTile part{{1, words_, tile.cols}, product_.left_signed, product_.right_signed, ones_, 0, right, offsets};
    if (product_.zero_points == ZeroPoints::kOfRows) {
      std::fill_n(points, kTileCols, 0U - moved_by_ * static_cast<std::uint32_t>(words_ * kernels_.per_word));
      kernels_.multiply(part, points);
    }
    std::uint32_t* sums = room<std::uint32_t, struct Sums>(kRowsAtOnce * kTileCols);
    kernels_.begin(tile.rows, bases_ + tile.row, factors_ + tile.row, points, sums);
    part.size.rows = tile.rows;
    part.left_step = words_;
    for (int k = 0; k < words_; k += kWordsAtOnce) {
      part.size.inner = std::min(kWordsAtOnce, words_ - k);
      part.left = left_ + std::int64_t{tile.row} * words_ + k;
      part.offsets = offsets + k;
      kernels_.multiply(part, sums);
    }
    results.tile(tile, sums);
  }

  const ByteProduct& product_;
  const ByteKernels kernels_;
  const int rows_, words_;  // words of a left row
  const std::uint8_t turn_;
  std::uint32_t moved_by_ = 0;
  std::uint32_t *left_ = nullptr, *bases_ = nullptr, *factors_ = nullptr, *ones_ = nullptr;
};

}  // namespace

ByteKernels byte_kernels() { return plain_kernels() ? kPlainByteKernels : fast_byte_kernels(); }

std::uint8_t byte_turn(bool left_signed, bool right_signed) {
  return byte_kernels().turns_right && left_signed == right_signed ? 0x80 : 0;
}

void multiply(const ByteProduct& product) { Multiplication(product).run(); }

}  // namespace softtpu
