// The inner loops of products of bytes. Operands are packed first: a 32-bit word holds neighbours along the inner
// dimension, four bytes or two 16-bit integers, so that one instruction multiplies and sums a word.
#pragma once

#include <cstdint>

#include "device/engines/bdc/product/product_kernels.hpp"

namespace softtpu {

struct ByteTile {
  TileSize size;  // inner: words
  bool left_signed = false, right_signed = false;
  const std::uint32_t* left = nullptr;
  std::int64_t left_step = 0;  // words from row to row
  // Word k of column j is right[offsets[k] + j]. Whole vectors are read: up to kTileCols words from there.
  const std::uint32_t* right = nullptr;
  const std::int64_t* offsets = nullptr;
};

// How sums of few terms end: sat((sum + its row's start) >> right), where nothing on the way leaves 32 bits.
struct QuickEnd {
  const std::uint32_t* starts = nullptr;  // of each row of the tile: with what rounds
  int right = 0;
  std::int32_t low = 0, high = 0;
  int result_bytes = 1;  // or 2
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
  // sums[row][col] = -(bases[row] + factors[row] * points[col]), modulo 2^32, for all kTileCols columns.
  void (*begin)(int rows, const std::uint32_t* bases, const std::uint32_t* factors, const std::uint32_t* points,
                std::uint32_t* sums);
  // sums[row][col] += the products, modulo 2^32.
  void (*multiply)(const ByteTile& tile, std::uint32_t* sums);
  // The products of all words, ended in registers: results in rows of kTileCols. nullptr: multiply() first.
  void (*multiply_and_end)(const ByteTile& tile, const QuickEnd& end, void* results);
};

extern const ByteKernels kPlainByteKernels;
ByteKernels fast_byte_kernels();
// As kernel_choice.hpp says.
ByteKernels byte_kernels();

}  // namespace softtpu
