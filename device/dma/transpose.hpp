// Transposition of a two-dimensional array whose rows lie anywhere, in tiles that stay in the first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace softtpu {

// The words whose lanes exchange places in one stage of a transposition; every stage is spelled out by the compiler.
template <std::size_t K, std::size_t kHalf, std::size_t I>
void exchange_lanes(std::array<std::uint64_t, K>& words) {
  if constexpr ((I & kHalf) == 0) {
    constexpr unsigned kShift = 64 / K * kHalf;
    // The lanes whose number lacks the bit kHalf.
    constexpr std::uint64_t kLanes = ~std::uint64_t{0} / ((std::uint64_t{1} << kShift) + 1);
    const std::uint64_t exchanged = (words[I] >> kShift ^ words[I + kHalf]) & kLanes;
    words[I] ^= exchanged << kShift;
    words[I + kHalf] ^= exchanged;
  }
}

// Transposes K x K elements held in K 64-bit words: the halves off the diagonal change places, then the quarters of
// each half, and so on.
template <std::size_t K, std::size_t kHalf = K / 2>
void transpose_words(std::array<std::uint64_t, K>& words) {
  if constexpr (kHalf > 0) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (exchange_lanes<K, kHalf, I>(words), ...); }
    (std::make_index_sequence<K>());
    transpose_words<K, kHalf / 2>(words);
  }
}

// dst_row(i)[j] = src_row(j)[i] for i in [0, rows), j in [0, cols). Rows are contiguous; the arrays do not overlap.
template <class T, class DstRow, class SrcRow>
void transpose(int rows, int cols, DstRow dst_row, SrcRow src_row) {
  constexpr int kTile = 32;
  constexpr int kBlock = 8 / sizeof(T);
  std::array<T*, kTile> dst;
  std::array<const T*, kTile> src;
  const auto move_block = [&](int i0, int i, int j) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      std::array<std::uint64_t, kBlock> words;
      (std::memcpy(&words[K], src[static_cast<std::size_t>(j) + K] + i0 + i, 8), ...);
      transpose_words<kBlock>(words);
      (std::memcpy(dst[static_cast<std::size_t>(i) + K] + j, &words[K], 8), ...);
    }
    (std::make_index_sequence<kBlock>());
  };
  for (int j0 = 0; j0 < cols; j0 += kTile) {
    const int width = std::min(kTile, cols - j0);
    for (int j = 0; j < width; ++j) src[static_cast<unsigned>(j)] = src_row(j0 + j);
    for (int i0 = 0; i0 < rows; i0 += kTile) {
      const int height = std::min(kTile, rows - i0);
      for (int i = 0; i < height; ++i) dst[static_cast<unsigned>(i)] = dst_row(i0 + i) + j0;
      const int block_rows = height / kBlock * kBlock;
      const int block_cols = width / kBlock * kBlock;
      for (int i = 0; i < block_rows; i += kBlock) {
        for (int j = 0; j < block_cols; j += kBlock) move_block(i0, i, j);
      }
      for (int i = 0; i < height; ++i) {
        T* row = dst[static_cast<unsigned>(i)];
        for (int j = i < block_rows ? block_cols : 0; j < width; ++j) row[j] = src[static_cast<unsigned>(j)][i0 + i];
      }
    }
  }
}

}  // namespace softtpu
