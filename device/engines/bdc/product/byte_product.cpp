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
// Columns of a tile whose sums are stored as they are made: as many as make whole cache lines of bytes, and as the
// first-level cache holds right words for.
constexpr int kLineCols = 64;
constexpr int kMostCols = 1024;
constexpr int kNearWords = 4096;
constexpr int kNearBytes = 16384;  // of results that wait there
constexpr int kLongRun = 40;       // columns that are worth a call of the loops
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
    if (ends_at_once()) end_at_once();
    points_ = room<std::uint32_t, struct Points>(std::int64_t{product.size.cols} + kTileCols);
    std::fill_n(points_, product.size.cols + kTileCols, 0U);
    has_points_ = std::any_of(factors_, factors_ + rows_, [](std::uint32_t factor) { return factor != 0; });
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
  }

  // Columns [col, col + count): one tile behind the other, or as planes lie where all words are near anyway.
  PackedRight<std::uint32_t> pack_right(int col, int count) {
    PackedRight<std::uint32_t> packed;
    packed.parts = 1;
    packed.part_cols = count;
    const int tiles = packed.tiles();
    const std::int64_t word_step = is_shallow() ? std::int64_t{tiles} * kTileCols : kTileCols;
    if (!is_shallow()) packed.tile_step = std::int64_t{words_} * kTileCols;
    packed.offsets.resize(static_cast<std::size_t>(words_));
    for (int k = 0; k < words_; ++k) packed.offsets[static_cast<std::size_t>(k)] = k * word_step;
    std::uint32_t* out = room<std::uint32_t, struct Right>((std::int64_t{tiles} * words_ + 1) * kTileCols);
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
                            out + tile * packed.tile_step + (first + i) / per_word * word_step);
      }
    });
    return packed;
  }

  bool is_shallow() const { return words_ <= kShallowWords; }

  // Sums of that few terms are far from the ends of 32 bits, with starts and what rounds as well; those that stay as
  // they are may have any.
  bool ends_at_once() const {
    if (!product_.ending || product_.store_last || plain_kernels() || words_ > kWordsAtOnce) return false;
    const ByteProduct::Ending& ending = *product_.ending;
    const RoundedShift steps = ending.rule.shift.steps();
    const IntRange range = range_of(ending.result);
    if (ending.rule.multiplier != 1 || ending.rule.offset != 0 || ending.rule.floor != SumShift::kNoFloor ||
        ending.rule.low != range.low || ending.rule.high != range.high || steps.left != 0)
      return false;
    if (size_of(ending.result) == 4) return steps.right == 0 && ending.rule.is_signed == is_signed_int(ending.result);
    constexpr std::uint32_t kMostStart = 1U << 28;
    // What is read as unsigned is never below zero, and has starts that are not.
    const std::uint32_t lowest = ending.rule.is_signed ? 0U - kMostStart : 0U;
    return steps.right < 28 && steps.even == 0 && steps.positive == steps.negative &&
           product_.zero_points == ZeroPoints::kNone &&
           std::all_of(ending.starts.begin(), ending.starts.end(),
                       [=](std::uint32_t start) { return start - lowest < kMostStart - lowest; });
  }
  void end_at_once() {
    const ByteProduct::Ending& ending = *product_.ending;
    const RoundedShift steps = ending.rule.shift.steps();
    end_ = {ending.result, steps.right};
    const auto rounds = static_cast<std::uint32_t>(steps.positive);
    for (int row = 0; row < rows_; ++row) bases_[row] -= ending.starts[static_cast<std::size_t>(row)] + rounds;
    ends_ = true;
  }

  // Columns of a part of the right matrix in tiles of one size, and how many tiles those are.
  struct Columns {
    int of_tile, tiles;
  };
  Columns columns(const PackedRight<std::uint32_t>& packed) const {
    // Wider ones only where all tiles of a part are neighbours.
    if (!ends_ || packed.tile_step != kTileCols) return {kTileCols, packed.tiles_of_part()};
    const int most = std::clamp(kNearWords / words_ / kLineCols * kLineCols, 2 * kLineCols, kMostCols);
    const int tiles = (packed.part_cols + most - 1) / most;
    const int lines = (packed.part_cols + kLineCols - 1) / kLineCols;
    const int of_tile = (lines + tiles - 1) / tiles * kLineCols;
    return {of_tile, (packed.part_cols + of_tile - 1) / of_tile};
  }

  void multiply(const PackedRight<std::uint32_t>& packed, int col, Results<std::uint32_t>& results) {
    if (has_points_) find_points(packed, col);
    const Columns columns = this->columns(packed);
    const int tiles = packed.parts * columns.tiles, down = (rows_ + height_ - 1) / height_;
    const bool by_rows = std::int64_t{words_} * packed.parts * packed.part_cols <= kKeptWords;
    const std::int64_t steps = std::int64_t{rows_} * words_ * packed.parts * packed.part_cols;
    parallel_for(tiles * down, steps, [&](int index) {
      const int row = (by_rows ? index / tiles : index % down) * height_;
      const int at = by_rows ? index % tiles : index / down;
      const int part = at / columns.tiles, first = at % columns.tiles * columns.of_tile;
      const Tile tile{row, std::min(height_, rows_ - row), col + part * packed.tiles_of_part() * kTileCols + first,
                      std::min(columns.of_tile, packed.part_cols - first)};
      const std::uint32_t* right =
          packed.values + part * packed.part_step + first / kTileCols * packed.tile_step + first % kTileCols;
      const ByteTile part_of{{tile.rows, words_, tile.cols},
                             product_.left_signed,
                             product_.right_signed,
                             left_ + std::int64_t{row} * words_,
                             words_,
                             right,
                             packed.offsets.data()};
      const SumStart start{bases_ + row, factors_ + row, points_ + tile.col};
      ends_ ? end_tile(tile, part_of, start) : multiply_tile(tile, part_of, start, results);
    });
  }

  // The points of columns, or the sums of columns that the points of rows are multiplied with.
  void find_points(const PackedRight<std::uint32_t>& packed, int col) {
    if (product_.zero_points == ZeroPoints::kOfColumns) {
      std::copy_n(product_.points.data() + col, packed.part_cols, points_ + col);
      return;
    }
    std::uint32_t* ones = room<std::uint32_t, struct Ones>(words_);
    std::fill_n(ones, words_, kernels_.ones);
    const std::uint32_t none = 0, base = moved_by_ * static_cast<std::uint32_t>(words_ * kernels_.per_word);
    const std::int64_t steps = std::int64_t{words_} * packed.parts * packed.part_cols;
    parallel_for(packed.tiles(), steps, [&](int index) {
      const ByteTile tile{{1, words_, packed.cols(index)},
                          product_.left_signed,
                          product_.right_signed,
                          ones,
                          0,
                          packed.tile(index),
                          packed.offsets.data()};
      void* sums = points_ + col + std::int64_t{index} * kTileCols;
      kernels_.make(tile, {&base, &none, points_ + col + std::int64_t{index} * kTileCols}, {}, &sums);
    });
  }

  void multiply_tile(const Tile& tile, ByteTile part, const SumStart& start, Results<std::uint32_t>& results) {
    std::uint32_t* sums = room<std::uint32_t, struct Sums>(kRowsAtOnce * kTileCols);
    void* rows[kRowsAtOnce];
    for (int i = 0; i < tile.rows; ++i) rows[i] = sums + i * kTileCols;
    const std::uint32_t* left = part.left;
    const std::int64_t* offsets = part.offsets;
    int made = part.size.inner = is_shallow() ? words_ : 0;
    kernels_.make(part, start, {}, rows);
    for (; made < words_; made += part.size.inner) {
      part.size.inner = std::min(kWordsAtOnce, words_ - made);
      part.left = left + made;
      part.offsets = offsets + made;
      kernels_.multiply(part, sums);
    }
    results.tile(tile, sums);
  }

  // Some rows at a time: in their places if no run is short, else where they stay in the first-level cache until they
  // are stored.
  void end_tile(const Tile& tile, const ByteTile& part, const SumStart& start) {
    const ByteProduct::Ending& ending = *product_.ending;
    const auto runs = ending.runs(tile.col, tile.cols);
    const bool in_place = runs.size() == 1 || std::all_of(runs.begin(), runs.end(),
                                                          [](const ResultRun& run) { return run.count >= kLongRun; });
    const int bytes = size_of(ending.result);
    const int step = (tile.cols + kLineCols - 1) / kLineCols * kLineCols;
    const int rows = in_place ? kShallowRows : std::clamp(kNearBytes / (step * bytes) / 4 * 4, 4, kShallowRows);
    void* places[kShallowRows];
    for (int row = 0; row < tile.rows; row += rows) {
      const Tile some{tile.row + row, std::min(rows, tile.rows - row), tile.col, tile.cols};
      const auto make = [&](int col, int cols) {
        ByteTile made = part;
        made.size.rows = some.rows;
        made.size.cols = cols;
        made.left += row * part.left_step;
        made.right += col;
        kernels_.make(made, {start.bases + row, start.factors + row, start.points + col}, end_, places);
      };
      if (in_place) {
        for (const ResultRun& run : runs) {
          ending.places(some, run, places);
          make(run.i, run.count);
        }
        continue;
      }
      std::uint8_t* results = room<std::uint8_t, struct Ended>(std::int64_t{rows} * step * bytes);
      for (int i = 0; i < some.rows; ++i) places[i] = results + std::int64_t{i} * step * bytes;
      make(0, tile.cols);
      ending.store(some, runs, results, step);
    }
  }

  const ByteProduct& product_;
  const ByteKernels kernels_;
  const int rows_, words_;  // words of a left row
  const int height_;        // rows of a tile
  const std::uint8_t turn_;
  std::uint32_t moved_by_ = 0;
  std::uint32_t *left_ = nullptr, *bases_ = nullptr, *factors_ = nullptr;
  std::uint32_t* points_ = nullptr;  // of each column
  bool has_points_ = false;          // some factor is not zero
  bool ends_ = false;                // sums end as they are made
  QuickEnd end_;
};

}  // namespace

ByteKernels byte_kernels() { return plain_kernels() ? kPlainByteKernels : fast_byte_kernels(); }

std::uint8_t byte_turn(bool left_signed, bool right_signed) {
  return byte_kernels().turns_right && left_signed == right_signed ? 0x80 : 0;
}

void multiply(const ByteProduct& product) { Multiplication(product).run(); }

}  // namespace softtpu
