// Products of 8-bit integers: sums modulo 2^32 of a left matrix (rows x inner) and a right matrix (inner x cols).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/requant/shifted_sums.hpp"

namespace softtpu {

// Which multiples come off each sum, as 8-bit operands are meant minus a zero point.
enum class ZeroPoints : std::uint8_t {
  kNone,
  kOfColumns,  // points[col] x sum of the left row
  kOfRows,     // points[row] x sum of the right column
};

// Columns of a tile from its column i on, `count` of them, that are neighbours in every row of the result: in batch n
// from `pixel` on. From there to the last pixel of the tile, or up to a gap, are `on`.
struct ResultRun {
  int i, n, pixel, count, on;
};

struct ByteProduct {
  ProductSize size;
  bool left_signed = false, right_signed = false;
  ProductSource<std::uint8_t> source;
  // Rows that source.right is asked for at once: few, where they lie in local memories of different NPUs, at addresses
  // that throw each other out of the cache; many, where columns are what lies together.
  int right_depth = kMaxDepth;
  // Instead of source.right, with the bytes turned by byte_turn().
  const PackedRight<std::uint32_t>* packed = nullptr;
  ZeroPoints zero_points = ZeroPoints::kNone;
  std::vector<std::uint32_t> points;
  Store<std::uint32_t> store;
  bool store_last = false;

  // What `store` does to the sums, said so that loops may do it as they make them: what is added to them, and how they
  // become results.
  struct Ending {
    SumShift rule;
    std::vector<std::uint32_t> starts;  // of each row
    Dtype result;
    // The runs of the columns [col, col + count), until this thread asks again.
    std::function<std::span<const ResultRun>(int col, int count)> runs;
    // Where a run begins in the tile's rows.
    std::function<void(const Tile&, const ResultRun&, void** places)> places;
    // Stores what was made elsewhere.
    std::function<void(const Tile&, std::span<const ResultRun>, const void* results, std::int64_t step)> store;
  };
  std::optional<Ending> ending;
};
void multiply(const ByteProduct& product);

// What every byte of the right matrix is turned by (exclusive or) for the loops in use.
std::uint8_t byte_turn(bool left_signed, bool right_signed);

}  // namespace softtpu
