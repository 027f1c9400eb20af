// The zero points of products of bytes: what is meant is a right matrix minus its zero points.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device/engines/bdc/product/command.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// One row of points for all of the inner dimension, or one for each NPU that rows of the right matrix lie on: the chip
// takes the points of a row from the row's own NPU (numerics: bm1684x-matmul-conv-pool.md section 2).
struct ZeroPointRows {
  int count = 1;
  bool wide = false;                  // points have more than the 8 bits of the right matrix
  std::vector<std::uint32_t> points;  // [count][cols]
};
ZeroPointRows zero_point_rows(const Memories& mem, const MatMulCmd& cmd);

// What points that differ from NPU to NPU take off each sum: the sums of the left elements that meet the same points,
// times those points. That is a product of matrices again; of bytes, a digit of the sums at a time.
class ZeroPointSums {
 public:
  using LoadLeft = std::function<void(int row, int count, std::uint32_t* values)>;

  // Of a product of that size and signs; load_left gives rows of its left matrix. The points are read, the memory of
  // the results is the thread's until the next command.
  ZeroPointSums(const ProductSize& size, bool left_signed, bool right_signed, const ZeroPointRows& rows,
                const LoadLeft& load_left);
  // Stores what they leave of each sum.
  Store<std::uint32_t> taken_off(const Store<std::uint32_t>& store) const;

 private:
  void sum_left(const LoadLeft& load_left);
  bool cut_digit(std::uint8_t* digits);
  void add_products(const ZeroPointRows& rows);
  void add_digit(const std::uint8_t* digits, unsigned bit, const ZeroPointRows& rows);

  ProductSize size_;
  bool left_signed_, right_signed_;
  int parts_;            // rows of points
  std::uint32_t* left_;  // [rows][parts]
  std::uint32_t* off_;   // [rows][cols]
};

}  // namespace softtpu
