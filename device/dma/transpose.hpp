// Transposition of a two-dimensional array whose rows lie anywhere, in tiles that stay in the first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace softtpu {

// 16 bytes of elements in one register: what every x86-64 machine has.
template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(16)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;

// The elements of both vectors' lower (or upper) halves in turns.
template <class T, std::size_t kFirst, std::size_t... I>
[[gnu::always_inline]] inline Vector<T> interleave(Vector<T> a, Vector<T> b, std::index_sequence<I...>) {
  constexpr std::size_t kCount = sizeof...(I);
  return __builtin_shufflevector(a, b, (kFirst + I / 2 + I % 2 * kCount)...);
}

// Transposes K x K elements held in K vectors of K: vector i of the first half is interleaved with vector i of the
// second, log2(K) times.
template <class T, std::size_t K, std::size_t kRounds = K>
[[gnu::always_inline]] inline void transpose_vectors(std::array<Vector<T>, K>& rows) {
  if constexpr (kRounds > 1) {
    constexpr auto kElements = std::make_index_sequence<K>();
    std::array<Vector<T>, K> mixed;
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      ((mixed[2 * I] = interleave<T, 0>(rows[I], rows[I + K / 2], kElements),
        mixed[2 * I + 1] = interleave<T, K / 2>(rows[I], rows[I + K / 2], kElements)),
       ...);
    }
    (std::make_index_sequence<K / 2>());
    rows = mixed;
    transpose_vectors<T, K, kRounds / 2>(rows);
  }
}

// dst_row(i)[j] = src_row(j)[i] for i in [0, rows), j in [0, cols). Rows are contiguous; the arrays do not overlap.
//
// A tile of the source is first brought together in a small array, whole cache lines at a time: rows that are a power
// of two apart would throw each other out of the cache while their lines are only half read. Results are written row
// after row, which fills their lines at once.
template <class T, class DstRow, class SrcRow>
void transpose(int rows, int cols, DstRow dst_row, SrcRow src_row) {
  constexpr int kTile = sizeof(T) == 1 ? 64 : 32;
  constexpr int kBlock = 16 / sizeof(T);
  alignas(64) std::array<std::array<T, kTile>, kTile> from;
  // Rows lie far apart, where the processor fetches nothing ahead: the next tile is asked for while this one is turned.
  const auto ask_for = [&](int j0, int i0) {
    constexpr int kLine = 64 / sizeof(T);
    const int width = std::min(kTile, cols - j0);
    const int height = std::min(kTile, rows - i0);
    for (int j = 0; j < width; ++j) {
      const T* src = src_row(j0 + j) + i0;
      for (int i = 0; i < height; i += kLine) __builtin_prefetch(src + i);
    }
  };
  const auto gather = [&](int width, int height, int j0, int i0) {
    for (int j = 0; j < width; ++j) {
      auto* row = from[static_cast<std::size_t>(j)].data();
      const T* src = src_row(j0 + j) + i0;
      if (height == kTile) {
        std::memcpy(row, src, sizeof(T) * kTile);
      } else {
        std::copy_n(src, height, row);
      }
    }
  };
  const auto turn_block = [&](T* const* dst, int i, int j) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      std::array<Vector<T>, kBlock> block;
      (std::memcpy(&block[K], &from[static_cast<std::size_t>(j) + K][static_cast<std::size_t>(i)], 16), ...);
      transpose_vectors<T, kBlock>(block);
      (std::memcpy(dst[K] + j, &block[K], 16), ...);
    }
    (std::make_index_sequence<kBlock>());
  };
  for (int j0 = 0; j0 < cols; j0 += kTile) {
    const int width = std::min(kTile, cols - j0);
    const int block_cols = width / kBlock * kBlock;
    for (int i0 = 0; i0 < rows; i0 += kTile) {
      const int height = std::min(kTile, rows - i0);
      gather(width, height, j0, i0);
      if (i0 + kTile < rows) {
        ask_for(j0, i0 + kTile);
      } else if (j0 + kTile < cols) {
        ask_for(j0 + kTile, 0);
      }
      for (int i = 0; i < height; i += kBlock) {
        std::array<T*, kBlock> dst;
        const int block_rows = std::min(kBlock, height - i);
        for (int k = 0; k < block_rows; ++k) dst[static_cast<unsigned>(k)] = dst_row(i0 + i + k) + j0;
        int j = 0;
        if (block_rows == kBlock) {
          for (; j < block_cols; j += kBlock) turn_block(dst.data(), i, j);
        }
        for (; j < width; ++j) {
          for (int k = 0; k < block_rows; ++k)
            dst[static_cast<unsigned>(k)][j] = from[static_cast<unsigned>(j)][static_cast<unsigned>(i + k)];
        }
      }
    }
  }
}

}  // namespace softtpu
