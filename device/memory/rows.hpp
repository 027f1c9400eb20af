// Walks local tensors row by row. The walk (lanes, batches, channels, rows) stands here once; an operation gives only
// the loop over one contiguous row.
//
// Rows whose elements are not adjacent (w stride other than 1), and constants, pass through a small staging buffer, so
// that the row loop always sees plain arrays. Rows that follow each other without a gap in every operand are joined.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "device/memory/memories.hpp"
#include "device/memory/parallel.hpp"

namespace softtpu {

inline constexpr int kRowChunk = 1024;  // elements of one staged piece

// One operand of a row walk on one lane: local tensor (T as stored) or constant.
template <class T>
class RowOperand {
 public:
  RowOperand(const Memories& mem, const Tensor& tensor)
      : lane0_(mem.local(0) + mem.chip().offset_of(tensor.addr)),
        stride_(tensor.stride),
        local_bytes_(mem.chip().local_bytes) {}
  RowOperand(const Memories&, const Scalar& scalar) : constant_(true) {
    T value;
    std::memcpy(&value, &scalar.bits, sizeof(T));
    staged_.fill(value);
  }
  RowOperand(const Memories& mem, const Operand& operand)
      : RowOperand(std::holds_alternative<Tensor>(operand) ? RowOperand(mem, std::get<Tensor>(operand))
                                                           : RowOperand(mem, std::get<Scalar>(operand))) {}

  bool dense() const { return !constant_ && stride_.w == 1; }
  bool joins_rows(int width) const { return constant_ || stride_.h == width * stride_.w; }

  // Selects row (n, group, h) of lane `npu`.
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) {
    if (constant_) return;
    const std::int64_t element = n * stride_.n + group * stride_.c + h * stride_.h;
    row_ = lane0_ + std::int64_t{npu} * local_bytes_ + element * static_cast<std::int64_t>(sizeof(T));
  }
  const T* read(int first, int count) {
    if (constant_) return staged_.data();
    const T* row = reinterpret_cast<const T*>(row_) + first * stride_.w;
    if (stride_.w == 1) return row;
    for (int i = 0; i < count; ++i) staged_[static_cast<std::size_t>(i)] = row[i * stride_.w];
    return staged_.data();
  }
  T* writable(int first) {
    if (stride_.w == 1) return reinterpret_cast<T*>(row_) + first;
    return staged_.data();
  }
  void written(int first, int count) {
    if (stride_.w == 1) return;
    T* row = reinterpret_cast<T*>(row_) + first * stride_.w;
    for (int i = 0; i < count; ++i) row[i * stride_.w] = staged_[static_cast<std::size_t>(i)];
  }

 private:
  std::uint8_t* lane0_ = nullptr;
  std::uint8_t* row_ = nullptr;
  Stride4 stride_;
  std::int64_t local_bytes_ = 0;
  bool constant_ = false;
  std::array<T, kRowChunk> staged_;
};

namespace rows_detail {

// All rows of one lane.
template <class Body, class D, class... S>
void walk_lane(const Chip& chip, const Tensor& shape_of, int npu, Body& body, RowOperand<D>& dst,
               RowOperand<S>&... src) {
  const Dim4& shape = shape_of.shape;
  const int start = chip.npu_of(shape_of.addr);
  const bool join = dst.joins_rows(shape.w) && (src.joins_rows(shape.w) && ...);
  const int height = join ? 1 : shape.h;
  const int width = join ? shape.h * shape.w : shape.w;
  const bool whole = dst.dense() && (src.dense() && ...);
  const int piece = whole ? width : kRowChunk;
  const int first_channel = (npu - start + chip.npu_num) % chip.npu_num;
  for (int n = 0; n < shape.n; ++n) {
    for (int c = first_channel; c < shape.c; c += chip.npu_num) {
      const int group = (start + c) / chip.npu_num;
      for (int h = 0; h < height; ++h) {
        dst.select(npu, n, group, h);
        (src.select(npu, n, group, h), ...);
        for (int w = 0; w < width; w += piece) {
          const int count = std::min(piece, width - w);
          body(dst.writable(w), src.read(w, count)..., count);
          dst.written(w, count);
        }
      }
    }
  }
}

}  // namespace rows_detail

// As for_each_row, for bodies that need to know the lane: make_body(npu) gives the body of one lane.
template <class D, class... S, class MakeBody, class... Operands>
void for_each_row_by_lane(const Memories& mem, const Tensor& dst, MakeBody make_body, const Operands&... sources) {
  static_assert(sizeof...(S) == sizeof...(Operands), "one element type for each source");
  const Chip& chip = mem.chip();
  const int lanes = std::min(dst.shape.c, chip.npu_num);
  const int start = chip.npu_of(dst.addr);
  parallel_for(lanes, dst.shape.elements(), [&](int lane) {
    const int npu = (start + lane) % chip.npu_num;
    auto body = make_body(npu);
    RowOperand<D> out(mem, dst);
    std::tuple<RowOperand<S>...> in(RowOperand<S>(mem, sources)...);
    std::apply([&](auto&... source) { rows_detail::walk_lane(chip, dst, npu, body, out, source...); }, in);
  });
}

// Calls body(D* dst, const S* src..., int count) for every row of dst's shape; sources are local tensors of the same
// start NPU and shape (strides may be 0 to repeat), or constants. Lanes run in parallel.
template <class D, class... S, class Body, class... Operands>
void for_each_row(const Memories& mem, const Tensor& dst, Body body, const Operands&... sources) {
  for_each_row_by_lane<D, S...>(
      mem, dst, [&](int) { return body; }, sources...);
}

}  // namespace softtpu
