// A few elements in each of many lanes, brought together in one row and back. A walk from lane to lane takes longer to
// find so short rows than to compute them, and vectors are then mostly empty.
#pragma once

#include <cstdint>

#include "device/memory/memories.hpp"

namespace softtpu {

class ShortLanes {
 public:
  // More elements of a lane than that are a row of their own.
  static constexpr int kMostInLane = 16;
  static constexpr int kMostElements = 1024;

  // The lanes that a walk over `dst` visits.
  ShortLanes(const Memories& mem, const Tensor& dst);

  // Whether each of several lanes has the same number of elements, and few of them.
  bool fit() const { return in_lane_ > 0; }
  // Elements of all lanes.
  int count() const { return in_lane_ * (last_ - first_); }

  // All elements of an operand of dst's shape, lane by lane in the order n, h, w.
  void gather(const Tensor& from, void* row) const;
  void scatter(const void* row, const Tensor& to) const;
  // Whether every lane has the same bytes there. `address` is in local memory, on any NPU.
  bool share(std::uint64_t address, std::size_t bytes) const;

 private:
  template <class T, class Move>
  void each_lane(const Tensor& tensor, Move move) const;

  const Memories& mem_;
  Dim4 shape_;
  int start_npu_;
  int in_lane_ = 0;
  int first_ = 0, last_ = 0;  // lanes, counted from the start NPU
};

}  // namespace softtpu
