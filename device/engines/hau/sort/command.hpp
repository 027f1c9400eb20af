// Sorting by the HAU. All operands lie in global memory or L2 SRAM.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class SortIndex : std::uint8_t {
  kNone,
  kNatural,  // dst_index receives the elements' positions in src
  kGiven,    // dst_index receives the elements of src_index
};

// dst = the first dst.shape.w elements of src in sorted order. Equal keys are ordered by index, unsigned and ascending
// in both directions.
struct HauSortCmd {
  static constexpr CommandTraits kTraits{};
  SortIndex index = SortIndex::kNone;
  bool descending = false;
  Tensor dst, dst_index, src, src_index;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src));
    if (index == SortIndex::kGiven) f(Access::kRead, "input_idx", Operand(src_index));
    f(Access::kWrite, "output", Operand(dst));
    if (index != SortIndex::kNone) f(Access::kWrite, "output_idx", Operand(dst_index));
  }
  template <class F>
  void numbers(F f) const {
    f("len", src.shape.w);
    f("K", dst.shape.w);
  }
  bool operator==(const HauSortCmd&) const = default;
};

}  // namespace softtpu
