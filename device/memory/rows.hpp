// Walks local tensors row by row. The walk (lanes, batches, channels, rows) stands here once; an operation gives only
// the loop over one contiguous row.
//
// Rows whose elements are not adjacent, and constants, pass through a small staging buffer, so that the row loop always
// sees plain arrays. Rows that follow each other without a gap in every operand are joined.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "device/memory/lane_slice.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/one_element.hpp"
#include "device/memory/parallel.hpp"

namespace softtpu {

inline constexpr int kRowChunk = 1024;  // elements of one staged piece

namespace rows_detail {

// The loops over one lane: dimensions n, c (groups of channels), h, w, without those of one step and with those joined
// that follow each other without a gap in every operand. [0] is the row.
struct Loops {
  std::array<int, 4> dimension{3, 0, 0, 0};
  std::array<int, 4> extent{1, 1, 1, 1};
};

// Where the rows of one operand lie; `bytes` per element.
class RowAddress {
 public:
  RowAddress() = default;
  RowAddress(const Memories& mem, const Tensor& tensor, int bytes)
      : lane0_(mem.local(0) + mem.chip().offset_of(tensor.addr)),
        stride_{tensor.stride.n, tensor.stride.c, tensor.stride.h, tensor.stride.w},
        local_bytes_(mem.chip().local_bytes),
        bytes_(bytes) {}

  std::int64_t step() const { return step_; }
  // Whether a step of `outer` is as far as `extent` steps of `inner`.
  bool joins(int outer, int inner, int extent) const { return stride(outer) == extent * stride(inner); }
  // Starts on lane `npu`, whose first channel lies in `group`.
  void begin(int npu, int group, const Loops& loops) {
    lane_ = lane0_ + npu * local_bytes_ + group * stride(1) * bytes_;
    step_ = stride(loops.dimension[0]);
    for (std::size_t i = 0; i < outer_.size(); ++i) outer_[i] = stride(loops.dimension[i + 1]) * bytes_;
  }
  // Selects a row by its indices in the outer loops.
  void select(std::int64_t first, std::int64_t second, std::int64_t third) {
    row_ = lane_ + first * outer_[0] + second * outer_[1] + third * outer_[2];
  }
  std::uint8_t* at(int element) const { return row_ + element * step_ * bytes_; }

 private:
  std::int64_t stride(int dimension) const { return stride_[static_cast<std::size_t>(dimension)]; }

  std::uint8_t* lane0_ = nullptr;
  std::uint8_t* lane_ = nullptr;
  std::uint8_t* row_ = nullptr;
  std::array<std::int64_t, 4> stride_ = {};
  std::array<std::int64_t, 3> outer_ = {};
  std::int64_t step_ = 1;
  std::int64_t local_bytes_ = 0;
  std::int64_t bytes_ = 1;
};

// One value repeated over a piece of a row; only as much as is asked for is written.
template <class T>
class Constant {
 public:
  void set(T value) {
    if (filled_ > 0 && std::memcmp(&value_, &value, sizeof(T)) == 0) return;
    value_ = value;
    filled_ = 0;
  }
  const T* fill(std::array<T, kRowChunk>& staged, int count) {
    if (filled_ == 0) {
      staged[0] = value_;
      filled_ = 1;
    }
    // What stands there is copied behind itself: large moves, whatever the compiler makes of loops.
    while (filled_ < count) {
      const int more = std::min(filled_, kRowChunk - filled_);
      std::memcpy(staged.data() + filled_, staged.data(), sizeof(T) * static_cast<unsigned>(more));
      filled_ += more;
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
  Source(const Memories& mem, const Tensor& tensor) : address_(mem, tensor, sizeof(T)) {}
  Source(const Memories& mem, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      address_ = RowAddress(mem, *tensor, sizeof(T));
      return;
    }
    T value;
    std::memcpy(&value, &std::get<Scalar>(operand).bits, sizeof(T));
    is_constant_ = true;
    constant_.set(value);
  }

  bool dense() const { return !is_constant_ && address_.step() == 1; }
  bool joins(int outer, int inner, int extent) const { return is_constant_ || address_.joins(outer, inner, extent); }
  void begin(int npu, int group, const Loops& loops) {
    if (!is_constant_) address_.begin(npu, group, loops);
  }
  void select(std::int64_t first, std::int64_t second, std::int64_t third) {
    if (!is_constant_) address_.select(first, second, third);
  }
  const T* open(int first, int count) {
    if (is_constant_) return constant_.fill(staged_, count);
    const T* row = reinterpret_cast<const T*>(address_.at(first));
    if (address_.step() == 1) return row;
    if (address_.step() == 0) {
      constant_.set(*row);
      return constant_.fill(staged_, count);
    }
    for (int i = 0; i < count; ++i) staged_[static_cast<std::size_t>(i)] = row[i * address_.step()];
    return staged_.data();
  }
  void close(int, int) {}

 protected:
  // Whether all elements of a row are equal because they are one.
  bool repeats() const { return is_constant_ || address_.step() == 0; }

 private:
  RowAddress address_;
  bool is_constant_ = false;
  Constant<T> constant_;
  std::array<T, kRowChunk> staged_;
};

template <class T>
class Source<OrOne<T>> : public Source<T> {
 public:
  using Source<T>::Source;
  bool dense() const { return this->repeats() || Source<T>::dense(); }
  RowOrOne open(int first, int count) {
    constexpr int kVector = 64 / static_cast<int>(sizeof(T));
    const bool one = this->repeats();
    return {Source<T>::open(first, one ? kVector : count), one};
  }
};

template <class T>
class Target {
 public:
  Target(const Memories& mem, const Tensor& tensor) : address_(mem, tensor, sizeof(T)) {}

  bool dense() const { return address_.step() == 1; }
  bool joins(int outer, int inner, int extent) const { return address_.joins(outer, inner, extent); }
  void begin(int npu, int group, const Loops& loops) { address_.begin(npu, group, loops); }
  void select(std::int64_t first, std::int64_t second, std::int64_t third) { address_.select(first, second, third); }
  T* open(int first, int) { return dense() ? reinterpret_cast<T*>(address_.at(first)) : staged_.data(); }
  void close(int first, int count) {
    if (dense()) return;
    T* row = reinterpret_cast<T*>(address_.at(first));
    for (int i = 0; i < count; ++i) row[i * address_.step()] = staged_[static_cast<std::size_t>(i)];
  }

 private:
  RowAddress address_;
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
  bool joins(int outer, int inner, int extent) const {
    return read_ == nullptr || address_.joins(outer, inner, extent);
  }
  void begin(int npu, int group, const Loops& loops) {
    if (read_ != nullptr) address_.begin(npu, group, loops);
  }
  void select(std::int64_t first, std::int64_t second, std::int64_t third) {
    if (read_ != nullptr) address_.select(first, second, third);
  }
  const W* open(int first, int count) {
    if (read_ == nullptr) return constant_.fill(staged_, count);
    if (address_.step() == 0) {
      W value;
      read_(&value, address_.at(first), 1, 1);
      constant_.set(value);
      return constant_.fill(staged_, count);
    }
    read_(staged_.data(), address_.at(first), address_.step(), count);
    return staged_.data();
  }
  void close(int, int) {}

 protected:
  // Whether all elements of a row are equal because they are one.
  bool repeats() const { return read_ == nullptr || address_.step() == 0; }

 private:
  void set(const Memories& mem, const Tensor& tensor) {
    address_ = RowAddress(mem, tensor, size_of(tensor.dtype));
    read_ = row_reader<W>(tensor.dtype);
  }

  RowAddress address_;
  RowReader<W> read_ = nullptr;
  Constant<W> constant_;
  std::array<W, kRowChunk> staged_;
};

template <class W>
class Source<OneAs<W>> : public Source<As<W>> {
 public:
  using Source<As<W>>::Source;
  bool dense() const { return this->repeats(); }
  ValuesOrOne<W> open(int first, int count) {
    const bool one = this->repeats();
    return {Source<As<W>>::open(first, one ? 1 : count), one};
  }
};

template <class W>
class Target<As<W>> {
 public:
  Target(const Memories& mem, const Tensor& tensor)
      : address_(mem, tensor, size_of(tensor.dtype)), write_(row_writer<W>(tensor.dtype)) {}

  bool dense() const { return false; }
  bool joins(int outer, int inner, int extent) const { return address_.joins(outer, inner, extent); }
  void begin(int npu, int group, const Loops& loops) { address_.begin(npu, group, loops); }
  void select(std::int64_t first, std::int64_t second, std::int64_t third) { address_.select(first, second, third); }
  W* open(int, int) { return staged_.data(); }
  void close(int first, int count) { write_(address_.at(first), address_.step(), staged_.data(), count); }

 private:
  RowAddress address_;
  RowWriter<W> write_;
  std::array<W, kRowChunk> staged_;
};

template <class T>
class Source<Also<T>> : public Target<T> {
  using Target<T>::Target;
};

// The loops over `groups` channels of a lane.
template <class... Rows>
Loops loops_of(const Dim4& shape, int groups, const Rows&... rows) {
  const std::array<int, 4> extent{shape.n, groups, shape.h, shape.w};
  Loops loops;
  std::size_t last = 0;
  loops.extent[0] = shape.w;
  for (const int outer : {2, 1, 0}) {
    const int count = extent[static_cast<std::size_t>(outer)];
    int& joined = loops.extent[last];
    if (count == 1) continue;
    if (joined == 1) {
      loops.dimension[last] = outer;
      joined = count;
    } else if ((rows.joins(outer, loops.dimension[last], joined) && ...) &&
               joined <= std::numeric_limits<int>::max() / count) {
      // Only operands that repeat could have more elements than an int counts.
      joined *= count;
    } else {
      ++last;
      loops.dimension[last] = outer;
      loops.extent[last] = count;
    }
  }
  return loops;
}

// All rows of one lane, whose first channel lies in `group`.
template <class Body, class... Rows>
void walk_lane(int npu, int group, const Loops& loops, Body& body, Rows&... rows) {
  (rows.begin(npu, group, loops), ...);
  const int width = loops.extent[0];
  const int piece = (rows.dense() && ...) ? width : kRowChunk;
  for (int third = 0; third < loops.extent[3]; ++third) {
    for (int second = 0; second < loops.extent[2]; ++second) {
      for (int first = 0; first < loops.extent[1]; ++first) {
        (rows.select(first, second, third), ...);
        for (int w = 0; w < width; w += piece) {
          const int count = std::min(piece, width - w);
          body(rows.open(w, count)..., count);
          (rows.close(w, count), ...);
        }
      }
    }
  }
}

// Lanes [first, last) of a walk, with one set of staging buffers. Lane 0 is the one of the first channel.
template <class MakeBody, class... Rows>
void walk_lanes(const Chip& chip, const Tensor& dst, int first, int last, MakeBody& make_body, Rows&&... rows) {
  const int start = chip.npu_of(dst.addr);
  int groups = 0;
  Loops loops;
  for (int lane = first; lane < last; ++lane) {
    const int of_lane = quotient(dst.shape.c - lane + chip.npu_num - 1, chip.npu_num);
    if (of_lane != groups) loops = loops_of(dst.shape, groups = of_lane, rows...);
    const int npu = remainder(start + lane, chip.npu_num);
    auto body = make_body(npu);
    walk_lane(npu, quotient(start + lane, chip.npu_num), loops, body, rows...);
  }
}

}  // namespace rows_detail

// As for_each_row, for bodies that need to know the lane: make_body(npu) gives the body of one lane.
template <class D, class... S, class MakeBody, class... Operands>
void for_each_row_by_lane(const Memories& mem, const Tensor& dst, MakeBody make_body, const Operands&... sources) {
  static_assert(sizeof...(S) == sizeof...(Operands), "one element type for each source");
  if (dst.shape.elements() == 1) return rows_detail::walk_one<D, S...>(mem, dst, make_body, sources...);
  const Chip& chip = mem.chip();
  const int lanes = std::min(dst.shape.c, chip.npu_num);
  const auto walk = [&](int first, int last) {
    rows_detail::walk_lanes(chip, dst, first, last, make_body, rows_detail::Target<D>(mem, dst),
                            rows_detail::Source<S>(mem, sources)...);
  };
  if (lane_slice != nullptr) return walk(lane_slice->first, lane_slice->last);
  parallel_ranges(lanes, dst.shape.elements(), walk);
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
