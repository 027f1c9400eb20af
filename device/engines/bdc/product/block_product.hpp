// Float products whose elements have factors by groups of the inner dimension (numerics: bm1684x2.md section 5).
//
// They are MatMulCmd of kFpGroup with a group size. The factors of right, [1, cols, 1, groups], are its rescale. Those
// of left, [1, rows, 1, groups], stand where others have a bias: with them the sum of a group is multiplied with the
// product of both factors. Without them the elements of right are multiplied with theirs and rounded before they enter
// the sums; an FP8 is then read as the type of zero_point. The table of requant has an f32 factor for each row of the
// result. FP4 lie in tensors of bytes, two to a byte, or where a row has as many bytes as elements each in its own.
#pragma once

#include <optional>

#include "device/engines/bdc/product/command.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

inline int group_size(const MatMulCmd& cmd) { return cmd.lshift; }
inline bool is_block_product(const MatMulCmd& cmd) { return cmd.kind == MatMulKind::kFpGroup && group_size(cmd) != 0; }
inline std::optional<Tensor> left_factors(const MatMulCmd& cmd) {
  if (!cmd.bias) return std::nullopt;
  return std::get<Tensor>(*cmd.bias);
}
inline const Tensor& right_factors(const MatMulCmd& cmd) { return std::get<Tensor>(*cmd.rescale); }
inline std::optional<Tensor> row_factors(const MatMulCmd& cmd) {
  return cmd.requant ? cmd.requant->table : std::nullopt;
}
// The type of the elements of an operand.
inline Dtype element_type(const Operand& operand) {
  return type_of(operand) == Dtype::kUint8 ? Dtype::kFp4 : type_of(operand);
}

void execute_block_product(Memories& mem, const MatMulCmd& cmd);

}  // namespace softtpu
