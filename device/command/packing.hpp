// Operands of 4-bit integers: two to a byte, the low half first. Such an operand of a CastCmd or IntArithCmd names the
// bytes that hold its elements, as uint8 or int8 by their sign; which operands are packed stands beside the rounding
// mode.
#pragma once

#include <optional>

#include "device/isa/types.hpp"

namespace softtpu {

constexpr bool is_nibble(Dtype type) { return type == Dtype::kInt4 || type == Dtype::kUint4; }
constexpr Dtype byte_of(Dtype nibble) { return nibble == Dtype::kInt4 ? Dtype::kInt8 : Dtype::kUint8; }

// Which operands of a command are packed.
struct Packing {
  bool dst = false, first = false, second = false;
  constexpr bool any() const { return dst || first || second; }
};

namespace packing_detail {
constexpr unsigned kModes = 0xF, kDst = 0x10, kFirst = 0x20, kSecond = 0x40;
}

constexpr Rounding with_packing(Rounding mode, const Packing& packing) {
  using namespace packing_detail;
  return static_cast<Rounding>(static_cast<unsigned>(mode) | (packing.dst ? kDst : 0) | (packing.first ? kFirst : 0) |
                               (packing.second ? kSecond : 0));
}
constexpr Packing packing_of(Rounding mode) {
  using namespace packing_detail;
  const auto bits = static_cast<unsigned>(mode);
  return {(bits & kDst) != 0, (bits & kFirst) != 0, (bits & kSecond) != 0};
}
constexpr Rounding mode_of(Rounding mode) {
  return static_cast<Rounding>(static_cast<unsigned>(mode) & packing_detail::kModes);
}

// The bytes of an operand of 4-bit integers of `shape`, whose strides (`steps`) count elements. Nothing where a row
// begins in the middle of a byte, unless rows follow each other without a gap: what the chips do then is not known.
std::optional<Tensor> packed_bytes(std::uint64_t addr, const Dim4& shape, const Stride4& steps, Dtype type,
                                   bool natural);

}  // namespace softtpu
