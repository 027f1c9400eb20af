// The operands of matrix products as matrices, whichever way they are stored.
#pragma once

#include <algorithm>
#include <cstring>

#include "device/isa/commands/matrix.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// A matrix in local memory: columns spread over channels ([rows, channels, 1, p]) or rows as channels ([1, rows, 1,
// columns]); transposed: (row, col) of the product is (col, row) of what is stored.
class StoredMatrix {
 public:
  StoredMatrix(const Memories& mem, const Tensor& tensor, bool spread, bool transposed)
      : view_(mem, tensor), spread_(spread), transposed_(transposed), per_channel_(tensor.shape.w) {}

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
  // Neighbours in a column are neighbours in memory.
  bool column_major() const { return transposed_; }

 private:
  // Stored columns [col, col + count) of a stored row: runs of adjacent elements.
  template <class T, class Visit>
  void along(int row, int col, int count, Visit visit) const {
    for (int done = 0; done < count;) {
      const int place = col + done;
      const int run = spread_ ? std::min(per_channel_ - place % per_channel_, count - done) : count;
      T* first =
          spread_ ? view_.at<T>(row, place / per_channel_, 0, place % per_channel_) : view_.at<T>(0, row, 0, place);
      visit(done, first, run);
      done += run;
    }
  }
  template <class T, class Visit>
  void down(int row, int col, int count, Visit visit) const {
    for (int i = 0; i < count; ++i) {
      visit(i,
            spread_ ? view_.at<T>(row + i, col / per_channel_, 0, col % per_channel_) : view_.at<T>(0, row + i, 0, col),
            1);
    }
  }

  TensorView view_;
  bool spread_, transposed_;
  int per_channel_;
};

}  // namespace softtpu
