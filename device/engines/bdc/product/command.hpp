// Matrix products of the BDC.
#pragma once

#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/engines/bdc/requant/requant.hpp"

namespace softtpu {

// What is computed from the sums of products, and which of the two matrix layouts the operands have
// (numerics: bm1684x-matmul-conv-pool.md sections 1, 2 and 4).
enum class MatMulKind : std::uint8_t {
  kFp32,     // two-lane sums of f32 products; columns spread over channels
  kInt,      // integers of equal width, 32-bit result; columns spread over channels
  kInt8,     // 8-bit integers, shifted and saturated; columns spread over channels
  kFpGroup,  // f16, bf16 or FP8 in aligned groups; rows are channels
  kInt8Zp,   // 8-bit integers, right minus zero point, 32-bit sums; rows are channels
};

// A matrix whose columns are spread over channels is the tensor [rows, ceil(columns / p), 1, p].
constexpr bool spreads_columns(MatMulKind kind) { return kind <= MatMulKind::kInt8; }

// Factors of float products by groups of the inner dimension (numerics: bm1684x2.md section 5). With those of left the
// sum of a group is multiplied with the product of both. Without them the elements of right are multiplied with theirs,
// and rounded to the type of left, before they enter the sums; an FP8 is then read as `read_as`.
struct BlockFactors {
  int group = 0;               // elements of the inner dimension
  std::optional<Tensor> left;  // [1, rows, 1, groups]
  Tensor right;                // [1, cols, 1, groups]; without left's, rows of 2 * groups through all columns
  std::optional<Tensor> rows;  // an f32 for each row of the result
  Dtype read_as = Dtype::kFp8E4M3;
  bool operator==(const BlockFactors&) const = default;
};

// dst = left x right (+ bias) (+ old), a product of rows x inner and inner x cols. The tensors have their stored shape:
// a transposed operand is stored with its rows and columns exchanged. A Scalar operand stands for a matrix of equal
// elements.
struct MatMulCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  MatMulKind kind = MatMulKind::kFp32;
  int rows = 0, inner = 0, cols = 0;
  bool left_trans = false, right_trans = false, dst_trans = false;
  Tensor dst;
  Operand left, right;
  std::optional<Operand> bias;    // one row, added to every row
  std::optional<Tensor> old;      // dst's address as a matrix of the type that is accumulated
  Operand zero_point = Scalar{};  // kInt8Zp
  Operand shift = Scalar{};       // kInt: 8-bit amounts, positive to the left
  Rounding rounding = Rounding::kHalfUp;
  int lshift = 0, rshift = 0;  // kInt8: of the old result, of the sum
  bool relu = false;
  std::optional<Operand> rescale;  // kFpGroup: one f32 factor for each column, after relu
  std::optional<Requant> requant;  // kInt8Zp: channels are those of the stored result
  bool symmetric = false;          // kInt8Zp: saturates to -high..high
  // kFpGroup. FP4 lie in tensors of bytes then, two to a byte, or where a row has as many bytes as elements each in its
  // own.
  std::optional<BlockFactors> blocks;

  double operations() const { return 2.0 * rows * inner * cols; }
  // Right, bias and old output take part in the full width of their last channel, but what stands behind their last
  // column only reaches what stands behind the result's.
  Role row_role(bool fixed_type = false) const {
    return {.last_channel = spreads_columns(kind) ? 1 : 0, .fixed_type = fixed_type};
  }
  Role left_role() const {
    const auto* matrix = std::get_if<Tensor>(&left);
    if (!spreads_columns(kind) || matrix == nullptr) return {};
    return {.last_channel = last_channel_of(left_trans ? rows : inner, matrix->shape.w)};
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "left", left, left_role());
    f(Access::kRead, "right", right, row_role());
    if (bias) f(Access::kRead, "bias", *bias, row_role(true));
    if (old) f(Access::kRead, "old output", Operand(*old), row_role());
    if (kind == MatMulKind::kInt8Zp) f(Access::kRead, "zp", zero_point, row_role());
    if (rescale) f(Access::kRead, "rescale", *rescale, row_role());
    if (blocks && blocks->left) f(Access::kRead, "factors of left", Operand(*blocks->left));
    if (blocks) f(Access::kRead, "factors of right", Operand(blocks->right));
    if (blocks && blocks->rows) f(Access::kRead, "factors of rows", Operand(*blocks->rows));
    if (kind == MatMulKind::kInt) f(Access::kRead, "shift", shift, row_role());
    if (requant && requant->table) f(Access::kRead, "requant", Operand(*requant->table), row_role(true));
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("number of output rows", rows);
    f("number of columns of left", inner);
    if (kind != MatMulKind::kInt8) return;
    f("lshift", lshift);
    f("rshift", rshift);
  }
  bool operator==(const MatMulCmd&) const = default;
};

}  // namespace softtpu
