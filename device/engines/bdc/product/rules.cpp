// Rules of matrix products (numerics: bm1684x-matmul-conv-pool.md section 6; golden bm1684x/mm_conv_pool_limits).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/product/command.hpp"
#include "device/engines/bdc/product/unrounded.hpp"
#include "device/engines/bdc/requant/sum_checks.hpp"

namespace softtpu {
namespace {

// Operands of either FP8. Any of them may be result, and the floats of every chip; a bias is fp32 or fp16.
void check_fp8_types(Checks& check, const MatMulCmd& cmd) {
  check.type_in("left", type_of(cmd.left), kFp8s).type_in("right", type_of(cmd.right), kFp8s);
  check.type("output", cmd.dst.dtype);
  if (cmd.right_trans && check.chip().has(Quirk::kFp8TransPlain)) {
    check.require(!cmd.rescale, [] { return std::string("a transposed right matrix takes no rescale"); });
    check.type_in("output", cmd.dst.dtype, info(check.op()).types & ~types(Dtype::kBfp16));
  }
  if (const auto sums = unrounded_result(check.chip(), cmd)) check.tensor("output as f32", *sums);
  if (!cmd.bias) return;
  const bool any = check.chip().has(Quirk::kFp8WithBf16);
  check.type_in("bias", type_of(*cmd.bias), any ? kFloats : types(Dtype::kFp32, Dtype::kFp16));
  // Every such call was refused where it was recorded (golden bm1690/fp8_mm).
  check.require(!cmd.dst_trans || std::holds_alternative<Scalar>(*cmd.bias), [] {
    return std::string("bias is a tensor; where the matrices are stored transposed it has to be a constant");
  });
}

void check_fp_group_types(Checks& check, const MatMulCmd& cmd) {
  const Dtype type = type_of(cmd.left);
  if (contains(info(check.op()).types, Dtype::kFp8E4M3)) return check_fp8_types(check, cmd);
  const bool no_halves = check.chip().has(Quirk::kByteAndBf16Products);
  check.type_in("left and right", type, no_halves ? types(Dtype::kBfp16) : kHalves)
      .type_in("output", cmd.dst.dtype, kFp32Only | types(type));
  const bool wide_bias = check.chip().has(Quirk::kFp32ProductBias);
  if (cmd.bias) check.type_in("bias", type_of(*cmd.bias), kFp32Only | (wide_bias ? kNoTypes : types(type)));
}

void check_int_types(Checks& check, const MatMulCmd& cmd) {
  const Dtype left = type_of(cmd.left);
  const Dtype right = type_of(cmd.right);
  check.type_in("left", left, kInts).type_in("right", right, kInts);
  check.require(size_of(left) == size_of(right), [&] {
    return fmt::format("left ({}) and right ({}) have types of different width", to_text(left), to_text(right));
  });
}

void check_int8_types(Checks& check, const MatMulCmd& cmd) {
  const Dtype left = type_of(cmd.left);
  const Dtype right = type_of(cmd.right);
  check.type_in("left", left, kInts8).type_in("right", right, kInts8);
  check.type_in("output", cmd.dst.dtype, kInts8 | kInts16);
  bool is_signed = is_signed_int(left) || is_signed_int(right);
  const bool shifted_sums = check.chip().has(Quirk::kShiftedProductSums);
  check.require(!shifted_sums || !cmd.old, [] { return std::string("result_add is not supported by this chip"); });
  if (cmd.bias) {
    const Dtype bias = type_of(*cmd.bias);
    check.type_in("bias", bias, shifted_sums ? kInts32 : kInts16);
    is_signed = is_signed || is_signed_int(bias);
  }
  check_sign(check, cmd.dst.dtype, is_signed, cmd.relu);
}

// The sums are always signed.
void check_zero_point_types(Checks& check, const MatMulCmd& cmd) {
  check.type_in("left", type_of(cmd.left), kInts8).type_in("right and zp", type_of(cmd.right), kInts8);
  if (cmd.bias) check.type_in("bias", type_of(*cmd.bias), kInts16 | kInts32);
  check_sum_end(check, {cmd.dst.dtype, cmd.requant, true, cmd.relu, cmd.old.has_value()});
}

// Types and sizes are checked where the functions are entered: each takes its own.
void check_factors(Checks& check, const BlockFactors& blocks) {
  const auto on_first = [&](const char* name, const Tensor& factors) {
    check.shape(name, factors.shape).tensor(name, factors).on_first_npu(name, factors.addr);
  };
  if (blocks.left) on_first("factors of left", *blocks.left);
  on_first("factors of right", blocks.right);
  if (blocks.rows) on_first("factors of rows", *blocks.rows);
}

void check_types(Checks& check, const MatMulCmd& cmd) {
  if (cmd.blocks) return check_factors(check, *cmd.blocks);
  switch (cmd.kind) {
    case MatMulKind::kFp32: return;
    case MatMulKind::kFpGroup: return check_fp_group_types(check, cmd);
    case MatMulKind::kInt: return check_int_types(check, cmd);
    case MatMulKind::kInt8: return check_int8_types(check, cmd);
    case MatMulKind::kInt8Zp: return check_zero_point_types(check, cmd);
  }
}

void check_operand(Checks& check, const char* name, const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) check.shape(name, tensor->shape).tensor(name, *tensor);
}

// Zero points of each column: a row of them is read as rows of execution units.
void check_zero_points(Checks& check, const MatMulCmd& cmd) {
  const auto* points = std::get_if<Tensor>(&cmd.zero_point);
  if (points == nullptr || !check.chip().has(Quirk::kAlignedZeroPoints)) return;
  check.on_first_npu("zp", points->addr);
  if (!cmd.dst_trans) check.multiple_of("zp", points->addr, static_cast<unsigned>(check.chip().eu_bytes));
}

// Columns spread over channels: right, bias and shift lie beside the output. Rows as channels: all start at NPU 0.
void check_place(Checks& check, const MatMulCmd& cmd) {
  const auto beside = [&](const char* name, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      check.same_npu(name, tensor->addr, "output", cmd.dst.addr);
    }
  };
  beside("right", cmd.right);
  if (cmd.bias) beside("bias", *cmd.bias);
  if (cmd.rescale) beside("rescale", *cmd.rescale);
  if (spreads_columns(cmd.kind)) return beside("shift", cmd.shift);
  beside("left", cmd.left);
  const int npu = check.chip().npu_of(cmd.dst.addr);
  check.require(npu == 0, [&] { return fmt::format("start NPU of output, left and right ({}) is not 0", npu); });
}

}  // namespace

void rules(Checks& check, const MatMulCmd& cmd) {
  check_types(check, cmd);
  check.shape("output", cmd.dst.shape).tensor("output", cmd.dst);
  check_operand(check, "left", cmd.left);
  check_operand(check, "right", cmd.right);
  if (cmd.bias) check_operand(check, "bias", *cmd.bias);
  if (cmd.old) check_operand(check, "old output", *cmd.old);
  if (cmd.rescale) check_operand(check, "rescale", *cmd.rescale);
  check_operand(check, "zp", cmd.zero_point);
  check_zero_points(check, cmd);
  check_operand(check, "shift", cmd.shift);
  check_place(check, cmd);
  check_requant_table(check, cmd.requant, cmd.dst);
}

}  // namespace softtpu
