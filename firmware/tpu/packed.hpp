// Operands of functions that take 4-bit integers, whose strides count elements, two of which lie in a byte.
#pragma once

#include "device/command/packing.hpp"
#include "firmware/call.hpp"

namespace softtpu {

// An operand of any type; one of 4 bits as its bytes. Rows that begin in the middle of a byte are taken where they
// follow each other without a gap; what the chips do with others is not known.
Tensor packed_or_whole(const Call& call, const char* name, std::uint32_t addr, const Dim4& shape, const dim4* stride,
                       Dtype type);

}  // namespace softtpu
