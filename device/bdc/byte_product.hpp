// Products of 8-bit integers: sums modulo 2^32 of a left matrix (rows x inner) and a right matrix (inner x cols).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device/bdc/product.hpp"

namespace softtpu {

// A right matrix that lies packed in memory (byte_kernels.hpp) in parts of part_cols columns: word k of column j of
// tile t of part p is words[p * part_step + t * tile_step + offsets[k] + j]. Every part takes whole tiles of columns.
struct PackedRight {
  const std::uint32_t* words = nullptr;
  std::vector<std::int64_t> offsets;
  int parts = 0, part_cols = 0;
  std::int64_t part_step = 0, tile_step = kTileCols;

  int tiles_of_part() const { return (part_cols + kTileCols - 1) / kTileCols; }
};

// Which multiples come off each sum, as 8-bit operands are meant minus a zero point.
enum class ZeroPoints : std::uint8_t {
  kNone,
  kOfColumns,  // points[col] x sum of the left row
  kOfRows,     // points[row] x sum of the right column
};

struct ByteProduct {
  ProductSize size;
  bool left_signed = false, right_signed = false;
  ProductSource<std::uint8_t> source;
  // Instead of source.right, with the bytes turned by byte_turn(); size.cols is not used then.
  const PackedRight* packed = nullptr;
  ZeroPoints zero_points = ZeroPoints::kNone;
  std::vector<std::uint32_t> points;
  std::function<void(int row, int col, int count, const std::uint32_t* sums)> store;
  bool store_last = false;
};
void multiply(const ByteProduct& product);

// What every byte of the right matrix is turned by (exclusive or) for the loops in use.
std::uint8_t byte_turn(bool left_signed, bool right_signed);

}  // namespace softtpu
