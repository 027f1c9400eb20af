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
#include <limits>

#include "device/memory/memories.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/wide.hpp"

namespace softtpu {

inline constexpr int kRowChunk = 1024;  // elements of one staged piece

// How an operand of a walk is handled, given as its template argument of for_each_row:
//   T         stored as T; the row loop sees the stored elements themselves when they are adjacent
//   As<W>     stored in any type, the row loop sees an array of W (device/numeric/wide.hpp)
//   Also<T>   one more destination
template <class W>
struct As {};
template <class T>
struct Also {};

namespace rows_detail {

// Where the rows of one operand lie; `bytes` per element.
class Place {
 public:
  Place() = default;
  Place(const Memories& mem, const Tensor& tensor, int bytes)
      : lane0_(mem.local(0) + mem.chip().offset_of(tensor.addr)),
        stride_(tensor.stride),
        local_bytes_(mem.chip().local_bytes),
        bytes_(bytes) {}

  std::int64_t step() const { return stride_.w; }
  bool joins_rows(int width) const { return stride_.h == width * stride_.w; }
  // Selects row (n, group, h) of lane `npu`.
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) {
    row_ = lane0_ + npu * local_bytes_ + (n * stride_.n + group * stride_.c + h * stride_.h) * bytes_;
  }
  std::uint8_t* at(int element) const { return row_ + element * stride_.w * bytes_; }

 private:
  std::uint8_t* lane0_ = nullptr;
  std::uint8_t* row_ = nullptr;
  Stride4 stride_;
  std::int64_t local_bytes_ = 0;
  std::int64_t bytes_ = 1;
};

// A constant repeated over a piece of a row; only as much as is asked for is written.
template <class T>
class Constant {
 public:
  void set(T value) {
    value_ = value;
    filled_ = 0;
  }
  const T* fill(std::array<T, kRowChunk>& staged, int count) {
    if (filled_ < count) {
      std::fill(staged.begin() + filled_, staged.begin() + count, value_);
      filled_ = count;
    }
    return staged.data();
  }

 private:
  T value_ = T();
  int filled_ = 0;
};

template <class T>
class Source {
 public:
  Source(const Memories& mem, const Tensor& tensor) : place_(mem, tensor, sizeof(T)) {}
  Source(const Memories& mem, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      place_ = Place(mem, *tensor, sizeof(T));
      return;
    }
    T value;
    std::memcpy(&value, &std::get<Scalar>(operand).bits, sizeof(T));
    is_constant_ = true;
    constant_.set(value);
  }

  bool dense() const { return !is_constant_ && place_.step() == 1; }
  bool joins_rows(int width) const { return is_constant_ || place_.joins_rows(width); }
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) {
    if (!is_constant_) place_.select(npu, n, group, h);
  }
  const T* open(int first, int count) {
    if (is_constant_) return constant_.fill(staged_, count);
    const T* row = reinterpret_cast<const T*>(place_.at(first));
    if (place_.step() == 1) return row;
    for (int i = 0; i < count; ++i) staged_[static_cast<std::size_t>(i)] = row[i * place_.step()];
    return staged_.data();
  }
  void close(int, int) {}

 private:
  Place place_;
  bool is_constant_ = false;
  Constant<T> constant_;
  std::array<T, kRowChunk> staged_;
};

template <class T>
class Target {
 public:
  Target(const Memories& mem, const Tensor& tensor) : place_(mem, tensor, sizeof(T)) {}

  bool dense() const { return place_.step() == 1; }
  bool joins_rows(int width) const { return place_.joins_rows(width); }
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) { place_.select(npu, n, group, h); }
  T* open(int first, int) { return dense() ? reinterpret_cast<T*>(place_.at(first)) : staged_.data(); }
  void close(int first, int count) {
    if (dense()) return;
    T* row = reinterpret_cast<T*>(place_.at(first));
    for (int i = 0; i < count; ++i) row[i * place_.step()] = staged_[static_cast<std::size_t>(i)];
  }

 private:
  Place place_;
  std::array<T, kRowChunk> staged_;
};

template <class W>
class Source<As<W>> {
 public:
  Source(const Memories& mem, const Tensor& tensor) { set(mem, tensor); }
  Source(const Memories& mem, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      set(mem, *tensor);
      return;
    }
    const Scalar& scalar = std::get<Scalar>(operand);
    W value;
    row_reader<W>(scalar.dtype)(&value, reinterpret_cast<const std::uint8_t*>(&scalar.bits), 1, 1);
    constant_.set(value);
  }

  bool dense() const { return false; }
  bool joins_rows(int width) const { return read_ == nullptr || place_.joins_rows(width); }
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) {
    if (read_ != nullptr) place_.select(npu, n, group, h);
  }
  const W* open(int first, int count) {
    if (read_ == nullptr) return constant_.fill(staged_, count);
    read_(staged_.data(), place_.at(first), place_.step(), count);
    return staged_.data();
  }
  void close(int, int) {}

 private:
  void set(const Memories& mem, const Tensor& tensor) {
    place_ = Place(mem, tensor, size_of(tensor.dtype));
    read_ = row_reader<W>(tensor.dtype);
  }

  Place place_;
  RowReader<W> read_ = nullptr;
  Constant<W> constant_;
  std::array<W, kRowChunk> staged_;
};

template <class W>
class Target<As<W>> {
 public:
  Target(const Memories& mem, const Tensor& tensor)
      : place_(mem, tensor, size_of(tensor.dtype)), write_(row_writer<W>(tensor.dtype)) {}

  bool dense() const { return false; }
  bool joins_rows(int width) const { return place_.joins_rows(width); }
  void select(int npu, std::int64_t n, std::int64_t group, std::int64_t h) { place_.select(npu, n, group, h); }
  W* open(int, int) { return staged_.data(); }
  void close(int first, int count) { write_(place_.at(first), place_.step(), staged_.data(), count); }

 private:
  Place place_;
  RowWriter<W> write_;
  std::array<W, kRowChunk> staged_;
};

template <class T>
class Source<Also<T>> : public Target<T> {
  using Target<T>::Target;
};

// All rows of one lane.
template <class Body, class... Rows>
void walk_lane(const Chip& chip, const Tensor& shape_of, int npu, Body& body, Rows&&... rows) {
  const Dim4& shape = shape_of.shape;
  const int start = chip.npu_of(shape_of.addr);
  // The length of joined rows stays an int; only operands that repeat could exceed it.
  const bool join = (rows.joins_rows(shape.w) && ...) && shape.h <= std::numeric_limits<int>::max() / shape.w;
  const int height = join ? 1 : shape.h;
  const int width = join ? shape.h * shape.w : shape.w;
  const int piece = (rows.dense() && ...) ? width : kRowChunk;
  const int first_channel = (npu - start + chip.npu_num) % chip.npu_num;
  for (int n = 0; n < shape.n; ++n) {
    for (int c = first_channel; c < shape.c; c += chip.npu_num) {
      const int group = (start + c) / chip.npu_num;
      for (int h = 0; h < height; ++h) {
        (rows.select(npu, n, group, h), ...);
        for (int w = 0; w < width; w += piece) {
          const int count = std::min(piece, width - w);
          body(rows.open(w, count)..., count);
          (rows.close(w, count), ...);
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
    rows_detail::walk_lane(chip, dst, npu, body, rows_detail::Target<D>(mem, dst),
                           rows_detail::Source<S>(mem, sources)...);
  });
}

// Calls body(D* dst, const S* src..., int count) for every row of dst's shape; sources are local tensors of the same
// start NPU and shape (strides may be 0 to repeat), or constants. Lanes run in parallel. A destination that is exactly
// a source (same address and strides) is safe as long as the row loop reads an element before it writes it.
template <class D, class... S, class Body, class... Operands>
void for_each_row(const Memories& mem, const Tensor& dst, Body body, const Operands&... sources) {
  for_each_row_by_lane<D, S...>(
      mem, dst, [&](int) { return body; }, sources...);
}

}  // namespace softtpu
