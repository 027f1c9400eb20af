/* BDC functions that multiply matrices.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_MATRIX_H_
#define SOFTTPU_TPU_BDC_MATRIX_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- BDC: matrix multiplication, floating point ---- */

/** Product of two f32 matrices: output = left x right (+ bias, + old output).
 * Layout: A matrix of R rows and C columns with P columns per channel is the tensor (R, ceil(C / P), 1, P) in the
 *   aligned layout: column j is channel j / P, w = j mod P. left M x K, right K x N, output M x N; bias is one row
 *   of N.
 * bias_addr: local address of the bias, a matrix of one row, on the start NPU of the output; not read when
 *   has_bias is false */
void tpu_bdc_fp32_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, bool has_bias,
    bool result_add);
/** Product with the left matrix stored transposed: output = left^T x right (+ bias, + old output).
 * Layout: A matrix of R rows and C columns with P columns per channel is the tensor (R, ceil(C / P), 1, P) in the
 *   aligned layout: column j is channel j / P, w = j mod P. left M x K, right K x N, output M x N; bias is one row
 *   of N.
 * bias_addr: local address of the bias, a matrix of one row, on the start NPU of the output; not read when
 *   has_bias is false
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored */
void tpu_bdc_fp32_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t bias_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, bool has_bias, bool result_add);
/** Product of a constant matrix with a matrix: every left element is C.
 * Layout: A matrix of R rows and C columns with P columns per channel is the tensor (R, ceil(C / P), 1, P) in the
 *   aligned layout: column j is channel j / P, w = j mod P. left M x K, right K x N, output M x N; bias is one row
 *   of N.
 * bias_addr: local address of the bias, a matrix of one row, on the start NPU of the output; not read when
 *   has_bias is false
 * C: every element of the left matrix, f32
 * left_rows: rows M of the constant matrix
 * left_cols: columns K of the constant matrix */
void tpu_bdc_fp32_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, float C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, bool has_bias, bool result_add);
/** Product of two matrices of 16-bit floats: output = left x right.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * Types: left_right_dtype fp16; output_dtype fp32 or fp16 | left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_right_dtype, bool result_add);
/** Product with the right matrix stored transposed: output = left x right^T.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * Types: left_right_dtype fp16; output_dtype fp32 or fp16 | left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype);
/** Product with everything stored transposed: output^T = (left^T x right^T).
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored
 * Types: left_right_dtype fp16; output_dtype fp32 or fp16 | left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype, bool result_add);
/** Product of a constant left matrix with a matrix of 16-bit floats.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * C: every element of the matrix that it replaces
 * Types: output_dtype fp32 or fp16; right_C_dtype fp16 | output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows, int left_cols,
    int right_cols, data_type_t output_dtype, data_type_t right_C_dtype, bool result_add);
/** Product of a matrix of 16-bit floats with a constant right matrix.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * C: every element of the matrix that it replaces
 * Types: left_C_dtype fp16; output_dtype fp32 or fp16 | left_C_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows, int left_cols,
    int right_cols, data_type_t output_dtype, data_type_t left_C_dtype, bool result_add);
/** Product of a constant left matrix with a right matrix that is stored transposed.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * C: every element of the matrix that it replaces
 * Types: output_dtype fp32 or fp16; right_C_dtype fp16 | output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype);
/** Product of a constant left matrix with a right one, everything stored transposed.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * C: every element of the matrix that it replaces
 * left_rows: inner extent K of the constant matrix
 * left_cols: columns M of the stored constant matrix: rows of the logical one
 * Types: output_dtype fp32 or fp16; right_C_dtype fp16 | output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype, bool result_add);
/** Product of a left matrix with a constant right one, everything stored transposed.
 * Layout: A matrix of R rows and C columns is the tensor (1, R, 1, C) in the aligned layout: row r is channel r,
 *   rows begin at multiples of 64 bytes. left M x K, right K x N, output M x N.
 * C: every element of the matrix that it replaces
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored
 * Types: left_C_dtype fp16; output_dtype fp32 or fp16 | left_C_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_C_dtype, bool result_add);
/** Product of two matrices of 16-bit floats with bias and ReLU: output = relu(left x right + bias).
 * Layout: As tpu_bdc_fp_mm.
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; left_right_dtype fp16; output_dtype fp32 or fp16 | bias_dtype fp32 or bfp16;
 *   left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_right_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, the right matrix stored transposed.
 * Layout: As tpu_bdc_fp_mm.
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * add_result: whether the old output is added
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; left_right_dtype fp16; output_dtype fp32 or fp16 | bias_dtype fp32 or bfp16;
 *   left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype,
    data_type_t bias_dtype, bool add_result, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, everything stored transposed.
 * Layout: As tpu_bdc_fp_mm.
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; left_right_dtype fp16; output_dtype fp32 or fp16 | bias_dtype fp32 or bfp16;
 *   left_right_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, a constant left matrix.
 * Layout: As tpu_bdc_fp_mm.
 * C: every element of the matrix that it replaces
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; output_dtype fp32 or fp16; right_C_dtype fp16 | bias_dtype fp32 or bfp16;
 *   output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t right_C_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, a constant right matrix.
 * Layout: As tpu_bdc_fp_mm.
 * C: every element of the matrix that it replaces
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; left_C_dtype fp16; output_dtype fp32 or fp16 | bias_dtype fp32 or bfp16;
 *   left_C_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_const_with_bias(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_C_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, a constant left matrix and the right one stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm.
 * C: every element of the matrix that it replaces
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; output_dtype fp32 or fp16; right_C_dtype fp16 | bias_dtype fp32 or bfp16;
 *   output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const_R_trans_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, a constant left matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm.
 * C: every element of the matrix that it replaces
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; output_dtype fp32 or fp16; right_C_dtype fp16 | bias_dtype fp32 or bfp16;
 *   output_dtype fp32 or bfp16; right_C_dtype bfp16 */
void tpu_bdc_fp_mm_L_const_all_trans_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of 16-bit floats with bias and ReLU, a constant right matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm.
 * C: every element of the matrix that it replaces
 * bias_dtype: data type of the bias: that of the operands, or fp32
 * bias_is_const: true: bias_data.scalar for all; false: the bias at bias_data.addr
 * bias_data: the bias: an address or a constant
 * Types: bias_dtype fp32 or fp16; left_C_dtype fp16; output_dtype fp32 or fp16 | bias_dtype fp32 or bfp16;
 *   left_C_dtype bfp16; output_dtype fp32 or bfp16 */
void tpu_bdc_fp_mm_R_const_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
/** Product of two matrices of FP8 with bias, ReLU and rescale.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu, bool do_rescale,
    bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8 with bias, ReLU and rescale, the right one stored transposed.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_R_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype,
    data_type_t right_dtype, data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data,
    bool do_relu, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8 with bias, ReLU and rescale, everything stored transposed. The bias has to be a
 * constant.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype,
    data_type_t right_dtype, data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data,
    bool do_relu, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8, the right one stored transposed.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8, everything stored transposed.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);

/* ---- BDC: matrix multiplication, integer ---- */

/** Product of two integer matrices with one shift.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * Types: left_dtype int8 or uint8; right_dtype int8 or uint8 | left_dtype int16 or uint16; right_dtype int16 or
 *   uint16 | left_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, data_type_t left_dtype,
    data_type_t right_dtype, char shift, rounding_mode_t rounding_mode);
/** Product of two integer matrices, the left one stored transposed, with one shift.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored
 * Types: left_dtype int8 or uint8; right_dtype int8 or uint8 | left_dtype int16 or uint16; right_dtype int16 or
 *   uint16 | left_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, data_type_t left_dtype,
    data_type_t right_dtype, char shift, rounding_mode_t rounding_mode);
/** Product of a constant left matrix with an integer matrix, with one shift.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * C: every element of the left matrix, in C_dtype
 * Types: C_dtype int8 or uint8; right_dtype int8 or uint8 | C_dtype int16 or uint16; right_dtype int16 or uint16 |
 *   C_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows, int left_cols,
    int right_cols, int right_cols_per_channel, data_type_t C_dtype, data_type_t right_dtype, char shift,
    rounding_mode_t rounding_mode);
/** Product of two integer matrices with a shift for each output column.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * shift_addr: local address of one int8 shift per output column, on the start NPU of the output
 * Types: left_dtype int8 or uint8; right_dtype int8 or uint8 | left_dtype int16 or uint16; right_dtype int16 or
 *   uint16 | left_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_pcs_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t shift_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t left_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode);
/** Product of two integer matrices, the left one stored transposed, with a shift for each output column.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * shift_addr: local address of one int8 shift per output column, on the start NPU of the output
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored
 * Types: left_dtype int8 or uint8; right_dtype int8 or uint8 | left_dtype int16 or uint16; right_dtype int16 or
 *   uint16 | left_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_pcs_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t shift_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t left_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode);
/** Product of a constant left matrix with an integer matrix, with a shift for each output column.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P).
 * shift_addr: local address of one int8 shift per output column, on the start NPU of the output
 * C: every element of the left matrix, in C_dtype
 * Types: C_dtype int8 or uint8; right_dtype int8 or uint8 | C_dtype int16 or uint16; right_dtype int16 or uint16 |
 *   C_dtype int32 or uint32; right_dtype int32 or uint32 */
void tpu_bdc_int_pcs_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t shift_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, data_type_t C_dtype,
    data_type_t right_dtype, rounding_mode_t rounding_mode);
/** Product of two 8-bit matrices with zero point, bias, ReLU and requantisation.
 * Layout: As tpu_bdc_int8_zp_mm. left, right, rzp and bias are optional_info_t: an address, or a constant when
 *   is_const; OPTIONAL_ADDR and OPTIONAL_VALUE fill them.
 * left: the left operand
 * right: the right operand
 * output_rows: rows M of the product
 * inner_cols: inner extent K
 * output_cols: columns N of the product
 * left_trans: whether the left matrix is stored transposed
 * More: softtpu api tpu_bdc_quant_mm */
void tpu_bdc_quant_mm(local_addr_t output_addr, data_type_t output_dtype, optional_info_t* left, optional_info_t* right,
    int output_rows, int inner_cols, int output_cols, bool left_trans, bool right_trans, bool result_add, bool do_relu,
    optional_info_t* rzp, optional_info_t* bias, requant_int_info_t* requant);
/** Product of two 8-bit matrices, shifted right to 8 or 16 bits.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P); the bias is one row of 16 bits.
 * bias_addr: local address of the bias, a matrix of one row of 16 bits, on the start NPU of the output */
void tpu_bdc_int8_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel,
    data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype, data_type_t bias_dtype,
    unsigned char lshift, unsigned char rshift, bool has_bias, bool result_add, bool result_relu);
/** Product of two 8-bit matrices, the left one stored transposed, shifted right to 8 or 16 bits.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P); the bias is one row of 16 bits.
 * bias_addr: local address of the bias, a matrix of one row of 16 bits, on the start NPU of the output
 * left_rows: rows K of the left matrix as stored
 * left_cols: columns M of the left matrix as stored */
void tpu_bdc_int8_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t bias_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    data_type_t bias_dtype, unsigned char lshift, unsigned char rshift, bool has_bias, bool result_add,
    bool result_relu);
/** Product of a constant left matrix with an 8-bit matrix, shifted right to 8 or 16 bits.
 * Layout: As tpu_bdc_fp32_mm: (R, ceil(C / P), 1, P); the bias is one row of 16 bits.
 * bias_addr: local address of the bias, a matrix of one row of 16 bits, on the start NPU of the output
 * C: every element of the left matrix, in C_dtype */
void tpu_bdc_int8_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, data_type_t output_dtype,
    data_type_t C_dtype, data_type_t right_dtype, data_type_t bias_dtype, unsigned char lshift, unsigned char rshift,
    bool has_bias, bool result_add, bool result_relu);
/** Product of two 8-bit matrices, a zero point subtracted from the right one: output = left x (right - zp).
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, the right matrix stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of the right one, everything stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype,
    bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t C_dtype, data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant right matrix.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix and the right one
 * stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype,
    bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant right matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, all of them start on one NPU.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
/** Product of two 8-bit matrices, a zero point of each column subtracted from the right one.
 * Layout: As tpu_bdc_int8_zp_mm.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_cols, data_type_t left_dtype,
    data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of each column of the right one, the right matrix stored
 * transposed.
 * Layout: As tpu_bdc_int8_zp_mm.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_rows, data_type_t left_dtype,
    data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of each column of the right one, everything stored transposed.
 * Layout: As tpu_bdc_int8_zp_mm.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_rows, data_type_t left_dtype,
    data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of each column of the right one, a constant left matrix.
 * Layout: As tpu_bdc_int8_zp_mm.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, data_type_t C_dtype, data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of each column of the right one, a constant right matrix.
 * Layout: As tpu_bdc_int8_zp_mm.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, local_addr_t zp_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of each column of the right one, a constant left matrix and the
 * right one stored transposed.
 * Layout: As tpu_bdc_int8_zp_mm.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of each column of the right one, a constant left matrix,
 * everything stored transposed.
 * Layout: As tpu_bdc_int8_zp_mm.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype,
    bool result_add);
/** Product of two 8-bit matrices with a zero point of each column of the right one, a constant right matrix,
 * everything stored transposed.
 * Layout: As tpu_bdc_int8_zp_mm.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_pc_zp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t C_zp_dtype,
    bool result_add);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
