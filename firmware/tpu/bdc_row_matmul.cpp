// Matrix products whose rows are channels: fp_mm, int8_zp_mm, int8_pc_zp_mm, quant_mm.
#include <fmt/format.h>

#include <utility>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/numeric/only_nan.hpp"
#include "firmware/tpu/requant_call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

enum class Stored : std::uint8_t {
  kPlain,       // left M x K, right K x N, output M x N
  kRightTrans,  // left M x K, right N x K, output M x N
  kAllTrans,    // left K x M, right N x K, output N x M
};

// The sizes as the functions take them; `right` is right_cols, or right_rows where the right matrix is transposed.
struct Sizes {
  Stored stored;
  int left_rows, left_cols, right;
  bool of_product = false;  // left_rows and left_cols are those of the product, not of what is stored
};

// A matrix in local memory, or a constant that stands for one.
struct Side {
  Side(local_addr_t address) : addr(address) {}                   // NOLINT: read as "at this address"
  Side(const scalar_t& value) : constant(true), scalar(value) {}  // NOLINT: read as "this constant"
  bool constant = false;
  local_addr_t addr = 0;
  scalar_t scalar = {.u32 = 0};
};

class RowMatMul {
 public:
  RowMatMul(Op op, MatMulKind kind, const Sizes& sizes) : call_(op) {
    const bool all = sizes.stored == Stored::kAllTrans;
    cmd_.kind = kind;
    cmd_.left_trans = cmd_.dst_trans = all;
    cmd_.right_trans = sizes.stored != Stored::kPlain;
    cmd_.rows = sizes.left_rows;
    cmd_.inner = sizes.left_cols;
    if (all && !sizes.of_product) std::swap(cmd_.rows, cmd_.inner);
    cmd_.cols = sizes.right;
  }
  void operands(const Side& left, Dtype left_type, const Side& right, Dtype right_type) {
    cmd_.left = side(left, cmd_.rows, cmd_.inner, cmd_.left_trans, left_type);
    cmd_.right = side(right, cmd_.inner, cmd_.cols, cmd_.right_trans, right_type);
  }
  void output(local_addr_t addr, Dtype type, bool add, Dtype old_type) {
    cmd_.dst = matrix(addr, cmd_.rows, cmd_.cols, cmd_.dst_trans, type);
    if (add) cmd_.old = matrix(addr, cmd_.rows, cmd_.cols, cmd_.dst_trans, old_type);
  }
  // A byte for each column of the product, on each NPU that is used; transposed output: one byte for each channel.
  void zero_points(local_addr_t addr, Dtype type) {
    const bool of_columns = cmd_.right_trans && (cmd_.dst_trans || !call_.chip().has(Quirk::kZeroPointProducts));
    const int channels = of_columns ? cmd_.cols : cmd_.inner;
    if (call_.chip().has(Quirk::kRawZeroPoints)) type = Dtype::kInt16;
    if (cmd_.dst_trans) {
      cmd_.zero_point = call_.local(addr, Dim4{1, channels, 1, 1}, Stride4{0, 1, 0, 0}, type);
    } else {
      cmd_.zero_point = call_.local(addr, Dim4{1, channels, 1, cmd_.cols}, Stride4{0, 0, 0, 1}, type);
    }
  }
  void bias(const Side& bias, Dtype type) {
    const bool of_rows = cmd_.kind == MatMulKind::kFpGroup && call_.chip().has(Quirk::kBiasOfRows);
    cmd_.bias = of_rows ? of_elements(bias, type) : of_columns(bias, type);
  }
  void rescale(const Side& factors) { cmd_.rescale = of_elements(factors, Dtype::kFp32); }
  void issue() const { call_.issue(cmd_); }
  // NaNs in left_rows rows as long as the right matrix has columns, where the product's rules hold.
  void store_nans(const Sizes& sizes) const {
    if (!call_.core().accepts(call_.op(), cmd_)) return;
    const Dtype type = cmd_.dst.dtype;
    const Tensor rows =
        call_.local(static_cast<local_addr_t>(cmd_.dst.addr), Dim4{1, sizes.left_rows, 1, sizes.right}, type);
    call_.issue(CopyCmd{rows, Scalar{kOnlyNan >> (32 - 8 * size_of(type)), type}});
  }
  const Call& call() const { return call_; }
  MatMulCmd& command() { return cmd_; }

 private:
  Tensor matrix(local_addr_t addr, int rows, int cols, bool transposed, Dtype type) const {
    return call_.local(addr, transposed ? Dim4{1, cols, 1, rows} : Dim4{1, rows, 1, cols}, type);
  }
  // One value for each column of the product: a row, or one for each channel of a transposed result.
  Operand of_columns(const Side& values, Dtype type) const {
    if (values.constant) return scalar(values.scalar, type);
    if (cmd_.dst_trans) return call_.local(values.addr, Dim4{1, cmd_.cols, 1, 1}, Stride4{0, 1, 0, 0}, type);
    return matrix(values.addr, 1, cmd_.cols, false, type);
  }
  // A row of values on each NPU, for the rows of the product that lie there.
  Operand of_elements(const Side& values, Dtype type) const {
    if (values.constant || cmd_.dst_trans) return of_columns(values, type);
    return call_.local(values.addr, Dim4{1, cmd_.rows, 1, cmd_.cols}, Stride4{0, 0, 0, 1}, type);
  }
  Operand side(const Side& which, int rows, int cols, bool transposed, Dtype type) const {
    if (which.constant) return scalar(which.scalar, type);
    return matrix(which.addr, rows, cols, transposed, type);
  }

  Call call_;
  MatMulCmd cmd_;
};

// What the functions with a bias have besides.
struct FloatEnd {
  data_type_t type;
  bool is_const;
  var_context_t data;
  bool relu;
};

void fp_mm(Op op, const Sizes& sizes, local_addr_t output, const Side& left, const Side& right, data_type_t output_type,
           data_type_t operand_type, bool add, const FloatEnd* end = nullptr) {
  RowMatMul mm(op, MatMulKind::kFpGroup, sizes);
  const Dtype type = mm.call().dtype("operand type", operand_type);
  mm.operands(left, type, right, type);
  mm.output(output, mm.call().dtype("output_dtype", output_type), add, Dtype::kFp32);
  if (end != nullptr) {
    mm.bias(end->is_const ? Side(end->data.scalar) : Side(end->data.addr), mm.call().dtype("bias_dtype", end->type));
    mm.command().relu = end->relu;
  }
  mm.issue();
}

// What the FP8 functions have besides: the address or the bits of a factor.
struct Rescale {
  bool used, is_const;
  var_context_t data;
};

void fp8_mm(Op op, const Sizes& sizes, local_addr_t output, local_addr_t left, local_addr_t right,
            const data_type_t (&types)[3], bool add, const Rescale& rescale, const FloatEnd* end = nullptr) {
  RowMatMul mm(op, MatMulKind::kFpGroup, sizes);
  const Call& call = mm.call();
  call.require(rescale.used || rescale.is_const || !call.chip().has(Quirk::kUnusedFactorConst),
               "{argument} ({value}) has to be 1 on {limit} where do_rescale is 0.", "rescale_is_const", 0,
               call.chip().name);
  mm.operands(left, call.dtype("left_dtype", types[1]), right, call.dtype("right_dtype", types[2]));
  mm.output(output, call.dtype("output_dtype", types[0]), add, Dtype::kFp32);
  if (end != nullptr) {
    mm.bias(end->is_const ? Side(end->data.scalar) : Side(end->data.addr), call.dtype("bias_dtype", end->type));
    mm.command().relu = end->relu;
  }
  if (rescale.used) mm.rescale(rescale.is_const ? Side(rescale.data.scalar) : Side(rescale.data.addr));
  if (sizes.stored == Stored::kAllTrans && call.chip().has(Quirk::kFp8TransNan)) return mm.store_nans(sizes);
  mm.issue();
}

void zp_mm(Op op, Sizes sizes, local_addr_t output, const Side& left, const Side& right, const Side& zero_point,
           data_type_t left_type, data_type_t right_type, bool add) {
  const bool signs_follow = Call(op).chip().has(Quirk::kZeroPointProducts);
  sizes.of_product = signs_follow;
  if (signs_follow && right.constant && !zero_point.constant) sizes.stored = Stored::kAllTrans;
  RowMatMul mm(op, MatMulKind::kInt8Zp, sizes);
  Dtype zero_type = mm.call().dtype("right type", right_type);
  const Dtype left_dtype = mm.call().dtype("left type", left_type);
  if (mm.call().chip().has(Quirk::kSignOnlyZeroPoints) && size_of(zero_type) != 0)
    zero_type = is_signed_int(zero_type) ? Dtype::kInt8 : Dtype::kUint8;
  mm.operands(left, left_dtype, right, signs_follow && size_of(zero_type) == 1 ? left_dtype : zero_type);
  mm.output(output, Dtype::kInt32, add, Dtype::kInt32);
  if (zero_point.constant) {
    const bool raw = mm.call().chip().has(Quirk::kRawZeroPoints);
    mm.call().require((zero_point.scalar.u32 & 0xFFU) == 0 || !mm.call().chip().has(Quirk::kNoProductPoints),
                      "{argument} ({value}) is not 0, the only one that {limit} has.", "zero point",
                      zero_point.scalar.u32 & 0xFFU, mm.call().chip().name);
    mm.command().zero_point = scalar(zero_point.scalar, raw ? Dtype::kUint8 : zero_type);
  } else {
    mm.zero_points(zero_point.addr, zero_type);
  }
  if (mm.call().chip().has(Quirk::kProductPointsLost)) mm.command().zero_point = Scalar{0, Dtype::kUint8};
  mm.issue();
}

// ---- products whose elements have factors by groups of the inner dimension ----

struct BlockSizes {
  int rows, inner, cols, group;
};

// A matrix with a row for each of `rows`; two FP4 lie in a byte.
Tensor element_rows(const Call& call, local_addr_t addr, int rows, int columns, Dtype type) {
  const bool packed = type == Dtype::kFp4;
  return call.local(addr, Dim4{1, rows, 1, packed ? columns / 2 : columns}, packed ? Dtype::kUint8 : type);
}

// Whether the sizes, and what none of these functions is recorded with, are as they have to be.
bool check_block(const Call& call, const BlockSizes& sizes, bool add, bool saturates) {
  const bool groups = sizes.group == 32 || sizes.group == 64 || sizes.group == 128;
  return call.require(groups, "{argument} ({value}) is not {limit}.", "gsize", sizes.group, "32, 64 or 128") &&
         call.require(sizes.inner >= 1 && sizes.inner % sizes.group == 0,
                      "{argument} ({value}) is no multiple of {limit}.", "L_col_num", sizes.inner, "gsize") &&
         call.require(!add && !saturates, "{argument} is not determined.", add ? "add_result" : "saturate");
}

// What a function takes of a type; the sentence names them.
bool check_type(const Call& call, const char* name, Dtype type, TypeSet allowed, const char* determined) {
  return call.require(contains(allowed, type), "{argument} ({value}) is not determined; {limit}.", name, to_text(type),
                      determined);
}

MatMulCmd block_command(const BlockSizes& sizes) {
  MatMulCmd cmd;
  cmd.kind = MatMulKind::kFpGroup;
  cmd.rows = sizes.rows;
  cmd.inner = sizes.inner;
  cmd.cols = sizes.cols;
  cmd.right_trans = true;
  cmd.blocks.emplace().group = sizes.group;
  return cmd;
}

// The factors by the names that the functions give them.
struct FactorNames {
  const char *left, *right;
};
void issue_block(const Call& call, const MatMulCmd& cmd, const FactorNames& names) {
  Checks check(call.core().memories(), call.op());
  if (cmd.blocks->left) check.tensor(names.left, *cmd.blocks->left);
  check.tensor(names.right, cmd.blocks->right);
  if (cmd.blocks->rows) check.tensor("RQ_addr", *cmd.blocks->rows);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  call.issue(cmd);
}

struct BlockScaleAddrs {
  local_addr_t left, right;
};

// Sums of groups are multiplied with the factors of their row and column.
void scaled_sums(const Call& call, const BlockSizes& sizes, local_addr_t output, local_addr_t left, local_addr_t right,
                 const BlockScaleAddrs& at, Dtype left_type, Dtype right_type, Dtype scale_type, Dtype output_type,
                 const local_addr_t* of_rows = nullptr) {
  MatMulCmd cmd = block_command(sizes);
  const int groups = sizes.inner / sizes.group;
  cmd.dst = call.local(output, Dim4{1, sizes.rows, 1, sizes.cols}, output_type);
  cmd.left = element_rows(call, left, sizes.rows, sizes.inner, left_type);
  cmd.right = element_rows(call, right, sizes.cols, sizes.inner, right_type);
  cmd.blocks->left = call.local(at.left, Dim4{1, sizes.rows, 1, groups}, scale_type);
  cmd.blocks->right = call.local(at.right, Dim4{1, sizes.cols, 1, groups}, scale_type);
  if (of_rows != nullptr) cmd.blocks->rows = call.per_channel(*of_rows, Dim4{1, sizes.rows, 1, 1}, Dtype::kFp32);
  issue_block(call, cmd, {"L_scale_addr", "R_scale_addr"});
}

void fp8_block_mm(const Call& call, const BlockSizes& sizes, local_addr_t output, local_addr_t left, local_addr_t right,
                  const BlockScaleAddrs& at, const data_type_t (&types)[3], bool left_e4m3, bool right_e4m3, bool add,
                  bool saturates) {
  const Dtype right_code = call.dtype("R_dtype", types[0]), scale = call.dtype("scale_dtype", types[1]),
              result = call.dtype("Y_dtype", types[2]);
  if (!check_type(call, "R_dtype", right_code, kFp8s | softtpu::types(Dtype::kFp4), "fp4 and FP8 are")) return;
  if (!check_type(call, "scale_dtype", scale, softtpu::types(Dtype::kBfp16), "bfp16 is")) return;
  if (!check_type(call, "Y_dtype", result, kFloats, "floats of 32 and 16 bits are")) return;
  if (!check_block(call, sizes, add, saturates)) return;
  // Which FP8 it is says the argument besides the type (golden bm1684x2/fp4/fp8_bq_mm2_nt/FP8E5M2_BFP16_FP16/000).
  const auto fp8 = [](bool e4m3) { return e4m3 ? Dtype::kFp8E4M3 : Dtype::kFp8E5M2; };
  scaled_sums(call, sizes, output, left, right, at, fp8(left_e4m3),
              right_code == Dtype::kFp4 ? Dtype::kFp4 : fp8(right_e4m3), scale, result);
}

// Elements of right are FP4 that are multiplied with their factors, and rounded, before they are multiplied. FP8 takes
// one from the low half of each byte, whatever 4-bit type is named, and E4M3 as factors; the sign says as which FP8 the
// rounded E4M3 is read.
void scaled_elements(const Call& call, const BlockSizes& sizes, bool transposed, local_addr_t output, local_addr_t left,
                     local_addr_t right, local_addr_t factors, const data_type_t (&types)[4], bool left_e4m3,
                     bool output_e4m3, bool is_signed, bool add, bool saturates) {
  const Dtype left_type = call.dtype("L_dtype", types[0]), right_type = call.published_dtype("R_dtype", types[1]),
              factor_type = call.dtype("DQ2_dtype", types[2]), result = call.dtype("Y_dtype", types[3]);
  const bool bytes = left_type == Dtype::kFp8E4M3;
  if (!check_type(call, "L_dtype", left_type, kHalves | softtpu::types(Dtype::kFp8E4M3), "fp16, bfp16 and fp8e4m3 are"))
    return;
  if (!check_type(call, "R_dtype", right_type,
                  bytes ? softtpu::types(Dtype::kInt4, Dtype::kUint4) : softtpu::types(Dtype::kFp4),
                  bytes ? "int4 and uint4 are" : "fp4 is"))
    return;
  if (!check_type(call, "DQ2_dtype", factor_type, softtpu::types(bytes ? Dtype::kBfp16 : left_type),
                  bytes ? "bfp16 is" : "the type of left is"))
    return;
  if (!check_type(call, "Y_dtype", result, softtpu::types(left_type, Dtype::kFp32), "fp32 and the type of left are"))
    return;
  if (!check_block(call, sizes, add, saturates)) return;
  if (!call.require(!bytes || (left_e4m3 && output_e4m3), "{argument} is not determined.",
                    left_e4m3 ? "Y_fp8_type" : "L_fp8_type"))
    return;
  if (!call.require(is_signed == (right_type == Dtype::kInt4), "{argument} is not that of R_dtype: not determined.",
                    "R_sign"))
    return;
  MatMulCmd cmd = block_command(sizes);
  cmd.left_trans = cmd.dst_trans = transposed;
  const auto matrix = [&](local_addr_t addr, int rows, int cols, Dtype type) {
    return call.local(addr, transposed ? Dim4{1, cols, 1, rows} : Dim4{1, rows, 1, cols}, type);
  };
  cmd.dst = matrix(output, sizes.rows, sizes.cols, result);
  cmd.left = matrix(left, sizes.rows, sizes.inner, left_type);
  cmd.right = bytes ? call.local(right, Dim4{1, sizes.cols, 1, sizes.inner}, Dtype::kUint8)
                    : element_rows(call, right, sizes.cols, sizes.inner, Dtype::kFp4);
  cmd.blocks->read_as = is_signed ? Dtype::kFp8E4M3 : Dtype::kFp8E5M2;
  // Rows of twice as many factors as there are groups; those of a column, two at least, follow those of the one before.
  const int groups = sizes.inner / sizes.group, columns = 2 * groups;
  const std::int64_t used = std::int64_t{sizes.cols} * std::max(groups, 2);
  cmd.blocks->right =
      call.local(factors, Dim4{1, static_cast<int>((used + columns - 1) / columns), 1, columns}, left_type);
  issue_block(call, cmd, {"", "DQ2_addr"});
}

// ---- quant_mm ----

Side side(const optional_info_t& info) { return info.is_const != 0 ? Side(info.value) : Side(info.addr); }

// The sizes that the other functions take, from those of the product.
Sizes product_sizes(bool left_trans, bool right_trans, int rows, int inner, int cols) {
  if (left_trans) return {Stored::kAllTrans, rows, inner, cols, true};
  return {right_trans ? Stored::kRightTrans : Stored::kPlain, rows, inner, cols};
}

void zero_point(RowMatMul& mm, const optional_info_t& info, Dtype right_type) {
  const Dtype type = mm.call().dtype("rzp type", info.dtype);
  mm.call().require(type == right_type, "{argument} type ({value}) differs from right type ({limit}).", "rzp",
                    to_text(type), to_text(right_type));
  if (info.is_const != 0) {
    mm.command().zero_point = scalar(info.value, right_type);
  } else {
    mm.zero_points(info.addr, right_type);
  }
}

// A caller's struct may hold any byte where a bool is.
bool flag(const bool& stored) {
  unsigned char byte = 0;
  __builtin_memcpy(&byte, &stored, sizeof(byte));
  return byte != 0;
}

void requantise(RowMatMul& mm, const requant_int_info_t& info) {
  const Call& call = mm.call();
  const Tensor& result = mm.command().dst;
  const Rounding rounding = call.rounding(info.round_mode, "requant round_mode");
  mm.command().symmetric = flag(info.do_sym_saturate);
  if (flag(info.is_perchannel)) {
    mm.command().requant = requant_table(call, info.addr, result.shape.c, rounding);
    return;
  }
  mm.command().requant = Requant{std::nullopt, info.multiplier, call.in_range("requant shift", info.shift, -64, 31),
                                 result_zero_point(call, "requant yzp", info.yzp, result.dtype), rounding};
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// Operands that are addresses or constants: the parameter types follow from `left_type` and `right_type` of the macro.
#define ROW_MM_FP(name, stored, first_type, first, second_type, second, left, right)                           \
  void name(local_addr_t output_addr, first_type first, second_type second, int left_rows, int left_cols,      \
            int right_size, data_type_t output_dtype, data_type_t dtype, bool result_add) {                    \
    fp_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left, right, output_dtype, dtype, \
          result_add);                                                                                         \
  }
#define ROW_MM_FP_NO_ADD(name, second_type, left, right)                                                             \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, int left_rows, int left_cols,          \
            int right_rows, data_type_t output_dtype, data_type_t dtype) {                                           \
    fp_mm(Op::name, {Stored::kRightTrans, left_rows, left_cols, right_rows}, output_addr, left, right, output_dtype, \
          dtype, false);                                                                                             \
  }
ROW_MM_FP(tpu_bdc_fp_mm, Stored::kPlain, local_addr_t, left, local_addr_t, right, left, right)
ROW_MM_FP(tpu_bdc_fp_mm_all_trans, Stored::kAllTrans, local_addr_t, left, local_addr_t, right, left, right)
ROW_MM_FP(tpu_bdc_fp_mm_L_const, Stored::kPlain, local_addr_t, right, scalar_t, C, C, right)
ROW_MM_FP(tpu_bdc_fp_mm_R_const, Stored::kPlain, local_addr_t, left, scalar_t, C, left, C)
ROW_MM_FP(tpu_bdc_fp_mm_L_const_all_trans, Stored::kAllTrans, local_addr_t, right, scalar_t, C, C, right)
ROW_MM_FP(tpu_bdc_fp_mm_R_const_all_trans, Stored::kAllTrans, local_addr_t, left, scalar_t, C, left, C)
ROW_MM_FP_NO_ADD(tpu_bdc_fp_mm_R_trans, local_addr_t, first, second)
ROW_MM_FP_NO_ADD(tpu_bdc_fp_mm_L_const_R_trans, scalar_t, second, first)

// The same with a bias that is added first, and relu.
#define ROW_MM_FP_BIAS(name, stored, first_type, first, second_type, second, left, right)                         \
  void name(local_addr_t output_addr, first_type first, second_type second, int left_rows, int left_cols,         \
            int right_size, data_type_t output_dtype, data_type_t dtype, data_type_t bias_dtype, bool result_add, \
            bool bias_is_const, var_context_t bias_data, bool do_relu) {                                          \
    const FloatEnd end{bias_dtype, bias_is_const, bias_data, do_relu};                                            \
    fp_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left, right, output_dtype, dtype,    \
          result_add, &end);                                                                                      \
  }
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_with_bias, Stored::kPlain, local_addr_t, left, local_addr_t, right, left, right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_R_trans_with_bias, Stored::kRightTrans, local_addr_t, left, local_addr_t, right, left,
               right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_all_trans_with_bias, Stored::kAllTrans, local_addr_t, left, local_addr_t, right, left,
               right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_L_const_with_bias, Stored::kPlain, local_addr_t, right, scalar_t, C, C, right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_R_const_with_bias, Stored::kPlain, local_addr_t, left, scalar_t, C, left, C)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_L_const_R_trans_with_bias, Stored::kRightTrans, local_addr_t, right, scalar_t, C, C, right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_L_const_all_trans_with_bias, Stored::kAllTrans, local_addr_t, right, scalar_t, C, C, right)
ROW_MM_FP_BIAS(tpu_bdc_fp_mm_R_const_all_trans_with_bias, Stored::kAllTrans, local_addr_t, left, scalar_t, C, left, C)

#define ROW_MM_FP8(name, stored)                                                                                     \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows, int left_cols, \
            int right_size, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,               \
            bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data) {                   \
    fp8_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left_addr, right_addr,                 \
           {output_dtype, left_dtype, right_dtype}, result_add, {do_rescale, rescale_is_const, rescale_data});       \
  }
ROW_MM_FP8(tpu_bdc_fp8_mm, Stored::kPlain)
ROW_MM_FP8(tpu_bdc_fp8_mm_R_trans, Stored::kRightTrans)
ROW_MM_FP8(tpu_bdc_fp8_mm_all_trans, Stored::kAllTrans)

#define ROW_MM_FP8_BIAS(name, stored)                                                                                \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows, int left_cols, \
            int right_size, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,               \
            data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu,      \
            bool do_rescale, bool rescale_is_const, var_context_t rescale_data) {                                    \
    const FloatEnd end{bias_dtype, bias_is_const, bias_data, do_relu};                                               \
    fp8_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left_addr, right_addr,                 \
           {output_dtype, left_dtype, right_dtype}, result_add, {do_rescale, rescale_is_const, rescale_data}, &end); \
  }
ROW_MM_FP8_BIAS(tpu_bdc_fp8_mm_with_bias, Stored::kPlain)
ROW_MM_FP8_BIAS(tpu_bdc_fp8_mm_R_trans_with_bias, Stored::kRightTrans)
ROW_MM_FP8_BIAS(tpu_bdc_fp8_mm_all_trans_with_bias, Stored::kAllTrans)

#define ROW_MM_ZP(name, stored, second_type, third_type, left, right, zero_point)                                 \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, third_type third, int left_rows,    \
            int left_cols, int right_size, data_type_t left_dtype, data_type_t right_dtype, bool result_add) {    \
    zp_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left, right, zero_point, left_dtype, \
          right_dtype, result_add);                                                                               \
  }
#define ROW_MM_ZP_NO_ADD(name, second_type, third_type, left, right, zero_point)                                   \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, third_type third, int left_rows,     \
            int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_dtype) {                      \
    zp_mm(Op::name, {Stored::kRightTrans, left_rows, left_cols, right_rows}, output_addr, left, right, zero_point, \
          left_dtype, right_dtype, false);                                                                         \
  }
// One zero point for all columns.
ROW_MM_ZP(tpu_bdc_int8_zp_mm, Stored::kPlain, local_addr_t, scalar_t, first, second, third)
ROW_MM_ZP(tpu_bdc_int8_zp_mm_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, first, second, third)
ROW_MM_ZP(tpu_bdc_int8_zp_mm_L_const, Stored::kPlain, scalar_t, scalar_t, second, first, third)
ROW_MM_ZP(tpu_bdc_int8_zp_mm_R_const, Stored::kPlain, scalar_t, scalar_t, first, second, third)
ROW_MM_ZP(tpu_bdc_int8_zp_mm_L_const_all_trans, Stored::kAllTrans, scalar_t, scalar_t, second, first, third)
ROW_MM_ZP(tpu_bdc_int8_zp_mm_R_const_all_trans, Stored::kAllTrans, scalar_t, scalar_t, first, second, third)
ROW_MM_ZP_NO_ADD(tpu_bdc_int8_zp_mm_R_trans, local_addr_t, scalar_t, first, second, third)
ROW_MM_ZP_NO_ADD(tpu_bdc_int8_zp_mm_L_const_R_trans, scalar_t, scalar_t, second, first, third)
// A zero point for each column, in local memory.
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm, Stored::kPlain, local_addr_t, local_addr_t, first, second, third)
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm_all_trans, Stored::kAllTrans, local_addr_t, local_addr_t, first, second, third)
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm_L_const, Stored::kPlain, local_addr_t, scalar_t, third, first, second)
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm_R_const, Stored::kPlain, local_addr_t, scalar_t, first, third, second)
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm_L_const_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, third, first, second)
ROW_MM_ZP(tpu_bdc_int8_pc_zp_mm_R_const_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, first, third, second)
ROW_MM_ZP_NO_ADD(tpu_bdc_int8_pc_zp_mm_R_trans, local_addr_t, local_addr_t, first, second, third)
ROW_MM_ZP_NO_ADD(tpu_bdc_int8_pc_zp_mm_L_const_R_trans, local_addr_t, scalar_t, third, first, second)

void tpu_bdc_quant_mm(local_addr_t output_addr, data_type_t output_dtype, optional_info_t* left, optional_info_t* right,
                      int output_rows, int inner_cols, int output_cols, bool left_trans, bool right_trans,
                      bool result_add, bool do_relu, optional_info_t* rzp, optional_info_t* bias,
                      requant_int_info_t* requant) {
  RowMatMul mm(Op::tpu_bdc_quant_mm, MatMulKind::kInt8Zp,
               product_sizes(left_trans, right_trans, output_rows, inner_cols, output_cols));
  const Call& call = mm.call();
  if (!call.given("left", left) || !call.given("right", right)) return;
  call.require(!left_trans || right_trans, "{argument} needs right_trans.", "left_trans");
  call.require(left->is_const == 0 || right->is_const == 0, "left and right are both constants.");
  const Dtype right_type = call.dtype("right type", right->dtype);
  mm.operands(side(*left), call.dtype("left type", left->dtype), side(*right), right_type);
  const Dtype output_type = call.dtype("output_dtype", output_dtype);
  mm.output(output_addr, output_type, result_add, output_type);
  mm.command().zero_point = Scalar{0, right_type};
  mm.command().relu = do_relu;
  if (rzp != nullptr) zero_point(mm, *rzp, right_type);
  if (bias != nullptr) mm.bias(side(*bias), call.dtype("bias type", bias->dtype));
  if (requant != nullptr) requantise(mm, *requant);
  mm.issue();
}

// The factors of FP4 are E4M3.
void tpu_bdc_fp4_bq_mm2_nt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t L_scale_addr,
                           local_addr_t R_scale_addr, int L_row_num, int L_col_num, int R_col_num, int gsize,
                           int add_result, data_type_t scale_dtype, data_type_t Y_dtype) {
  const Call call(Op::tpu_bdc_fp4_bq_mm2_nt);
  const BlockSizes sizes{L_row_num, L_col_num, R_col_num, gsize};
  const Dtype scale = call.dtype("scale_dtype", scale_dtype), result = call.dtype("Y_dtype", Y_dtype);
  if (!check_type(call, "scale_dtype", scale, types(Dtype::kFp8E4M3), "fp8e4m3 is")) return;
  if (!check_type(call, "Y_dtype", result, kFloats, "floats of 32 and 16 bits are")) return;
  if (!check_block(call, sizes, add_result != 0, false)) return;
  scaled_sums(call, sizes, Y_addr, L_addr, R_addr, {L_scale_addr, R_scale_addr}, Dtype::kFp4, Dtype::kFp4, scale,
              result);
}
void tpu_bdc_fp4_bq_mm2_nt_requant(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr,
                                   local_addr_t L_scale_addr, local_addr_t R_scale_addr, local_addr_t RQ_addr,
                                   int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result,
                                   int is_rq_const, data_type_t scale_dtype, data_type_t Y_dtype) {
  const Call call(Op::tpu_bdc_fp4_bq_mm2_nt_requant);
  const BlockSizes sizes{L_row_num, L_col_num, R_col_num, gsize};
  const Dtype scale = call.dtype("scale_dtype", scale_dtype), result = call.dtype("Y_dtype", Y_dtype);
  if (!check_type(call, "scale_dtype", scale, types(Dtype::kFp8E4M3), "fp8e4m3 is")) return;
  if (!check_type(call, "Y_dtype", result, types(Dtype::kFp16), "fp16 is")) return;
  if (!check_block(call, sizes, add_result != 0, false)) return;
  if (!call.require(is_rq_const == 0, "{argument} is not determined.", "is_rq_const")) return;
  scaled_sums(call, sizes, Y_addr, L_addr, R_addr, {L_scale_addr, R_scale_addr}, Dtype::kFp4, Dtype::kFp4, scale,
              result, &RQ_addr);
}

#define FP8_BLOCK_MM(name)                                                                                        \
  void name(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t L_scale_addr,             \
            local_addr_t R_scale_addr, int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result,    \
            data_type_t R_dtype, data_type_t scale_dtype, data_type_t Y_dtype, int L_fp8_type, int R_fp8_type,    \
            int saturate) {                                                                                       \
    fp8_block_mm(Call(Op::name), {L_row_num, L_col_num, R_col_num, gsize}, Y_addr, L_addr, R_addr,                \
                 {L_scale_addr, R_scale_addr}, {R_dtype, scale_dtype, Y_dtype}, L_fp8_type != 0, R_fp8_type != 0, \
                 add_result != 0, saturate != 0);                                                                 \
  }
FP8_BLOCK_MM(tpu_bdc_fp8_bq_mm2_nt)
FP8_BLOCK_MM(tpu_bdc_fp8_bq_mm2_wblock_nt)

#define DEQUANTISED_MM(name, transposed)                                                                             \
  void name(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t DQ2_addr, int L_row_num,     \
            int L_col_num, int R_col_num, int gsize, int add_result, data_type_t L_dtype, data_type_t R_dtype,       \
            data_type_t DQ2_dtype, data_type_t Y_dtype, int L_fp8_type, int Y_fp8_type, int R_sign, int saturate) {  \
    scaled_elements(Call(Op::name), {L_row_num, L_col_num, R_col_num, gsize}, transposed, Y_addr, L_addr, R_addr,    \
                    DQ2_addr, {L_dtype, R_dtype, DQ2_dtype, Y_dtype}, L_fp8_type != 0, Y_fp8_type != 0, R_sign != 0, \
                    add_result != 0, saturate != 0);                                                                 \
  }
DEQUANTISED_MM(tpu_bdc_fp_dq2_mm2_nt, false)
DEQUANTISED_MM(tpu_bdc_fp_dq2_mm2_tt, true)
}
