// What the tests of matrix products share: where the matrices of a case lie.
#pragma once

#include <fmt/format.h>

#include "tests/reference/elementwise.hpp"
#include "tests/unit/compare_with_oracle.hpp"
#include "tpu_kernel.h"

namespace softtpu {

using reference::aligned;
using reference::Float;
using reference::Image;
using reference::LocalTensor;
using reference::RandomData;

class MatMulTest : public OracleComparison {
 protected:
  static constexpr unsigned kLeft = 0x4000, kRight = 0x10000, kBias = 0x30000, kShift = 0x34000, kResult = 0x38000;

  static unsigned address(int npu, unsigned offset) {
    return static_cast<unsigned>(npu) * static_cast<unsigned>(reference::kLocalBytes) + offset;
  }
  static data_type_t byte(bool is_signed) { return is_signed ? DT_INT8 : DT_UINT8; }
  static scalar_t scalar_bits(std::uint32_t bits) {
    scalar_t value;
    value.u32 = bits;
    return value;
  }
  void fill(std::initializer_list<const LocalTensor*> tensors, Float type) {
    for (const LocalTensor* tensor : tensors) random_.fill(image_, *tensor, type);
  }
  void fill_bits(std::initializer_list<const LocalTensor*> tensors) {
    for (const LocalTensor* tensor : tensors) random_.fill_bits(image_, *tensor);
  }
};

}  // namespace softtpu
