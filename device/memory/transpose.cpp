#include "device/memory/transpose.hpp"

#include <algorithm>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
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

// A task turns one tile of channels and columns for several h: rows of both sides that follow each other in memory are
// met one after the other, while every other order would meet only lines that lie kilobytes apart.
void exchange_channels_and_columns(const Memories& mem, const Tensor& dst, const Tensor& src) {
  constexpr int kSide = Tiles::kSide;
  constexpr std::int64_t kTaskElements = 1 << 16;
  const TensorView to(mem, dst);
  const TensorView from(mem, src);
  const Dim4& shape = dst.shape;
  const int bytes = size_of(dst.dtype);
  const auto size = static_cast<std::size_t>(bytes);
  const TurnTiles turn = turn_tiles(bytes);
  const int bands = (shape.c + kSide - 1) / kSide;
  const int pieces = (shape.w + kSide - 1) / kSide;
  const std::int64_t tile = std::int64_t{std::min(shape.c, kSide)} * std::min(shape.w, kSide);
  const std::int64_t group = std::max<std::int64_t>(1, kTaskElements / tile);
  const std::int64_t groups = (shape.h + group - 1) / group;
  const auto tasks = static_cast<int>(groups * pieces * bands * shape.n);
  parallel_for(tasks, shape.elements() * bytes / 4, [&](int task) {
    const int w = task % pieces * kSide;
    const std::int64_t h = task / pieces % groups * group;
    const int c = static_cast<int>(task / groups / pieces % bands) * kSide;
    const std::int64_t n = task / groups / pieces / bands;
    Tiles tiles;
    tiles.rows = std::min(kSide, shape.c - c);
    tiles.cols = std::min(kSide, shape.w - w);
    tiles.count = std::min(group, shape.h - h);
    tiles.dst_step = dst.stride.h * bytes;
    tiles.src_step = src.stride.h * bytes;
    for (int i = 0; i < tiles.rows; ++i) tiles.dst[static_cast<std::size_t>(i)] = to.byte_at(n, c + i, h, w, size);
    for (int j = 0; j < tiles.cols; ++j) tiles.src[static_cast<std::size_t>(j)] = from.byte_at(n, w + j, h, c, size);
    turn(tiles);
  });
}

}  // namespace softtpu
