/* BDC functions of the TPUKernel interface that combine elements: products, convolution, pooling, requantisation, gather.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_TENSOR_H_
#define SOFTTPU_TPU_BDC_TENSOR_H_

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
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu,
    bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8 with bias, ReLU and rescale, the right one stored transposed.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mm_R_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype,
    data_type_t right_dtype, data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data,
    bool do_relu, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
/** Product of two matrices of FP8 with bias, ReLU and rescale, everything stored transposed.
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
void tpu_bdc_int_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, int right_cols_per_channel, data_type_t C_dtype, data_type_t right_dtype,
    char shift, rounding_mode_t rounding_mode);
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
void tpu_bdc_quant_mm(local_addr_t output_addr, data_type_t output_dtype, optional_info_t* left,
    optional_info_t* right, int output_rows, int inner_cols, int output_cols, bool left_trans, bool right_trans,
    bool result_add, bool do_relu, optional_info_t* rzp, optional_info_t* bias, requant_int_info_t* requant);
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
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, the right matrix stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of the right one, everything stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * Types: left_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype,
    bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t C_dtype, data_type_t right_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant right matrix.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix and the right one
 * stored transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype);
/** Product of two 8-bit matrices with a zero point of the right one, a constant left matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * C: every element of the matrix that it replaces
 * Types: C_dtype int8 or uint8; right_zp_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype,
    bool result_add);
/** Product of two 8-bit matrices with a zero point of the right one, a constant right matrix, everything stored
 * transposed.
 * Layout: As tpu_bdc_fp_mm: (1, R, 1, C), row r is channel r, everything on NPU 0.
 * C: every element of the matrix that it replaces
 * Types: C_zp_dtype int8 or uint8; left_dtype int8 or uint8 */
void tpu_bdc_int8_zp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, scalar_t C,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t C_zp_dtype,
    bool result_add);
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

/* ---- BDC: bias and scale of a channel ---- */

/** Adds one value per channel: dst = src + bias[c].
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of the bias of each channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
/** Square of the sum with a value per channel: dst = (src + bias[c])^2.
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of one value per channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add_bias_sqr(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
/** Square of the sum with a constant: dst = (src + C)^2.
 * Layout: src and dst lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    data_type_t dtype);
/** Square of the difference to a value per channel: dst = (src - bias[c])^2.
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of one value per channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub_bias_sqr(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
/** Square of the difference to a constant: dst = (src - C)^2.
 * Layout: src and dst lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    data_type_t dtype);
/** Multiplies by one value per channel: dst = src * scale[c].
 * Layout: src and dst lie in the aligned layout.
 * scale_addr: local address of the scale of each channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_scale(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape,
    data_type_t dtype);
/** Scales and shifts each channel: dst = src * scale[c] + bias[c].
 * Layout: src and dst lie in the aligned layout.
 * scale_addr: local address of the scale of each channel, (1, C, 1, 1), compact
 * bias_addr: local address of the bias of each channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_scale_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr,
    local_addr_t bias_addr, const dim4* shape, data_type_t dtype);
/** Scales and shifts all elements with two constants: dst = src * scale + bias.
 * Layout: src and dst lie in the aligned layout.
 * scale: factor of every element, in dtype
 * bias: summand of every element, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_scale_bias_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t scale, scalar_t bias,
    const dim4* shape, data_type_t dtype);

/* ---- BDC: convolution and depthwise convolution, floating point ---- */

/** Convolution of floats, with bias and old output.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Convolution of floats with ReLU: whatever is not above 0, a NaN too, becomes +0.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d_with_relu(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add, bool do_relu);
/** As tpu_bdc_fp_conv2d in the long form of its instruction; the results are the same.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d_long_instr(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Convolution of floats whose result is multiplied by factors.
 * BM1684X has no rescaling of float results: the call is refused. */
void tpu_bdc_fp_conv2d_with_rescale(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_add,
    bool do_relu, bool do_rescale, bool scale_const);
/** Gradient of convolution weights, later form.
 * BM1684X has no backward convolution: the call is refused. */
void tpu_bdc_fp_conv_bw(local_addr_t output_addr, local_addr_t input_addr, local_addr_t gradout_addr,
    const dim4* input_shape, const dim4* input_stride, const dim4* output_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool result_add);
/** Convolution of floats whose result is multiplied by one factor.
 * BM1684X has no rescaling of float results: the call is refused. */
void tpu_bdc_fp_conv2d_rescale_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, float rescale, bool has_bias,
    bool result_add, bool do_relu);
/** Convolution of floats whose result is multiplied by a factor of each channel.
 * BM1684X has no rescaling of float results: the call is refused. */
void tpu_bdc_fp_conv2d_rescale_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_add,
    bool do_relu);
/** Transposed convolution of floats: stride 1, zeros inserted between neighbours of the input, the kernel used
 * turned by 180 degrees.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Transposed depthwise convolution of floats: stride 1, zeros inserted, kernel turned by 180 degrees.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) compact, on the start NPU of the output
 * bias_addr: local address of the bias, (1, C, 1, 1) compact, in dtype; not read when has_bias is false
 * kernel_is_const: true: weight_addr is a constant weight instead of an address
 * Types: input_dtype fp16; output_dtype fp16 | input_dtype fp32; output_dtype fp32 | input_dtype bfp16;
 *   output_dtype bfp16 */
void tpu_bdc_fp_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, bool kernel_is_const, bool has_bias);
/** Convolution of floats whose weights are all C.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * C: every weight, in input_dtype
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
    scalar_t C, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Gradient of convolution weights.
 * BM1684X has no backward convolution: the call is refused. */
void tpu_bdc_fp_conv2d_backward(local_addr_t grad_wight_local_addr, local_addr_t forward_input_local_addr,
    local_addr_t grad_output_local_addr, local_addr_t pad_ins_local_addr, const dim4* forwrad_input_shape,
    const dim4* forward_output_shape, const dim2* forward_kernel, const dim2* backward_insert,
    const padding_t* backward_padding, const dim2* backward_stride, const dim2* backward_dilation,
    const dim4* input_stride, int pad_ins_is_const, int insert_const_val, int pad_mode, data_type_t input_dtype,
    data_type_t grad_dtype);
/** Depthwise convolution of floats with zeros inserted into the input.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) compact, on the start NPU of the output
 * bias_addr: local address of the bias, (1, C, 1, 1) compact, in dtype; not read when has_bias is false
 * ins: zeros put between neighbours of the input, h and w
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_ins_depthwise(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* ins, const dim2* dilation, data_type_t dtype, bool has_bias);
/** Depthwise convolution of floats: each channel with a kernel of its own.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) compact, on the start NPU of the output
 * bias_addr: local address of the bias, (1, C, 1, 1) compact, in dtype; not read when has_bias is false
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t dtype, bool has_bias);
/** Depthwise convolution of floats whose result is multiplied by a factor.
 * BM1684X has no rescaling of float results: the call is refused. */
void tpu_bdc_fp_depthwise2d_with_scale(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t scale_addr, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t out_dtype, data_type_t in_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, float scale, bool has_bias, bool do_relu, bool do_rescale,
    bool scale_is_const);
/** Weighted sum of each region of a float tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * weight_addr: local address of the weights, (1, C, KH, KW) compact, on the start NPU of the output
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype,
    scalar_t except_val);

/* ---- BDC: convolution and depthwise convolution, integer ---- */

/** Convolution of 8-bit integers with a zero point of the kernel and a padding value.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0. */
void tpu_bdc_int8_asym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers with a zero point of each output channel and a padding value of each input
 * channel.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0.
 * Types: input_dtype int8 or uint8; kzp_dtype int8 or uint8; output_dtype int32, uint32, int16 or uint16;
 *   weight_dtype int8 or uint8 */
void tpu_bdc_int8_asym_pc_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers whose weights are all C.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0.
 * C: every weight, in weight_dtype */
void tpu_bdc_int8_asym_quant_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, scalar_t C,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Transposed convolution of 8-bit integers with a zero point, a padding value and an inserted value.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0. */
void tpu_bdc_int8_asym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, scalar_t kzp_val, scalar_t pad_val, scalar_t insert_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
/** Transposed convolution of 8-bit integers with zero points, padding and inserted values of each channel.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0.
 * Types: input_dtype int8 or uint8; kzp_dtype int8 or uint8; output_dtype int32, uint32, int16 or uint16;
 *   weight_dtype int8 or uint8 */
void tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t kzp_addr, local_addr_t pad_insert_addr, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers with a right shift at the end.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0. */
void tpu_bdc_int8_sym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu);
/** Transposed convolution of 8-bit integers with a right shift at the end: stride 1, zeros inserted, kernel turned
 * by 180 degrees.
 * Layout: As tpu_bdc_fp_conv2d with b = 64; the input starts on NPU 0. */
void tpu_bdc_int8_sym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu);
/** Convolution of 8-bit integers, requantised with parameters of each output channel.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_relu,
    bool has_requant, bool sym_range);
/** Convolution of 8-bit integers, requantised with one multiplier, shift and zero point.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, int multiplier, char rshift,
    short output_zp, bool has_bias, bool result_relu, bool has_requant, bool sym_range);
/** Convolution with zero points, padding values and requantisation of each channel.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_pc_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr, local_addr_t requant_addr,
    const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, bool has_requant, bool has_bias, bool result_relu,
    bool result_add, bool sym_range, rounding_mode_t rounding_mode);
/** Convolution with zero points and padding values of each channel, requantised with one set of parameters.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_C_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t bias_dtype, int multiplier, char rshift, short output_zp, bool has_requant, bool has_bias,
    bool result_relu, bool result_add, bool sym_range, rounding_mode_t rounding_mode);
/** Convolution with one zero point and padding value, requantised with one set of parameters.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_C_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride,
    int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
    data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype,
    int multiplier, char rshift, short output_zp, bool has_requant, bool has_bias, bool result_relu, bool result_add,
    bool sym_range, rounding_mode_t rounding_mode);
/** Convolution with one zero point and padding value, requantised with parameters of each channel.
 * Layout: As tpu_bdc_int8_asym_quant_conv2d.
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_conv2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t bias_dtype, bool has_requant, bool has_bias, bool result_relu, bool result_add, bool sym_range,
    rounding_mode_t rounding_mode);
/** Depthwise convolution of 8-bit integers, requantised with parameters of each channel.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false
 * Types: input_dtype int8 or uint8; output_dtype int16, uint16, int8 or uint8; weight_dtype int8 or uint8;
 *   bias_dtype int32, uint32, int16 or uint16 */
void tpu_bdc_depthwise2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool has_requant,
    bool result_relu, bool sym_range, rounding_mode_t rounding_mode);
/** Depthwise convolution of 8-bit integers with one right shift.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false */
void tpu_bdc_depthwise2d_requant_C_sym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    bool sym_range, rounding_mode_t rounding_mode);
/** Depthwise convolution of 8-bit integers with a right shift at the end.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false */
void tpu_bdc_int8_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
/** Depthwise convolution of 8-bit integers whose weights are all C.
 * Layout: Input and output are aligned and start on one NPU.
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false
 * C: every weight, in weight_dtype */
void tpu_bdc_int8_depthwise2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
    scalar_t C, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
/** Depthwise convolution of 8-bit integers with a padding value of each channel.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false
 * pad_addr: local address of one byte pair (padding value, unused) per channel: channel c at 2 * (row of c) in its
 *   NPU */
void tpu_bdc_int8_pc_pad_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t pad_addr, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu, rounding_mode_t rounding_mode);
/** Transposed depthwise convolution of 8-bit integers with a padding value of each channel.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false
 * pad_addr: local address of one byte pair (padding value, unused) per channel: channel c at 2 * (row of c) in its
 *   NPU */
void tpu_bdc_int8_pc_pad_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t bias_addr, local_addr_t pad_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* insert, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu, rounding_mode_t rounding_mode);
/** Transposed depthwise convolution of 8-bit integers: stride 1, zeros inserted, kernel turned by 180 degrees.
 * Layout: Input and output are aligned and start on one NPU.
 * weight_addr: local address of the weights, (1, C, KH, KW) bytes, compact, on the start NPU of the output
 * bias_addr: local address of the bias, 32 bits per channel, compact: it belongs on the start NPU of the output;
 *   not read when has_bias is false */
void tpu_bdc_int8_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* insert, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
/** Weighted sum of each region of an 8-bit tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * weight_addr: local address of the weights, (1, C, KH, KW) compact, on the start NPU of the output
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: input_dtype int8 or uint8; output_dtype int32, uint32, int16 or uint16; weight_dtype int8 or uint8 */
void tpu_bdc_int8_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, scalar_t except_val);

/* ---- BDC: pooling ---- */

/** Maximum pooling of floats.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * pad_val: value of the padding, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Minimum pooling of floats.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * pad_val: value of the padding, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Average pooling of floats with zeros inserted into the input.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * ins: zeros put between neighbours of the input, h and w
 * scale: factor of every tap, in dtype: 1 / (kernel h * kernel w) for a mean
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, const dim2* ins,
    data_type_t dtype, scalar_t scale);
/** Average pooling of FP8.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t input_dtype,
    data_type_t output_dtype, scalar_t scale, float re_scale);
/** Average pooling of floats: every tap times scale, summed.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * scale: factor of every tap, in dtype: 1 / (kernel h * kernel w) for a mean
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t scale);
/** Maximum of each region of a float tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_roi_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
/** Minimum of each region of a float tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_roi_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
/** Scaled sum of each region of a float tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * scale: factor of every tap
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val, scalar_t scale);
/** Maximum pooling of 8-bit integers.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * pad_val: value of the padding
 * Types: dtype int8 or uint8 */
void tpu_bdc_int8_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Minimum pooling of 8-bit integers.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * pad_val: value of the padding
 * Types: dtype int8 or uint8 */
void tpu_bdc_int8_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Average pooling of 8-bit integers with zeros inserted into the input.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * ins: zeros put between neighbours of the input, h and w
 * scale: factor of the sum, 0..255
 * Types: input_dtype uint8; output_dtype uint32, uint16 or uint8 | input_dtype int8; output_dtype int32, int16 or
 *   int8 */
void tpu_bdc_int8_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* ins, const dim2* dilation,
    data_type_t output_dtype, data_type_t input_dtype, unsigned char scale, unsigned char rshift);
/** Average pooling of 8-bit integers: sum times scale, shifted right.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU.
 * scale: factor of the sum, 0..255
 * Types: input_dtype uint8; output_dtype uint32, uint16 or uint8 | input_dtype int8; output_dtype int32, int16 or
 *   int8 */
void tpu_bdc_int8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, unsigned char scale, unsigned char rshift);
/** Maximum of each region of an 8-bit tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: dtype int8 or uint8 */
void tpu_bdc_int8_roi_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
/** Minimum of each region of an 8-bit tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * Types: dtype int8 or uint8 */
void tpu_bdc_int8_roi_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
/** Scaled sum of each region of an 8-bit tensor.
 * Layout: Input (1, C, H, W), output (1, C, 1, output_w): column r belongs to region r.
 * kernel: h and w of the window, at least as large as every region
 * except_val: value of taps outside the region, in the data type of the input
 * scale: factor of every tap
 * Types: input_dtype int8 or uint8; output_dtype int16 or uint16 */
void tpu_bdc_int8_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t output_dtype, data_type_t input_dtype,
    scalar_t except_val, scalar_t scale);

/* ---- BDC: requantisation and dequantisation ---- */

/** Scales integers to a narrower type with one multiplier, shift and offset.
 * Layout: src and dst lie in the aligned layout.
 * offset: zero point, 16 bits, signed as dst_dtype (requant) or src_dtype (dequant) is
 * Types: dst_dtype int16, uint16, int8 or uint8; src_dtype int32, int16 or uint16 */
void tpu_bdc_int_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int multiplier, char shift,
    scalar_t offset, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Scales integers to a narrower type with parameters of each channel.
 * Layout: src and dst lie in the aligned layout.
 * quant_addr: local address of (1, C, 1, 3) int32: multiplier, shift (low 8 bits), offset (low 16 bits) of each
 *   channel
 * Types: dst_dtype int16, uint16, int8 or uint8; src_dtype int32, int16 or uint16 */
void tpu_bdc_int_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Scales integers through f32 and converts to another integer type.
 * Layout: src and dst lie in the aligned layout.
 * scale: factor, f32
 * offset: summand, f32
 * dst_rounding_mode: rounding of the f32 result to dst_dtype
 * src_rounding_mode: rounding of src to f32
 * Types: dst_dtype int16, uint16, int8 or uint8; src_dtype int32, int16 or uint16 */
void tpu_bdc_fp32_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, float scale, float offset,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode, rounding_mode_t src_rounding_mode);
/** Scales integers through f32 with parameters of each channel.
 * Layout: src and dst lie in the aligned layout.
 * quant_addr: local address of (1, C, 1, 2) f32: scale, offset of each channel
 * dst_rounding_mode: rounding of the f32 result to dst_dtype
 * src_rounding_mode: rounding of src to f32
 * Types: dst_dtype int16, uint16, int8 or uint8; src_dtype int32, int16 or uint16 */
void tpu_bdc_fp32_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode, rounding_mode_t src_rounding_mode);
/** Widens quantised integers: subtracts the zero point, multiplies and shifts.
 * Layout: src and dst lie in the aligned layout.
 * offset: zero point, 16 bits, signed as dst_dtype (requant) or src_dtype (dequant) is
 * Types: dst_dtype int32, int16 or uint16; src_dtype int16, uint16, int8 or uint8 */
void tpu_bdc_int_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    int multiplier, char shift, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Widens quantised integers with parameters of each channel.
 * Layout: src and dst lie in the aligned layout.
 * quant_addr: local address of (1, C, 1, 3) int32: offset, multiplier, shift of each channel
 * Types: dst_dtype int32, int16 or uint16; src_dtype int16, uint16, int8 or uint8 */
void tpu_bdc_int_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into f32: dst = (src - offset) * scale.
 * Layout: src and dst lie in the aligned layout.
 * scale: factor, f32
 * rounding_mode: rounding of the difference to f32
 * Types: src_dtype int16, uint16, int8 or uint8 */
void tpu_bdc_fp32_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    float scale, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into f32 with parameters of each channel.
 * Layout: src and dst lie in the aligned layout.
 * quant_addr: local address of (1, C, 1, 2) words: offset (int32, low 16 bits count), scale (f32) of each channel
 * rounding_mode: rounding of the difference to f32
 * Types: src_dtype int16, uint16, int8 or uint8 */
void tpu_bdc_fp32_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns values that are quantised in groups into 16-bit floats.
 * BM1684X has no dequantisation in groups: the call is refused. */
void tpu_bdc_f16_group_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr,
    const dim4* shape, data_type_t src_dtype, data_type_t dst_dtype, int group);

/* ---- BDC: gather, scatter, table lookup in local memory ---- */

/** Replaces each index by the table's element: dst = table[src].
 * Layout: dst and src are aligned; the table has len elements of dst_dtype at the same offset of every NPU (the
 *   address has NPU 0).
 * src_addr: local address of the indices
 * table_addr: local address of the table, on NPU 0; every NPU reads its own copy
 * len: elements of the table
 * src_dtype: data type of the indices: uint8 or uint16
 * Types: dst_dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; src_dtype uint16 or uint8 */
void tpu_bdc_table_lookup(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t table_addr, const dim4* shape,
    int len, data_type_t dst_dtype, data_type_t src_dtype);
/** Reads columns by index: output(n, c, 0, w) = param(n, c, 0, index(w)).
 * Layout: param is (N, C, 1, param_w), output (N, C, 1, W), both aligned. index is (1, number of indices, 1, 1) in
 *   the compact layout from NPU 0: index i lies on NPU i mod 64.
 * shape: n, c, h = 1, w of the output
 * param_w: columns of the parameter
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_w, data_type_t dtype, data_type_t index_dtype);
/** Reads columns by index; the largest value of the index type marks an exception.
 * Layout: param is (N, C, 1, param_w), output (N, C, 1, W), both aligned. index is (1, number of indices, 1, 1) in
 *   the compact layout from NPU 0: index i lies on NPU i mod 64.
 * shape: n, c, h = 1, w of the output
 * param_w: columns of the parameter
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool fill_const);
/** Writes columns by index: output(n, c, 0, index(w)) = param(n, c, 0, w).
 * Layout: param is (N, C, 1, param_w), output (N, C, 1, W), both aligned. index is (1, number of indices, 1, 1) in
 *   the compact layout from NPU 0: index i lies on NPU i mod 64.
 * shape: n, c, h = 1, w of the output
 * param_w: columns of the parameter
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_w, data_type_t dtype, data_type_t index_dtype);
/** Reads elements by (column, row): output(n, c, h, w) = param(n, c, row, column).
 * Layout: param (N, C, param_h, param_w) and output (N, C, H, W) are aligned. index holds uint16 pairs (column,
 *   row), (1, number of pairs, 1, 2) in the compact layout from NPU 0; pair h * W + w belongs to element (h, w).
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_hw_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_h, int param_w, data_type_t dtype);
/** Reads elements by (column, row); 0xffff in either place marks an exception.
 * Layout: param (N, C, param_h, param_w) and output (N, C, H, W) are aligned. index holds uint16 pairs (column,
 *   row), (1, number of pairs, 1, 2) in the compact layout from NPU 0; pair h * W + w belongs to element (h, w).
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_hw_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_h, int param_w, data_type_t dtype, bool fill_const);
/** Writes elements by (column, row): output(n, c, row, column) = param(n, c, h, w).
 * Layout: param (N, C, param_h, param_w) and output (N, C, H, W) are aligned. index holds uint16 pairs (column,
 *   row), (1, number of pairs, 1, 2) in the compact layout from NPU 0; pair h * W + w belongs to element (h, w).
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_hw_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_h, int param_w, data_type_t dtype);
/** Reads columns by an index of each batch and channel: output(n, c, 0, w) = param(0, c, 0, index(n, c, 0, w)).
 * Layout: param is (1, C, 1, param_w), output (N, C, 1, W), index (N, C, 1, number of indices), all aligned and on
 *   one start NPU.
 * shape: n, c, h = 1, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
/** As tpu_bdc_batch_bcast_w_gather; the largest value of the index type marks an exception.
 * Layout: param is (1, C, 1, param_w), output (N, C, 1, W), index (N, C, 1, number of indices), all aligned and on
 *   one start NPU.
 * shape: n, c, h = 1, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);
/** Writes columns by an index of each batch and channel: output(n, c, 0, index(n, c, 0, w)) = param(0, c, 0, w).
 * Layout: param is (1, C, 1, param_w), output (N, C, 1, W), index (N, C, 1, number of indices), all aligned and on
 *   one start NPU.
 * shape: n, c, h = 1, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
/** Packs the elements of each row whose mask is set to the front of the output, and counts them.
 * Layout: param is (1, C, 1, W), mask and output (N, C, 1, W), all aligned; count is (N, C, 1, 1) uint16 in the
 *   compact layout.
 * count_addr: local address of how many elements each row got
 * mask_addr: local address of the mask
 * shape: n, c, h = 1, w of mask and output
 * mask_dtype: uint8, uint16 or uint32; an element selects when it is not 0
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; mask_dtype uint32, uint16 or uint8 */
void tpu_bdc_batch_bcast_w_mask_select(local_addr_t output_addr, local_addr_t count_addr, local_addr_t param_addr,
    local_addr_t mask_addr, const dim4* shape, data_type_t dtype, data_type_t mask_dtype, bool is_param_repeated);
/** Reads rows by an index of each batch and channel: output(n, c, h, w) = param(0, c, index(n, c, 0, h), w).
 * Layout: param is (1, C, param_h, W) and output (N, C, H, W), both line-aligned; index is (N, C, 1, number of
 *   indices), aligned.
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_h_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
/** As tpu_bdc_batch_bcast_h_gather; the largest value of the index type marks an exception.
 * Layout: param is (1, C, param_h, W) and output (N, C, H, W), both line-aligned; index is (N, C, 1, number of
 *   indices), aligned.
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_h_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);
/** Writes rows by an index of each batch and channel: output(n, c, index(n, c, 0, h), w) = param(0, c, h, w).
 * Layout: param is (1, C, param_h, W) and output (N, C, H, W), both line-aligned; index is (N, C, 1, number of
 *   indices), aligned.
 * shape: n, c, h, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_batch_bcast_h_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
/** Reads columns by index from a parameter that is present four times, one copy for each group of banks.
 * Layout: As tpu_bdc_batch_bcast_w_gather with n = h = 1.
 * shape: n = 1, c, h = 1, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_4bank_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
/** As tpu_bdc_4bank_w_gather; the largest value of the index type marks an exception.
 * Layout: As tpu_bdc_batch_bcast_w_gather with n = h = 1.
 * shape: n = 1, c, h = 1, w of the output
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; index_dtype uint16 or uint8 */
void tpu_bdc_4bank_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
