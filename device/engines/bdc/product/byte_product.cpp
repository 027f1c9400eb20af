#include "device/engines/bdc/product/byte_product.hpp"

#include <algorithm>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/engines/bdc/product/product_results.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"

namespace softtpu {
namespace {

constexpr int kRowsAtOnce = 64;    // rows of the result whose sums stay in the first-level cache
constexpr int kWordsAtOnce = 256;  // words of a column that pass over them
// Where a result has few terms, writing it takes most of the time: of so few channels, whose lines lie at addresses
// that throw each other out of the cache, all stay there until they are full.
constexpr int kShallowRows = 16;
constexpr int kShallowWords = 16;
constexpr int kLeftRows = 64;  // rows of the left matrix that are loaded together
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
        height_(words_ <= kShallowWords ? kShallowRows : kRowsAtOnce),
        turn_(byte_turn(product.left_signed, product.right_signed)) {
    // An unsigned byte is 128 larger than the signed one that it was, the other way round 128 smaller.
    if (turn_ != 0) moved_by_ = product.right_signed ? 128U : static_cast<std::uint32_t>(-128);
    pack_left();
    if (ends_at_once()) make_starts();
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

  // Sums of that few terms are far from the ends of 32 bits, with starts and what rounds as well.
  bool ends_at_once() const {
    if (!product_.ending || product_.store_last || kernels_.multiply_and_end == nullptr || words_ > kWordsAtOnce)
      return false;
    constexpr std::uint32_t kMostStart = 1U << 28;
    const ByteProduct::Ending& ending = *product_.ending;
    const RoundedShift steps = ending.rule.shift.steps();
    const bool only_shifts = ending.rule.multiplier == 1 && ending.rule.offset == 0 &&
                             ending.rule.floor == SumShift::kNoFloor && steps.left == 0 && steps.right < 28 &&
                             steps.even == 0 && steps.positive == steps.negative;
    // What is read as unsigned is never below zero, and has starts that are not.
    const std::uint32_t lowest = ending.rule.is_signed ? 0U - kMostStart : 0U;
    return only_shifts && ending.result_bytes <= 2 && product_.zero_points == ZeroPoints::kNone &&
           std::all_of(ending.starts.begin(), ending.starts.end(),
                       [=](std::uint32_t start) { return start - lowest < kMostStart - lowest; });
  }
  void make_starts() {
    starts_ = room<std::uint32_t, struct Starts>(rows_);
    const auto rounds = static_cast<std::uint32_t>(product_.ending->rule.shift.steps().positive);
    for (int row = 0; row < rows_; ++row)
      starts_[row] = product_.ending->starts[static_cast<std::size_t>(row)] + rounds - bases_[row];
  }

  void multiply(const PackedRight<std::uint32_t>& packed, int col, Results<std::uint32_t>& results) {
    const int tiles = packed.tiles(), down = (rows_ + height_ - 1) / height_;
    const bool by_rows = std::int64_t{words_} * packed.parts * packed.part_cols <= kKeptWords;
    const std::int64_t steps = std::int64_t{rows_} * words_ * packed.parts * packed.part_cols;
    parallel_for(tiles * down, steps, [&](int index) {
      const int row = (by_rows ? index / tiles : index % down) * height_;
      const int at = by_rows ? index % tiles : index / down;
      const Tile tile{row, std::min(height_, rows_ - row), col + at * kTileCols, packed.cols(at)};
      multiply_tile(tile, packed.tile(at), packed.offsets.data(), results);
    });
  }

  void multiply_tile(const Tile& tile, const std::uint32_t* right, const std::int64_t* offsets,
                     Results<std::uint32_t>& results) {
    if (starts_ != nullptr) return end_tile(tile, right, offsets);
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

  void end_tile(const Tile& tile, const std::uint32_t* right, const std::int64_t* offsets) {
    const ByteProduct::Ending& ending = *product_.ending;
    const ByteTile part{{tile.rows, words_, tile.cols},
                        product_.left_signed,
                        product_.right_signed,
                        left_ + std::int64_t{tile.row} * words_,
                        words_,
                        right,
                        offsets};
    const QuickEnd end{starts_ + tile.row, ending.rule.shift.steps().right, static_cast<std::int32_t>(ending.rule.low),
                       static_cast<std::int32_t>(ending.rule.high), ending.result_bytes};
    auto* results = room<std::uint16_t, struct EndedTile>(kRowsAtOnce * kTileCols);
    kernels_.multiply_and_end(part, end, results);
    ending.store(tile, results, kTileCols);
  }

  const ByteProduct& product_;
  const ByteKernels kernels_;
  const int rows_, words_;  // words of a left row
  const int height_;        // rows of a tile
  const std::uint8_t turn_;
  std::uint32_t moved_by_ = 0;
  std::uint32_t *left_ = nullptr, *bases_ = nullptr, *factors_ = nullptr, *ones_ = nullptr;
  std::uint32_t* starts_ = nullptr;  // of sums that end as they are made
};

}  // namespace

ByteKernels byte_kernels() { return plain_kernels() ? kPlainByteKernels : fast_byte_kernels(); }

std::uint8_t byte_turn(bool left_signed, bool right_signed) {
  return byte_kernels().turns_right && left_signed == right_signed ? 0x80 : 0;
}

void multiply(const ByteProduct& product) { Multiplication(product).run(); }

}  // namespace softtpu
