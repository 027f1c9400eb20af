#include "device/memory/transpose.hpp"

#include <algorithm>
#include <bit>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// The obvious version: one element after the other.
template <class T>
void turn(const Tiles& tiles) {
  for (std::int64_t t = 0; t < tiles.count; ++t) {
    for (int i = 0; i < tiles.rows; ++i) {
      auto* const to = reinterpret_cast<T*>(tiles.dst[static_cast<std::size_t>(i)] + t * tiles.dst_step);
      for (int j = 0; j < tiles.cols; ++j)
        to[j] = reinterpret_cast<const T*>(tiles.src[static_cast<std::size_t>(j)] + t * tiles.src_step)[i];
    }
  }
}

}  // namespace

TurnTiles plain_turn_tiles(int element_bytes) {
  TurnTiles found = nullptr;
  for_size(element_bytes, [&]<class T>(T) { found = &turn<T>; });
  return found;
}

TurnTiles turn_tiles(int element_bytes) {
  const TurnTiles fast = plain_kernels() ? nullptr : fast_turn_tiles(element_bytes);
  return fast != nullptr ? fast : plain_turn_tiles(element_bytes);
}

// A task turns tiles of channels and columns for several h: rows of both sides that follow each other in memory are met
// one after the other, while every other order would meet only lines that lie kilobytes apart. Where rows of one side
// follow each other without a gap, a tile takes as many of them as fill it: few channels, or columns, would leave most
// of it empty.
void exchange_channels_and_columns(const Dim4& shape, int bytes, const TensorView& to, const TensorView& from) {
  constexpr int kSide = Tiles::kSide;
  constexpr std::int64_t kTaskElements = 1 << 16;
  const auto size = static_cast<std::size_t>(bytes);
  const TurnTiles turn = turn_tiles(bytes);
  const int high = std::min(shape.c, kSide);
  const int wide = std::min(shape.w, kSide);
  const int bands = (shape.c + kSide - 1) / kSide;
  const int pieces = (shape.w + kSide - 1) / kSide;
  const bool joins_rows = from.row_step() == shape.c && (shape.c <= shape.w || to.row_step() != shape.w);
  const bool joins_columns = !joins_rows && to.row_step() == shape.w;
  const int filling = joins_rows ? kSide / high : joins_columns ? kSide / wide : 1;
  const auto together = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(filling, shape.h))));
  const std::int64_t group = together * std::max<std::int64_t>(1, kTaskElements / high / wide / together);
  const std::int64_t groups = (shape.h + group - 1) / group;
  const auto tasks = static_cast<int>(groups * pieces * bands * shape.n);
  parallel_for(tasks, shape.elements() * bytes / 4, [&](int task) {
    const int w = task % pieces * kSide;
    const std::int64_t first = task / pieces % groups * group;
    const int c = static_cast<int>(task / groups / pieces % bands) * kSide;
    const std::int64_t n = task / groups / pieces / bands;
    const int channels = std::min(kSide, shape.c - c);
    const int columns = std::min(kSide, shape.w - w);
    // `count` tiles of so many h, the first of them at h.
    const auto turn_from = [&](std::int64_t h, int joined, std::int64_t count) {
      Tiles tiles;
      std::size_t rows = 0, cols = 0;
      for (int k = 0; k < (joins_rows ? joined : 1); ++k)
        for (int i = 0; i < channels; ++i) tiles.dst[rows++] = to.byte_at(n, c + i, h + k, w, size);
      for (int k = 0; k < (joins_columns ? joined : 1); ++k)
        for (int j = 0; j < columns; ++j) tiles.src[cols++] = from.byte_at(n, w + j, h + k, c, size);
      tiles.rows = static_cast<int>(rows);
      tiles.cols = static_cast<int>(cols);
      tiles.count = count;
      tiles.dst_step = joined * to.row_step() * bytes;
      tiles.src_step = joined * from.row_step() * bytes;
      turn(tiles);
    };
    const std::int64_t count = std::min(group, shape.h - first);
    if (count >= together) turn_from(first, together, count / together);
    if (const auto rest = static_cast<int>(count % together)) turn_from(first + count - rest, rest, 1);
  });
}

}  // namespace softtpu
