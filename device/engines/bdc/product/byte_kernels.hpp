// The inner loops of products of bytes. Operands are packed first: a 32-bit word holds neighbours along the inner
// dimension, four bytes or two 16-bit integers, so that one instruction multiplies and sums a word.
#pragma once

#include <cstdint>

#include "device/engines/bdc/product/product_kernels.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

struct ByteTile {
  TileSize size;  // inner: words
  bool left_signed = false, right_signed = false;
  const std::uint32_t* left = nullptr;
  std::int64_t left_step = 0;  // words from row to row
  // Word k of column j is right[offsets[k] + j]. Whole vectors are read: up to kTileCols words from the last one's
  // first column that is a multiple of it.
  const std::uint32_t* right = nullptr;
  const std::int64_t* offsets = nullptr;
};

// Where sums start: -(bases[row] + factors[row] * points[col]), modulo 2^32.
struct SumStart {
  const std::uint32_t* bases = nullptr;
  const std::uint32_t* factors = nullptr;
  const std::uint32_t* points = nullptr;  // these two only of sums that end as they are
};

// How sums end: as they are, where results have 32 bits, else as sat(sum >> right), read as signed.
struct QuickEnd {
  Dtype result = Dtype::kUint32;
  int right = 0;
};

struct ByteKernels {
  int per_word;        // elements in a word
  std::uint32_t ones;  // a word of elements 1
  // The loops multiply an unsigned byte by a signed one. Where both operands are of one kind, the top bit of every
  // right byte has to be turned, which moves it by 128 into the other kind.
  bool turns_right;
  // words[i] = element i of up to per_word rows, those that are missing zero; `turn` is applied to every byte.
  void (*pack_right)(int rows, const std::uint8_t* const* from, int count, bool is_signed, std::uint8_t turn,
                     std::uint32_t* words);
  // Packs one row, with zeros behind it; returns the sum of its elements.
  std::uint32_t (*pack_left)(const std::uint8_t* row, int count, bool is_signed, std::uint32_t* words);
  // Sums of the products of all words (there may be none), from their start to their end: results[row][col] of each row
  // of the tile, and no byte behind them.
  void (*make)(const ByteTile& tile, const SumStart& start, const QuickEnd& end, void* const* results);
  // sums[row][col] += the products, modulo 2^32, in rows of kTileCols, of which more than the tile's columns may
  // change.
  void (*multiply)(const ByteTile& tile, std::uint32_t* sums);
};

extern const ByteKernels kPlainByteKernels;
ByteKernels fast_byte_kernels();
// As kernel_choice.hpp says.
ByteKernels byte_kernels();

}  // namespace softtpu
