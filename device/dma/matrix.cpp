// GDMA moves between a matrix in system memory and its spread form in local memory
// (numerics: bm1684x-dma-hau-gather.md section 3, "matrix").
#include <algorithm>
#include <cstring>

#include "device/core/commands.hpp"
#include "device/dma/transpose.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"
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

template <class T>
void move_channel_transposed(const Sides& sides, int channel, int first, int width) {
  const int rows = sides.local_tensor.shape.n;
  T* const local = sides.local.at<T>(0, channel, 0, 0);
  T* const system = sides.system.at<T>(first, 0, 0, 0);
  const auto local_row = [=, step = sides.local_tensor.stride.n](int r) { return local + r * step; };
  const auto system_row = [=, step = sides.system_tensor.stride.n](int k) { return system + k * step; };
  if (sides.to_local) return transpose<T>(rows, width, local_row, system_row);
  transpose<T>(width, rows, system_row, local_row);
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
  const int per_channel = sides.local_tensor.shape.w;
  const Dim4& system = sides.system_tensor.shape;
  const int cols = cmd.transposed ? system.n : system.w;
  if (may_overlap(mem.chip(), cmd.dst, cmd.src) || !writes_each_byte_once(mem.chip(), cmd.dst)) {
    return move_elements<T>(sides, cmd.transposed, cols);
  }
  if (cmd.transposed) {
    return parallel_for(sides.local_tensor.shape.c, system.elements(), [&](int channel) {
      const int first = channel * per_channel;
      move_channel_transposed<T>(sides, channel, first, std::min(per_channel, cols - first));
    });
  }
  constexpr int kRows = 16;
  const int rows = sides.local_tensor.shape.n;
  parallel_for((rows + kRows - 1) / kRows, system.elements(),
               [&](int group) { move_rows<T>(sides, group * kRows, std::min(rows, (group + 1) * kRows), cols); });
}

}  // namespace

void execute(Memories& mem, const DmaMatrixCmd& cmd) {
  for_size(size_of(cmd.dst.dtype), [&]<class T>(T) { move_matrix<T>(mem, cmd); });
}

}  // namespace softtpu
