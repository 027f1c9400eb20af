// Matrix products whose columns are spread over channels: fp32_mm, int_mm, int_pcs_mm, int8_mm.
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// The sizes as the functions take them: of the stored left matrix, and the columns of the right one.
struct Sizes {
  int left_rows, left_cols, right_cols;
  int left_per_channel, right_per_channel;
  bool left_trans;
};

class SpreadMatMul {
 public:
  SpreadMatMul(Op op, MatMulKind kind, const Sizes& sizes) : call_(op), sizes_(sizes) {
    checked(sizes_.left_per_channel, "left_cols_per_channel");
    checked(sizes_.right_per_channel, "right_cols_per_channel");
    cmd_.kind = kind;
    cmd_.left_trans = sizes.left_trans;
    cmd_.rows = sizes.left_trans ? sizes.left_cols : sizes.left_rows;
    cmd_.inner = sizes.left_trans ? sizes.left_rows : sizes.left_cols;
    // Right, bias and output take part in the full width of their last channel.
    const std::int64_t channels = ceil_div(sizes.right_cols, sizes_.right_per_channel);
    cmd_.cols = static_cast<int>(std::min<std::int64_t>(channels * sizes_.right_per_channel, kMaxColumns));
  }

  SpreadMatMul& output(local_addr_t addr, Dtype type) {
    cmd_.dst = matrix(addr, cmd_.rows, sizes_.right_cols, sizes_.right_per_channel, type);
    return *this;
  }
  SpreadMatMul& left(local_addr_t addr, Dtype type) {
    cmd_.left = matrix(addr, sizes_.left_rows, sizes_.left_cols, sizes_.left_per_channel, type);
    return *this;
  }
  SpreadMatMul& left_constant(const Scalar& value) {
    cmd_.left = value;
    return *this;
  }
  SpreadMatMul& right(local_addr_t addr, Dtype type) {
    cmd_.right = matrix(addr, cmd_.inner, sizes_.right_cols, sizes_.right_per_channel, type);
    return *this;
  }
  SpreadMatMul& bias(bool used, local_addr_t addr, Dtype type) {
    if (used) cmd_.bias = matrix(addr, 1, sizes_.right_cols, sizes_.right_per_channel, type);
    return *this;
  }
  SpreadMatMul& add_old(bool used, Dtype type) {
    if (used) {
      cmd_.old = matrix(static_cast<local_addr_t>(cmd_.dst.addr), cmd_.rows, sizes_.right_cols,
                        sizes_.right_per_channel, type);
    }
    return *this;
  }
  // One amount for each column, beside the output.
  SpreadMatMul& shift_row(local_addr_t addr, local_addr_t output) {
    const Chip& chip = call_.chip();
    if (chip.has(Quirk::kForeignShiftRow) && chip.npu_of(addr) != chip.npu_of(output)) {
      cmd_.shift = Scalar{0, Dtype::kInt8};
      return *this;
    }
    Tensor shifts = matrix(addr, 1, sizes_.right_cols, sizes_.right_per_channel, Dtype::kInt8);
    if (chip.has(Quirk::kFreeShiftRow)) shifts.natural = false;
    cmd_.shift = shifts;
    return *this;
  }
  void issue() const { call_.issue(cmd_); }

  const Call& call() const { return call_; }
  MatMulCmd& command() { return cmd_; }

 private:
  // More columns than any command takes; validation refuses what is cut here.
  static constexpr int kMaxColumns = 1 << 24;

  void checked(int& per_channel, const char* name) const {
    if (!call_.require(per_channel >= 1, "{argument} ({value}) is less than 1.", name, per_channel)) per_channel = 1;
  }
  Tensor matrix(local_addr_t addr, int rows, int cols, int per_channel, Dtype type) const {
    const int channels = static_cast<int>(ceil_div(cols, per_channel));
    return call_.local(addr, Dim4{rows, channels, 1, per_channel}, type);
  }

  Call call_;
  Sizes sizes_;
  MatMulCmd cmd_;
};

void fp32_mm(SpreadMatMul& mm, local_addr_t output, local_addr_t right, local_addr_t bias, bool has_bias,
             bool result_add) {
  mm.output(output, Dtype::kFp32)
      .right(right, Dtype::kFp32)
      .bias(has_bias, bias, Dtype::kFp32)
      .add_old(result_add, Dtype::kFp32)
      .issue();
}

// The result of all-unsigned operands is unsigned.
Dtype result_type(Dtype left, Dtype right) {
  return is_signed_int(left) || is_signed_int(right) ? Dtype::kInt32 : Dtype::kUint32;
}

void int_mm(SpreadMatMul& mm, local_addr_t output, local_addr_t right, Dtype left_type, Dtype right_type,
            rounding_mode_t rounding) {
  mm.command().rounding = mm.call().rounding(rounding);
  mm.output(output, result_type(left_type, right_type)).right(right, right_type).issue();
}

struct Int8Options {
  data_type_t output, left, right, bias;
  int lshift, rshift;
  bool has_bias, result_add, result_relu;
};

void int8_mm(SpreadMatMul& mm, local_addr_t output, local_addr_t right, local_addr_t bias, Dtype left_type,
             const Int8Options& options) {
  const Dtype right_type = mm.call().dtype("right_dtype", options.right);
  const Dtype bias_type = options.has_bias ? mm.call().dtype("bias_dtype", options.bias) : Dtype::kUint16;
  const bool old_signed = is_signed_int(left_type) || is_signed_int(right_type) || is_signed_int(bias_type);
  mm.command().lshift = options.lshift;
  const bool has_sign = mm.call().chip().has(Quirk::kShiftedProductSums);
  mm.command().rshift = has_sign ? static_cast<signed char>(options.rshift) : options.rshift;
  mm.command().relu = options.result_relu;
  mm.output(output, mm.call().dtype("output_dtype", options.output))
      .right(right, right_type)
      .bias(options.has_bias, bias, bias_type)
      .add_old(options.result_add, old_signed ? Dtype::kInt16 : Dtype::kUint16)
      .issue();
}

Scalar shift_amount(char shift) { return {static_cast<std::uint32_t>(static_cast<signed char>(shift)), Dtype::kInt8}; }

// The same with a left matrix in local memory.
struct Matrices {
  local_addr_t output, left, right;
};
void fp32_mm_of(Op op, const Sizes& sizes, const Matrices& at, local_addr_t bias, bool has_bias, bool result_add) {
  SpreadMatMul mm(op, MatMulKind::kFp32, sizes);
  fp32_mm(mm.left(at.left, Dtype::kFp32), at.output, at.right, bias, has_bias, result_add);
}
void int_mm_of(Op op, const Sizes& sizes, const Matrices& at, data_type_t left_dtype, data_type_t right_dtype,
               char shift, rounding_mode_t rounding) {
  SpreadMatMul mm(op, MatMulKind::kInt, sizes);
  const Dtype left = mm.call().dtype("left_dtype", left_dtype);
  mm.command().shift = shift_amount(shift);
  int_mm(mm.left(at.left, left), at.output, at.right, left, mm.call().dtype("right_dtype", right_dtype), rounding);
}
// One shift for each row.
void int_pcs_mm_of(Op op, const Sizes& sizes, const Matrices& at, local_addr_t shift, data_type_t left_dtype,
                   data_type_t right_dtype, rounding_mode_t rounding) {
  SpreadMatMul mm(op, MatMulKind::kInt, sizes);
  const Dtype left = mm.call().dtype("left_dtype", left_dtype);
  int_mm(mm.left(at.left, left).shift_row(shift, at.output), at.output, at.right, left,
         mm.call().dtype("right_dtype", right_dtype), rounding);
}
void int8_mm_of(Op op, const Sizes& sizes, const Matrices& at, local_addr_t bias, const Int8Options& options) {
  SpreadMatMul mm(op, MatMulKind::kInt8, sizes);
  const Dtype left = mm.call().dtype("left_dtype", options.left);
  int8_mm(mm.left(at.left, left), at.output, at.right, bias, left, options);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define MM_FP32(name, left_trans)                                                                                \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,   \
            int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, \
            bool has_bias, bool result_add) {                                                                    \
    fp32_mm_of(Op::name,                                                                                         \
               {left_rows, left_cols, right_cols, left_cols_per_channel, right_cols_per_channel, left_trans},    \
               {output_addr, left_addr, right_addr}, bias_addr, has_bias, result_add);                           \
  }
MM_FP32(tpu_bdc_fp32_mm, false)
MM_FP32(tpu_bdc_fp32_mm_L_trans, true)

void tpu_bdc_fp32_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, float C,
                             int left_rows, int left_cols, int right_cols, int right_cols_per_channel, bool has_bias,
                             bool result_add) {
  SpreadMatMul mm(Op::tpu_bdc_fp32_mm_L_const, MatMulKind::kFp32,
                  {left_rows, left_cols, right_cols, 1, right_cols_per_channel, false});
  fp32_mm(mm.left_constant(scalar(C, Dtype::kFp32)), output_addr, right_addr, bias_addr, has_bias, result_add);
}

#define MM_INT(name, left_trans)                                                                                       \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows, int left_cols,   \
            int right_cols, int left_cols_per_channel, int right_cols_per_channel, data_type_t left_dtype,             \
            data_type_t right_dtype, char shift, rounding_mode_t rounding_mode) {                                      \
    int_mm_of(Op::name, {left_rows, left_cols, right_cols, left_cols_per_channel, right_cols_per_channel, left_trans}, \
              {output_addr, left_addr, right_addr}, left_dtype, right_dtype, shift, rounding_mode);                    \
  }
MM_INT(tpu_bdc_int_mm, false)
MM_INT(tpu_bdc_int_mm_L_trans, true)

void tpu_bdc_int_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows, int left_cols,
                            int right_cols, int right_cols_per_channel, data_type_t C_dtype, data_type_t right_dtype,
                            char shift, rounding_mode_t rounding_mode) {
  SpreadMatMul mm(Op::tpu_bdc_int_mm_L_const, MatMulKind::kInt,
                  {left_rows, left_cols, right_cols, 1, right_cols_per_channel, false});
  const Dtype left = mm.call().dtype("C_dtype", C_dtype);
  mm.command().shift = shift_amount(shift);
  int_mm(mm.left_constant(scalar(C, left)), output_addr, right_addr, left, mm.call().dtype("right_dtype", right_dtype),
         rounding_mode);
}

#define MM_INT_PCS(name, left_trans)                                                                             \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t shift_addr,  \
            int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, \
            data_type_t left_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode) {                    \
    int_pcs_mm_of(Op::name,                                                                                      \
                  {left_rows, left_cols, right_cols, left_cols_per_channel, right_cols_per_channel, left_trans}, \
                  {output_addr, left_addr, right_addr}, shift_addr, left_dtype, right_dtype, rounding_mode);     \
  }
MM_INT_PCS(tpu_bdc_int_pcs_mm, false)
MM_INT_PCS(tpu_bdc_int_pcs_mm_L_trans, true)

void tpu_bdc_int_pcs_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t shift_addr, scalar_t C,
                                int left_rows, int left_cols, int right_cols, int right_cols_per_channel,
                                data_type_t C_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode) {
  SpreadMatMul mm(Op::tpu_bdc_int_pcs_mm_L_const, MatMulKind::kInt,
                  {left_rows, left_cols, right_cols, 1, right_cols_per_channel, false});
  const Dtype left = mm.call().dtype("C_dtype", C_dtype);
  int_mm(mm.left_constant(scalar(C, left)).shift_row(shift_addr, output_addr), output_addr, right_addr, left,
         mm.call().dtype("right_dtype", right_dtype), rounding_mode);
}

#define MM_INT8(name, left_trans)                                                                                \
  void name(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,   \
            int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, \
            data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype, data_type_t bias_dtype,   \
            unsigned char lshift, unsigned char rshift, bool has_bias, bool result_add, bool result_relu) {      \
    int8_mm_of(                                                                                                  \
        Op::name, {left_rows, left_cols, right_cols, left_cols_per_channel, right_cols_per_channel, left_trans}, \
        {output_addr, left_addr, right_addr}, bias_addr,                                                         \
        {output_dtype, left_dtype, right_dtype, bias_dtype, lshift, rshift, has_bias, result_add, result_relu}); \
  }
MM_INT8(tpu_bdc_int8_mm, false)
MM_INT8(tpu_bdc_int8_mm_L_trans, true)

void tpu_bdc_int8_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, scalar_t C,
                             int left_rows, int left_cols, int right_cols, int right_cols_per_channel,
                             data_type_t output_dtype, data_type_t C_dtype, data_type_t right_dtype,
                             data_type_t bias_dtype, unsigned char lshift, unsigned char rshift, bool has_bias,
                             bool result_add, bool result_relu) {
  SpreadMatMul mm(Op::tpu_bdc_int8_mm_L_const, MatMulKind::kInt8,
                  {left_rows, left_cols, right_cols, 1, right_cols_per_channel, false});
  const Dtype left = mm.call().dtype("C_dtype", C_dtype);
  int8_mm(mm.left_constant(scalar(C, left)), output_addr, right_addr, bias_addr, left,
          {output_dtype, C_dtype, right_dtype, bias_dtype, lshift, rshift, has_bias, result_add, result_relu});
}
}
