/* BDC functions of the TPUKernel interface that work element by element.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_ELEMENTWISE_H_
#define SOFTTPU_TPU_BDC_ELEMENTWISE_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- BDC: compare and select ---- */

void tpu_bdc_greater_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1,
    const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype,
    data_type_t dst_dtype);
void tpu_bdc_less_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const variable_t* src2,
    const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype, data_type_t dst_dtype);
void tpu_bdc_equal_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1,
    const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype,
    data_type_t dst_dtype);
void tpu_bdc_srch_bin_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const dim4* shape,
    int side, int bin_w, data_type_t src0_src1_dtype, data_type_t dst_dtype);
void tpu_bdc_maximum_greater_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
    const variable_t* src1, const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t dst0_dtype,
    data_type_t dst1_dtype);
void tpu_bdc_minimum_less_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
    const variable_t* src1, const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t dst0_dtype,
    data_type_t dst1_dtype);
void tpu_bdc_greater(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_greater_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_less(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_less_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_greater_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_greater_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_less_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_less_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_not_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_not_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);

/* ---- BDC: logic, shifts, minimum and maximum ---- */

void tpu_bdc_and(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_and_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_or(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_or_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_xor(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_xor_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride, data_type_t dst_dtype,
    data_type_t src_dtype, data_type_t shift_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    rounding_mode_t rounding_mode);
void tpu_bdc_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride, data_type_t dst_dtype,
    data_type_t src_dtype, data_type_t shift_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    rounding_mode_t rounding_mode);
void tpu_bdc_not(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);

/* ---- BDC: outer (vector by vector) forms ---- */

void tpu_bdc_vc_and(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_vc_or(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_vc_xor(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_vc_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_vc_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_vc_greater(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_vc_less(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_vc_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_vc_greater_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_vc_less_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_vc_not_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
void tpu_bdc_fp_vc_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_fp_vc_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_fp_vc_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
void tpu_bdc_fp32_vc_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel);
void tpu_bdc_int_vc_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);
void tpu_bdc_int_vc_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);
void tpu_bdc_int_vc_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);

/* ---- BDC: element-wise arithmetic, floating point ---- */

void tpu_bdc_fp_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_fp_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp8_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
void tpu_bdc_fp_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_fp_sub_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp8_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
void tpu_bdc_fp_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_fp_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp8_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
void tpu_bdc_fp_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp32_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
void tpu_bdc_fp32_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_bdc_fp32_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_bdc_fp32_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, int num_iter);
void tpu_bdc_fp32_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
void tpu_bdc_fp32_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
void tpu_bdc_fp_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_fp_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype, int num_iter);
void tpu_bdc_fp_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
void tpu_bdc_fp_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
void tpu_bdc_fp32_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
void tpu_bdc_fp32_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_bdc_fp_diff_abs(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
void tpu_bdc_fp_diff_abs_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);

/* ---- BDC: element-wise arithmetic, integer ---- */

void tpu_bdc_int_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_add_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_sub_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_sub_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_C_sub(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, char shift, rounding_mode_t rounding_mode,
    bool saturation);
void tpu_bdc_int_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_pcs_mul_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
void tpu_bdc_int_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift, rounding_mode_t rounding_mode);
void tpu_bdc_int_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift, rounding_mode_t rounding_mode);
void tpu_bdc_int8_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t src0_dtype,
    data_type_t src1_dtype, unsigned char lshift, unsigned char rshift, rounding_mode_t rounding_mode);
void tpu_bdc_int8_mac_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t src_dtype, data_type_t C_dtype, unsigned char lshift,
    unsigned char rshift, rounding_mode_t rounding_mode);

/* ---- BDC: copies, constants, transposes, broadcast, sequences ---- */

void tpu_bdc_cpy(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_cpy_cross_npu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_npu_bcast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_set_C(local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype);
void tpu_bdc_cw_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_wc_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_npu_bcast_from_static(local_addr_t dst_addr, static_addr_t src_addr, int npu_num, int len,
    data_type_t dtype);
void tpu_bdc_npu_distribute_from_static(local_addr_t dst_addr, static_addr_t src_addr, int len, data_type_t dtype);
void tpu_bdc_arithmetic_sequence_bcast(local_addr_t dst_addr, int npu_num, int start, int step, int num);
void tpu_bdc_arithmetic_sequence_distribute(local_addr_t dst_addr, int start, int step, int num);
void tpu_bdc_arithmetic_sequence_distribute_aligned(local_addr_t dst_addr, int start, int step, int num);
void tpu_bdc_generate_arithmetic_sequence(local_addr_t dst_addr, int num, data_type_t dtype);
void tpu_bdc_arithmetic_sequence_general(local_addr_t dst_addr, local_addr_t buffer_addr, int npu_num, int start,
    int step, int num);

/* ---- BDC: conversion and rounding ---- */

void tpu_bdc_cast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
void tpu_bdc_fp_round(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, rounding_mode_t mode);
void tpu_bdc_fp_floor(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp_ceil(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_abs(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_neg(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_sign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_exponent_part(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dst_dtype,
    data_type_t src_dtype);

/* ---- BDC: coefficients of the functions below ---- */

void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_exp_table(local_addr_t table_addr);
void tpu_bdc_load_fp32_log_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_erf_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_sin_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_cos_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp_sin_coeff(local_addr_t coeff_addr, data_type_t dtype);
void tpu_bdc_load_fp_cos_coeff(local_addr_t coeff_addr, data_type_t dtype);
void tpu_bdc_load_fp32_tan_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp32_arcsin_coeff(local_addr_t coeff_addr);
void tpu_bdc_load_fp_exp_coeff(local_addr_t coeff_addr, data_type_t dtype);
void tpu_bdc_load_fp_erf_coeff(local_addr_t coeff_addr, data_type_t dtype);
void tpu_bdc_load_fp_log_coeff(local_addr_t coeff_addr, data_type_t dtype);
int sfu_taylor_exp_len(data_type_t dtype);
int sfu_taylor_log_len(data_type_t dtype);

/* ---- BDC: roots, reciprocals, powers, exponentials, logarithms ---- */

void tpu_bdc_fp32_pow(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
void tpu_bdc_fp32_pow_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
void tpu_bdc_fp32_C_pow(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
void tpu_bdc_fp32_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
void tpu_bdc_fp32_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
void tpu_bdc_fp_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
void tpu_bdc_fp_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_fp32_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_comp);
void tpu_bdc_fp32_tunable_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_iter,
    int num_comp);
void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
void tpu_bdc_fp32_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
void tpu_bdc_fp_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
    int num_iter);
void tpu_bdc_fp_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
    int num_iter);
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
void tpu_bdc_fp32_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
void tpu_bdc_fp32_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp32_log(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_log1p(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_logx(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, float x);
void tpu_bdc_fp_log(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_taylor(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t coeff_addr, const dim4* shape,
    int num, data_type_t dtype);

/* ---- BDC: trigonometric and hyperbolic functions ---- */

void tpu_bdc_fp32_sin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_cos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp_sin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_cos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
void tpu_bdc_fp32_tan(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_cot(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_arcsin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_arccos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
void tpu_bdc_fp32_arcsinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
void tpu_bdc_fp32_arccosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
void tpu_bdc_fp32_arctanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
void tpu_bdc_fp32_sinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_cosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_tanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);

/* ---- BDC: activations ---- */

void tpu_bdc_relu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_bdc_prelu(local_addr_t dst_addr, local_addr_t src_addr, scalar_t alpha, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp32_elu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float alpha, const dim4* shape);
void tpu_bdc_fp32_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_hsigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    float alpha, float beta, data_type_t dtype);
void tpu_bdc_fp_hswish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_isfinite(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp32_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape, float beta);
void tpu_bdc_fp32_softsign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
void tpu_bdc_fp32_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
void tpu_bdc_fp_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp32_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
void tpu_bdc_fp_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp32_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    local_addr_t exp_table_addr, const dim4* shape);
void tpu_bdc_fp_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    const dim4* shape, data_type_t dtype);
void tpu_bdc_fp32_gelu_fast(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_mish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_swish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float beta, const dim4* shape);
void tpu_bdc_fp32_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp32_selu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
void tpu_bdc_fp32_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, local_addr_t ln_coeff_addr,
    const dim4* shape);

/* ---- BDC of other chips: random numbers ---- */

void tpu_set_bd_random_gen_seed(int seed);
void tpu_bd_rand_seed_gen(void);
void tpu_set_bdid(int bdc_id);
void tpu_bdc_random_gen_init(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, int jump_cnt,
    int c_offset, const dim4* shape, data_type_t dtype);
void tpu_bdc_random_gen(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_random_gen_load_state(local_addr_t res_addr, local_addr_t store_state_addr, local_addr_t load_state_addr,
    int need_store_state, const dim4* shape, data_type_t dtype);
void tpu_bdc_end(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
