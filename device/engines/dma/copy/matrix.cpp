// GDMA moves between a matrix in system memory and its spread form in local memory
// (numerics: bm1684x-dma-hau-gather.md section 3, "matrix").
#include <algorithm>
#include <cstring>

#include "device/command/functions.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/dma/copy/kept_npus.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/memory/transpose.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {
namespace {

// Both sides of a move; element (r, k) of the local matrix is local (n = r, c = k / w, w = k % w).
struct Sides {
  Sides(const Memories& mem, const DmaMatrixCmd& cmd)
      : to_local(cmd.dst.space == Space::kLocal),
        local_tensor(to_local ? cmd.dst : cmd.src),
        system_tensor(to_local ? cmd.src : cmd.dst),
        local(mem, local_tensor),
        system(mem, system_tensor) {}

  bool to_local;
  const Tensor& local_tensor;
  const Tensor& system_tensor;
  TensorView local, system;
};

// Usual lengths without a call.
void copy_bytes(void* to, const void* from, std::size_t bytes) {
  switch (bytes) {
    case 16: std::memcpy(to, from, 16); return;
    case 32: std::memcpy(to, from, 32); return;
    case 64: std::memcpy(to, from, 64); return;
    default: std::memcpy(to, from, bytes); return;
  }
}

// Rows [first, last): all channels of a few rows stay in the cache on both sides.
template <class T>
void move_rows(const Sides& sides, int first, int last, int cols) {
  const Dim4& shape = sides.local_tensor.shape;
  const std::int64_t local_step = sides.local_tensor.stride.n;
  const std::int64_t system_step = sides.system_tensor.stride.n;
  for (int channel = 0; channel < shape.c; ++channel) {
    const int column = channel * shape.w;
    const auto bytes = static_cast<std::size_t>(std::min(shape.w, cols - column)) * sizeof(T);
    T* local = sides.local.at<T>(first, channel, 0, 0);
    T* system = sides.system.at<T>(first, 0, 0, column);
    for (int r = first; r < last; ++r, local += local_step, system += system_step) {
      sides.to_local ? copy_bytes(local, system, bytes) : copy_bytes(system, local, bytes);
    }
  }
}

// One side of a tile: its rows lie `step` bytes apart, those of the next tile `tile_step` further.
struct TileSide {
  std::uint8_t* data;
  int rows;
  std::int64_t step, tile_step;
};

// `count` tiles below each other: rows [first, first + count * rows) of `cols` columns of one channel.
template <class T>
void turn_rows(const Sides& sides, TurnTiles turn, int channel, int column, int cols, int first, int rows, int count) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t step = sides.local_tensor.stride.n * kBytes;
  const TileSide local{sides.local.byte_at(first, channel, 0, column, sizeof(T)), rows, step, rows * step};
  const TileSide system{sides.system.byte_at(channel * sides.local_tensor.shape.w + column, 0, 0, first, sizeof(T)),
                        cols, sides.system_tensor.stride.n * kBytes, rows * kBytes};
  const TileSide& dst = sides.to_local ? local : system;
  const TileSide& src = sides.to_local ? system : local;
  Tiles tiles;
  tiles.rows = dst.rows;
  tiles.cols = src.rows;
  tiles.count = count;
  tiles.dst_step = dst.tile_step;
  tiles.src_step = src.tile_step;
  for (int i = 0; i < dst.rows; ++i) tiles.dst[static_cast<std::size_t>(i)] = dst.data + i * dst.step;
  for (int j = 0; j < src.rows; ++j) tiles.src[static_cast<std::size_t>(j)] = src.data + j * src.step;
  turn(tiles);
}

template <class T>
void move_transposed(const Sides& sides, int cols) {
  constexpr int kSide = Tiles::kSide;
  constexpr int kTask = 8 * kSide;  // rows
  const Dim4& shape = sides.local_tensor.shape;
  const TurnTiles turn = turn_tiles(sizeof(T));
  const int groups = (shape.n + kTask - 1) / kTask;
  parallel_for(shape.c * groups, std::int64_t{shape.n} * cols, [&](int task) {
    const int channel = task / groups;
    const int first = task % groups * kTask;
    const int rows = std::min(kTask, shape.n - first);
    const int whole = rows / kSide;
    const int rest = rows % kSide;
    const int width = std::min(shape.w, cols - channel * shape.w);
    for (int column = 0; column < width; column += kSide) {
      const int part = std::min(kSide, width - column);
      if (whole > 0) turn_rows<T>(sides, turn, channel, column, part, first, kSide, whole);
      if (rest > 0) turn_rows<T>(sides, turn, channel, column, part, first + whole * kSide, rest, 1);
    }
  });
}

// Overlapping memory (a system address may name local memory, rows may overlap): element by element, rows outermost.
template <class T>
void move_elements(const Sides& sides, bool transposed, int cols) {
  const int per_channel = sides.local_tensor.shape.w;
  for (int r = 0; r < sides.local_tensor.shape.n; ++r) {
    for (int k = 0; k < cols; ++k) {
      T* local = sides.local.at<T>(r, k / per_channel, 0, k % per_channel);
      T* system = transposed ? sides.system.at<T>(k, 0, 0, r) : sides.system.at<T>(r, 0, 0, k);
      *(sides.to_local ? local : system) = *(sides.to_local ? system : local);
    }
  }
}

template <class T>
void move_matrix(const Memories& mem, const DmaMatrixCmd& cmd) {
  const Sides sides(mem, cmd);
  const Dim4& system = sides.system_tensor.shape;
  const int cols = cmd.transposed ? system.n : system.w;
  if (may_overlap(mem.chip(), cmd.dst, cmd.src) || !writes_each_byte_once(mem.chip(), cmd.dst)) {
    return move_elements<T>(sides, cmd.transposed, cols);
  }
  if (cmd.transposed) return move_transposed<T>(sides, cols);
  constexpr int kRows = 16;
  const int rows = sides.local_tensor.shape.n;
  parallel_for((rows + kRows - 1) / kRows, system.elements(),
               [&](int group) { move_rows<T>(sides, group * kRows, std::min(rows, (group + 1) * kRows), cols); });
}

}  // namespace

void execute(Memories& mem, const DmaMatrixCmd& cmd) {
  const KeptNpus kept(mem, cmd.dst, cmd.npus);
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { move_matrix<T>(mem, cmd); });
}

}  // namespace softtpu
