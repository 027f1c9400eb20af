// Placement: where each element of one tensor lies, in the local memories or in system memory. A value; holds no data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {

enum class LayoutKind : std::uint8_t {
  kAligned,
  kCompact,
  kLineAligned,
  kFree,  // strides given
  kWeight,
  kContinuous,      // system memory
  kFreeContinuous,  // system memory, strides given
};

struct Placement {
  Lanes lanes;
  bool local = true;       // false: system memory, one linear space from byte 0
  std::uint64_t addr = 0;  // of the first element
  Dim4 shape;              // as the user counts elements
  int pack = 1;            // neighbours of the N dimension that form one unit
  Stride4 stride;          // in units
  int element_bytes = 0;

  int start_npu() const { return local ? split_local_address(lanes, addr).npu : 0; }
  LocalSpot spot(int n, int c, int h, int w) const;
  // One past the last byte of any element, counted from the start of an NPU's (or the system) memory.
  std::int64_t end_offset() const;
  // Bytes of whole batches, alignment gaps included, in the fullest NPU.
  std::int64_t reserved_bytes() const;
};

// stride: for the kinds that take one. Errors say which of shape, pack, start NPU or size is impossible and the limit.
Result<Placement> make_placement(const Lanes& lanes, LayoutKind kind, std::uint64_t addr, const Dim4& shape, int pack,
                                 int element_bytes, const std::optional<Stride4>& stride = std::nullopt);

}  // namespace softtpu
