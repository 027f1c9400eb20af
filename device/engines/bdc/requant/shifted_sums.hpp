// The end of sums of products of bytes that are shifted or requantised, plain or SIMD.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/numeric/shift.hpp"

namespace softtpu {

// sat(((sum + addend) * multiplier >> shift) + offset). Only signed sums without addends may have a multiplier.
struct SumShift {
  static constexpr std::int64_t kNoFloor = std::numeric_limits<std::int64_t>::min();

  bool is_signed;  // how the 32 bits of a sum are read
  Shifter<std::int64_t> shift;
  std::int64_t low, high;         // of the results
  std::int64_t floor = kNoFloor;  // what is less becomes this, before it is multiplied
  std::int32_t multiplier = 1;
  std::int32_t offset = 0;

  std::int64_t operator()(std::uint32_t sum, std::int64_t addend) const {
    const std::int64_t value = is_signed ? std::int64_t{static_cast<std::int32_t>(sum)} : std::int64_t{sum};
    return std::clamp(shift(std::max(value + addend, floor) * multiplier) + offset, low, high);
  }
};

// out[i] is of sums[i] + start, modulo 2^32, and of addends[i], of which there may be none (nullptr), for i < count.
using ShiftSums = void (*)(const SumShift& rule, const std::uint32_t* sums, std::uint32_t start,
                           const std::int64_t* addends, int count, void* out);
// For results of 1, 2 or 4 bytes.
ShiftSums plain_shift_sums(int result_bytes);
ShiftSums fast_shift_sums(int result_bytes);
// That of the process's choice (kernel_choice.hpp).
ShiftSums shift_sums(int result_bytes);

}  // namespace softtpu
