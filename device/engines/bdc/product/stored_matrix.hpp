// The operands of matrix products as matrices, whichever way they are stored.
#pragma once

#include <algorithm>
#include <cstring>

#include "device/engines/bdc/product/command.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// A matrix in local memory: columns spread over channels ([rows, channels, 1, p]) or rows as channels ([1, rows, 1,
// columns]); transposed: (row, col) of the product is (col, row) of what is stored.
class StoredMatrix {
 public:
  StoredMatrix(const Memories& mem, const Tensor& tensor, bool spread, bool transposed)
      : view_(mem, tensor),
        spread_(spread),
        transposed_(transposed),
        per_channel_(tensor.shape.w),
        row_step_(tensor.stride.n),
        channel_step_(tensor.stride.c),
        npu_num_(mem.chip().npu_num),
        start_npu_(mem.chip().npu_of(tensor.addr)),
        local_bytes_(mem.chip().local_bytes) {}

  template <class T>
  T* at(int row, int col) const {
    if (transposed_) std::swap(row, col);
    if (spread_) return view_.at<T>(row, col / per_channel_, 0, col % per_channel_);
    return view_.at<T>(0, row, 0, col);
  }

  // visit(i, T* first, run) for the elements (row, col + i), i < count, in runs of neighbours in memory.
  template <class T, class Visit>
  void row_runs(int row, int col, int count, Visit visit) const {
    transposed_ ? down<T>(col, row, count, visit) : along<T>(row, col, count, visit);
  }
  // The same for the elements (row + i, col).
  template <class T, class Visit>
  void column_runs(int row, int col, int count, Visit visit) const {
    transposed_ ? along<T>(col, row, count, visit) : down<T>(row, col, count, visit);
  }
  // visit(i, T* element) for the elements (row, col + i), i < count.
  template <class T, class Visit>
  void along_row(int row, int col, int count, Visit visit) const {
    row_runs<T>(row, col, count, [&](int i, T* first, int run) {
      for (int j = 0; j < run; ++j) visit(i + j, first + j);
    });
  }
  // visit(Block) for blocks of the elements (row + i, col + j), i < rows, j < cols, of a matrix that is not column
  // major, in an order that stays with one local memory as long as it can.
  template <class T>
  struct Block {
    int i, rows, j;     // rows of the block, and where it is
    T* first;           // its first element
    std::int64_t step;  // elements from row to row
    int run;            // neighbours in each row
  };
  template <class T, class Visit>
  void blocks(int row, int rows, int col, int cols, Visit visit) const {
    if (!spread_) {
      for (int i = 0; i < rows; ++i)
        along<T>(row + i, col, cols, [&](int j, T* first, int run) { visit(Block<T>{i, 1, j, first, 0, run}); });
      return;
    }
    along<T>(row, col, cols, [&](int j, T* first, int run) { visit(Block<T>{0, rows, j, first, row_step_, run}); });
  }
  // Neighbours in a column are neighbours in memory.
  bool column_major() const { return transposed_; }
  // All of a row lies side by side.
  bool rows_are_runs() const { return !transposed_ && !spread_; }
  // All of a column lies side by side.
  bool columns_are_runs() const { return transposed_ && !spread_; }

 private:
  // Stored columns [col, col + count) of a stored row: runs of adjacent elements.
  template <class T, class Visit>
  void along(int row, int col, int count, Visit visit) const {
    if (!spread_) return visit(0, view_.at<T>(0, row, 0, col), count);
    const int channel = col / per_channel_;
    int within = col % per_channel_;
    T* first = view_.at<T>(row, channel, 0, 0);
    int npu = (start_npu_ + channel) % npu_num_;
    for (int done = 0; done < count;) {
      const int run = std::min(per_channel_ - within, count - done);
      visit(done, first + within, run);
      done += run;
      within = 0;
      first = next_channel(first, npu);
    }
  }
  template <class T, class Visit>
  void down(int row, int col, int count, Visit visit) const {
    if (spread_) {
      T* first = view_.at<T>(row, col / per_channel_, 0, col % per_channel_);
      for (int i = 0; i < count; ++i) visit(i, first + i * row_step_, 1);
      return;
    }
    T* first = view_.at<T>(0, row, 0, col);
    int npu = (start_npu_ + row) % npu_num_;
    for (int i = 0; i < count; ++i) {
      visit(i, first, 1);
      first = next_channel(first, npu);
    }
  }
  // The same place in the channel after the one on `npu`, which moves on.
  template <class T>
  T* next_channel(T* place, int& npu) const {
    const std::int64_t lane = local_bytes_ / static_cast<std::int64_t>(sizeof(T));
    if (++npu < npu_num_) return place + lane;
    npu = 0;
    return place + channel_step_ - (npu_num_ - 1) * lane;
  }

  TensorView view_;
  bool spread_, transposed_;
  int per_channel_;
  std::int64_t row_step_, channel_step_;  // in elements
  int npu_num_, start_npu_;
  std::int64_t local_bytes_;
};

}  // namespace softtpu
