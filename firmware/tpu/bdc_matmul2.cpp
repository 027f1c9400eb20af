// Matrix products whose rows are channels: fp_mm, int8_zp_mm, int8_pc_zp_mm.
#include "firmware/call.hpp"
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
};

// A matrix in local memory, or a constant that stands for one.
struct Side {
  Side(local_addr_t address) : addr(address) {}                   // NOLINT: read as "at this address"
  Side(const scalar_t& value) : constant(true), scalar(value) {}  // NOLINT: read as "this constant"
  bool constant = false;
  local_addr_t addr = 0;
  scalar_t scalar = {};
};

class RowMatMul {
 public:
  RowMatMul(Op op, MatMulKind kind, const Sizes& sizes) : call_(op) {
    const bool all = sizes.stored == Stored::kAllTrans;
    cmd_.kind = kind;
    cmd_.left_trans = cmd_.dst_trans = all;
    cmd_.right_trans = sizes.stored != Stored::kPlain;
    cmd_.rows = all ? sizes.left_cols : sizes.left_rows;
    cmd_.inner = all ? sizes.left_rows : sizes.left_cols;
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
    const int channels = cmd_.right_trans ? cmd_.cols : cmd_.inner;
    if (cmd_.dst_trans) {
      cmd_.zero_point = call_.local(addr, Dim4{1, channels, 1, 1}, Stride4{0, 1, 0, 0}, type);
    } else {
      cmd_.zero_point = call_.local(addr, Dim4{1, channels, 1, cmd_.cols}, Stride4{0, 0, 0, 1}, type);
    }
  }
  void issue() const { call_.issue(cmd_); }
  const Call& call() const { return call_; }
  MatMulCmd& command() { return cmd_; }

 private:
  Tensor matrix(local_addr_t addr, int rows, int cols, bool transposed, Dtype type) const {
    return call_.local(addr, transposed ? Dim4{1, cols, 1, rows} : Dim4{1, rows, 1, cols}, type);
  }
  Operand side(const Side& which, int rows, int cols, bool transposed, Dtype type) const {
    if (which.constant) return scalar(which.scalar, type);
    return matrix(which.addr, rows, cols, transposed, type);
  }

  Call call_;
  MatMulCmd cmd_;
};

void fp_mm(Op op, const Sizes& sizes, local_addr_t output, const Side& left, const Side& right, data_type_t output_type,
           data_type_t operand_type, bool add) {
  RowMatMul mm(op, MatMulKind::kFpGroup, sizes);
  const Dtype type = mm.call().dtype("operand type", operand_type);
  mm.operands(left, type, right, type);
  mm.output(output, mm.call().dtype("output_dtype", output_type), add, Dtype::kFp32);
  mm.issue();
}

void zp_mm(Op op, const Sizes& sizes, local_addr_t output, const Side& left, const Side& right, const Side& zero_point,
           data_type_t left_type, data_type_t right_type, bool add) {
  RowMatMul mm(op, MatMulKind::kInt8Zp, sizes);
  const Dtype zero_type = mm.call().dtype("right type", right_type);
  mm.operands(left, mm.call().dtype("left type", left_type), right, zero_type);
  mm.output(output, Dtype::kInt32, add, Dtype::kInt32);
  if (zero_point.constant) {
    mm.command().zero_point = scalar(zero_point.scalar, zero_type);
  } else {
    mm.zero_points(zero_point.addr, zero_type);
  }
  mm.issue();
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// Operands that are addresses or constants: the parameter types follow from `left_type` and `right_type` of the macro.
#define MM2_FP(name, stored, first_type, first, second_type, second, left, right)                              \
  void name(local_addr_t output_addr, first_type first, second_type second, int left_rows, int left_cols,      \
            int right_size, data_type_t output_dtype, data_type_t dtype, bool result_add) {                    \
    fp_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left, right, output_dtype, dtype, \
          result_add);                                                                                         \
  }
#define MM2_FP_NO_ADD(name, second_type, left, right)                                                                \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, int left_rows, int left_cols,          \
            int right_rows, data_type_t output_dtype, data_type_t dtype) {                                           \
    fp_mm(Op::name, {Stored::kRightTrans, left_rows, left_cols, right_rows}, output_addr, left, right, output_dtype, \
          dtype, false);                                                                                             \
  }
MM2_FP(tpu_bdc_fp_mm, Stored::kPlain, local_addr_t, left, local_addr_t, right, left, right)
MM2_FP(tpu_bdc_fp_mm_all_trans, Stored::kAllTrans, local_addr_t, left, local_addr_t, right, left, right)
MM2_FP(tpu_bdc_fp_mm_L_const, Stored::kPlain, local_addr_t, right, scalar_t, C, C, right)
MM2_FP(tpu_bdc_fp_mm_R_const, Stored::kPlain, local_addr_t, left, scalar_t, C, left, C)
MM2_FP(tpu_bdc_fp_mm_L_const_all_trans, Stored::kAllTrans, local_addr_t, right, scalar_t, C, C, right)
MM2_FP(tpu_bdc_fp_mm_R_const_all_trans, Stored::kAllTrans, local_addr_t, left, scalar_t, C, left, C)
MM2_FP_NO_ADD(tpu_bdc_fp_mm_R_trans, local_addr_t, first, second)
MM2_FP_NO_ADD(tpu_bdc_fp_mm_L_const_R_trans, scalar_t, second, first)

#define MM2_ZP(name, stored, second_type, third_type, left, right, zero_point)                                    \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, third_type third, int left_rows,    \
            int left_cols, int right_size, data_type_t left_dtype, data_type_t right_dtype, bool result_add) {    \
    zp_mm(Op::name, {stored, left_rows, left_cols, right_size}, output_addr, left, right, zero_point, left_dtype, \
          right_dtype, result_add);                                                                               \
  }
#define MM2_ZP_NO_ADD(name, second_type, third_type, left, right, zero_point)                                      \
  void name(local_addr_t output_addr, local_addr_t first, second_type second, third_type third, int left_rows,     \
            int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_dtype) {                      \
    zp_mm(Op::name, {Stored::kRightTrans, left_rows, left_cols, right_rows}, output_addr, left, right, zero_point, \
          left_dtype, right_dtype, false);                                                                         \
  }
// One zero point for all columns.
MM2_ZP(tpu_bdc_int8_zp_mm, Stored::kPlain, local_addr_t, scalar_t, first, second, third)
MM2_ZP(tpu_bdc_int8_zp_mm_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, first, second, third)
MM2_ZP(tpu_bdc_int8_zp_mm_L_const, Stored::kPlain, scalar_t, scalar_t, second, first, third)
MM2_ZP(tpu_bdc_int8_zp_mm_R_const, Stored::kPlain, scalar_t, scalar_t, first, second, third)
MM2_ZP(tpu_bdc_int8_zp_mm_L_const_all_trans, Stored::kAllTrans, scalar_t, scalar_t, second, first, third)
MM2_ZP(tpu_bdc_int8_zp_mm_R_const_all_trans, Stored::kAllTrans, scalar_t, scalar_t, first, second, third)
MM2_ZP_NO_ADD(tpu_bdc_int8_zp_mm_R_trans, local_addr_t, scalar_t, first, second, third)
MM2_ZP_NO_ADD(tpu_bdc_int8_zp_mm_L_const_R_trans, scalar_t, scalar_t, second, first, third)
// A zero point for each column, in local memory.
MM2_ZP(tpu_bdc_int8_pc_zp_mm, Stored::kPlain, local_addr_t, local_addr_t, first, second, third)
MM2_ZP(tpu_bdc_int8_pc_zp_mm_all_trans, Stored::kAllTrans, local_addr_t, local_addr_t, first, second, third)
MM2_ZP(tpu_bdc_int8_pc_zp_mm_L_const, Stored::kPlain, local_addr_t, scalar_t, third, first, second)
MM2_ZP(tpu_bdc_int8_pc_zp_mm_R_const, Stored::kPlain, local_addr_t, scalar_t, first, third, second)
MM2_ZP(tpu_bdc_int8_pc_zp_mm_L_const_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, third, first, second)
MM2_ZP(tpu_bdc_int8_pc_zp_mm_R_const_all_trans, Stored::kAllTrans, local_addr_t, scalar_t, first, third, second)
MM2_ZP_NO_ADD(tpu_bdc_int8_pc_zp_mm_R_trans, local_addr_t, local_addr_t, first, second, third)
MM2_ZP_NO_ADD(tpu_bdc_int8_pc_zp_mm_L_const_R_trans, local_addr_t, scalar_t, third, first, second)
}
