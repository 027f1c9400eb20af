// Float products whose elements have factors by groups of the inner dimension (numerics: bm1684x2.md section 5).
#pragma once

#include "device/engines/bdc/product/command.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// The type of the elements of an operand: FP4 lie in tensors of bytes.
inline Dtype element_type(const Operand& operand) {
  return type_of(operand) == Dtype::kUint8 ? Dtype::kFp4 : type_of(operand);
}

// Of a command with `blocks`.
void execute_block_product(Memories& mem, const MatMulCmd& cmd);

}  // namespace softtpu
