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

void tpu_bdc_fp32_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, bool has_bias,
    bool result_add);
void tpu_bdc_fp32_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t bias_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, bool has_bias, bool result_add);
void tpu_bdc_fp32_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, float C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, bool has_bias, bool result_add);
void tpu_bdc_fp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_right_dtype, bool result_add);
void tpu_bdc_fp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype);
void tpu_bdc_fp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype, bool result_add);
void tpu_bdc_fp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows, int left_cols,
    int right_cols, data_type_t output_dtype, data_type_t right_C_dtype, bool result_add);
void tpu_bdc_fp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows, int left_cols,
    int right_cols, data_type_t output_dtype, data_type_t left_C_dtype, bool result_add);
void tpu_bdc_fp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype);
void tpu_bdc_fp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype, bool result_add);
void tpu_bdc_fp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_C_dtype, bool result_add);
void tpu_bdc_fp_mm_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_right_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_R_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype,
    data_type_t bias_dtype, bool add_result, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_right_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_L_const_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t right_C_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_R_const_with_bias(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_C_dtype, data_type_t bias_dtype,
    bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_L_const_R_trans_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_L_const_all_trans_with_bias(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t right_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp_mm_R_const_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, scalar_t C,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_C_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu);
void tpu_bdc_fp8_mm_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data, bool do_relu,
    bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
void tpu_bdc_fp8_mm_R_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype,
    data_type_t right_dtype, data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data,
    bool do_relu, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
void tpu_bdc_fp8_mm_all_trans_with_bias(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    int left_rows, int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype,
    data_type_t right_dtype, data_type_t bias_dtype, bool result_add, bool bias_is_const, var_context_t bias_data,
    bool do_relu, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
void tpu_bdc_fp8_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
void tpu_bdc_fp8_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);
void tpu_bdc_fp8_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_rows, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    bool result_add, bool do_rescale, bool rescale_is_const, var_context_t rescale_data);

/* ---- BDC: matrix multiplication, integer ---- */

void tpu_bdc_int_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, data_type_t left_dtype,
    data_type_t right_dtype, char shift, rounding_mode_t rounding_mode);
void tpu_bdc_int_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, int left_rows,
    int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel, data_type_t left_dtype,
    data_type_t right_dtype, char shift, rounding_mode_t rounding_mode);
void tpu_bdc_int_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, int left_rows,
    int left_cols, int right_cols, int right_cols_per_channel, data_type_t C_dtype, data_type_t right_dtype,
    char shift, rounding_mode_t rounding_mode);
void tpu_bdc_int_pcs_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t shift_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t left_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_int_pcs_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t shift_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t left_dtype, data_type_t right_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_int_pcs_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t shift_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, data_type_t C_dtype,
    data_type_t right_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_quant_mm(local_addr_t output_addr, data_type_t output_dtype, optional_info_t* left,
    optional_info_t* right, int output_rows, int inner_cols, int output_cols, bool left_trans, bool right_trans,
    bool result_add, bool do_relu, optional_info_t* rzp, optional_info_t* bias, requant_int_info_t* requant);
void tpu_bdc_int8_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel,
    data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype, data_type_t bias_dtype,
    unsigned char lshift, unsigned char rshift, bool has_bias, bool result_add, bool result_relu);
void tpu_bdc_int8_mm_L_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t bias_addr, int left_rows, int left_cols, int right_cols, int left_cols_per_channel,
    int right_cols_per_channel, data_type_t output_dtype, data_type_t left_dtype, data_type_t right_dtype,
    data_type_t bias_dtype, unsigned char lshift, unsigned char rshift, bool has_bias, bool result_add,
    bool result_relu);
void tpu_bdc_int8_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t bias_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, int right_cols_per_channel, data_type_t output_dtype,
    data_type_t C_dtype, data_type_t right_dtype, data_type_t bias_dtype, unsigned char lshift, unsigned char rshift,
    bool has_bias, bool result_add, bool result_relu);
void tpu_bdc_int8_zp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t right_zp_dtype, bool result_add);
void tpu_bdc_int8_zp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype);
void tpu_bdc_int8_zp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t right_zp_dtype,
    bool result_add);
void tpu_bdc_int8_zp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t C_dtype, data_type_t right_zp_dtype, bool result_add);
void tpu_bdc_int8_zp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
void tpu_bdc_int8_zp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C, scalar_t zp_val,
    int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype);
void tpu_bdc_int8_zp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, scalar_t C,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype,
    bool result_add);
void tpu_bdc_int8_zp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, scalar_t C,
    scalar_t zp_val, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t C_zp_dtype,
    bool result_add);
void tpu_bdc_int8_pc_zp_mm(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_cols, data_type_t left_dtype,
    data_type_t right_zp_dtype, bool result_add);
void tpu_bdc_int8_pc_zp_mm_R_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_rows, data_type_t left_dtype,
    data_type_t right_zp_dtype);
void tpu_bdc_int8_pc_zp_mm_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr,
    local_addr_t zp_addr, int left_rows, int left_cols, int right_rows, data_type_t left_dtype,
    data_type_t right_zp_dtype, bool result_add);
void tpu_bdc_int8_pc_zp_mm_L_const(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, data_type_t C_dtype, data_type_t right_zp_dtype, bool result_add);
void tpu_bdc_int8_pc_zp_mm_R_const(local_addr_t output_addr, local_addr_t left_addr, local_addr_t zp_addr, scalar_t C,
    int left_rows, int left_cols, int right_cols, data_type_t left_dtype, data_type_t C_zp_dtype, bool result_add);
void tpu_bdc_int8_pc_zp_mm_L_const_R_trans(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype);
void tpu_bdc_int8_pc_zp_mm_L_const_all_trans(local_addr_t output_addr, local_addr_t right_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t C_dtype, data_type_t right_zp_dtype,
    bool result_add);
void tpu_bdc_int8_pc_zp_mm_R_const_all_trans(local_addr_t output_addr, local_addr_t left_addr, local_addr_t zp_addr,
    scalar_t C, int left_rows, int left_cols, int right_rows, data_type_t left_dtype, data_type_t C_zp_dtype,
    bool result_add);

/* ---- BDC: bias and scale of a channel ---- */

void tpu_bdc_fp_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_add_bias_sqr(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_add_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_sub_bias_sqr(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_sub_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_scale(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape,
    data_type_t dtype);
void tpu_bdc_fp_scale_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr,
    local_addr_t bias_addr, const dim4* shape, data_type_t dtype);
void tpu_bdc_fp_scale_bias_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t scale, scalar_t bias,
    const dim4* shape, data_type_t dtype);

/* ---- BDC: convolution and depthwise convolution, floating point ---- */

void tpu_bdc_fp_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
void tpu_bdc_fp_conv2d_with_relu(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add, bool do_relu);
void tpu_bdc_fp_conv2d_long_instr(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
void tpu_bdc_fp_conv2d_with_rescale(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_add,
    bool do_relu, bool do_rescale, bool scale_const);
void tpu_bdc_fp_conv_bw(local_addr_t output_addr, local_addr_t input_addr, local_addr_t gradout_addr,
    const dim4* input_shape, const dim4* input_stride, const dim4* output_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool result_add);
void tpu_bdc_fp_conv2d_rescale_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, float rescale, bool has_bias,
    bool result_add, bool do_relu);
void tpu_bdc_fp_conv2d_rescale_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_add,
    bool do_relu);
void tpu_bdc_fp_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
void tpu_bdc_fp_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, bool kernel_is_const, bool has_bias);
void tpu_bdc_fp_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
    scalar_t C, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
void tpu_bdc_fp_conv2d_backward(local_addr_t grad_wight_local_addr, local_addr_t forward_input_local_addr,
    local_addr_t grad_output_local_addr, local_addr_t pad_ins_local_addr, const dim4* forwrad_input_shape,
    const dim4* forward_output_shape, const dim2* forward_kernel, const dim2* backward_insert,
    const padding_t* backward_padding, const dim2* backward_stride, const dim2* backward_dilation,
    const dim4* input_stride, int pad_ins_is_const, int insert_const_val, int pad_mode, data_type_t input_dtype,
    data_type_t grad_dtype);
void tpu_bdc_fp_ins_depthwise(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* ins, const dim2* dilation, data_type_t dtype, bool has_bias);
void tpu_bdc_fp_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t dtype, bool has_bias);
void tpu_bdc_fp_depthwise2d_with_scale(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t scale_addr, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t out_dtype, data_type_t in_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, float scale, bool has_bias, bool do_relu, bool do_rescale,
    bool scale_is_const);
void tpu_bdc_fp_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype,
    scalar_t except_val);

/* ---- BDC: convolution and depthwise convolution, integer ---- */

void tpu_bdc_int8_asym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
void tpu_bdc_int8_asym_pc_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
void tpu_bdc_int8_asym_quant_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, scalar_t C,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
void tpu_bdc_int8_asym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, scalar_t kzp_val, scalar_t pad_val, scalar_t insert_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
void tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t kzp_addr, local_addr_t pad_insert_addr, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
void tpu_bdc_int8_sym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu);
void tpu_bdc_int8_sym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu);
void tpu_bdc_conv2d_requant_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool result_relu,
    bool has_requant, bool sym_range);
void tpu_bdc_conv2d_requant_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, int multiplier, char rshift,
    short output_zp, bool has_bias, bool result_relu, bool has_requant, bool sym_range);
void tpu_bdc_conv2d_requant_pc_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr, local_addr_t requant_addr,
    const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, bool has_requant, bool has_bias, bool result_relu,
    bool result_add, bool sym_range, rounding_mode_t rounding_mode);
void tpu_bdc_conv2d_requant_C_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t bias_dtype, int multiplier, char rshift, short output_zp, bool has_requant, bool has_bias,
    bool result_relu, bool result_add, bool sym_range, rounding_mode_t rounding_mode);
void tpu_bdc_conv2d_requant_C_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride,
    int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
    data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype,
    int multiplier, char rshift, short output_zp, bool has_requant, bool has_bias, bool result_relu, bool result_add,
    bool sym_range, rounding_mode_t rounding_mode);
void tpu_bdc_conv2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t bias_dtype, bool has_requant, bool has_bias, bool result_relu, bool result_add, bool sym_range,
    rounding_mode_t rounding_mode);
void tpu_bdc_depthwise2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t requant_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias, bool has_requant,
    bool result_relu, bool sym_range, rounding_mode_t rounding_mode);
void tpu_bdc_depthwise2d_requant_C_sym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    bool sym_range, rounding_mode_t rounding_mode);
void tpu_bdc_int8_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
void tpu_bdc_int8_depthwise2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
    scalar_t C, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* stride, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
void tpu_bdc_int8_pc_pad_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, local_addr_t pad_addr, const dim4* input_shape, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu, rounding_mode_t rounding_mode);
void tpu_bdc_int8_pc_pad_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t bias_addr, local_addr_t pad_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* insert, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu, rounding_mode_t rounding_mode);
void tpu_bdc_int8_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel, const padding_t* padding,
    const dim2* insert, const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
    data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
    rounding_mode_t rounding_mode);
void tpu_bdc_int8_roi_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t roi_addr, const dim4* input_shape, int output_w, const dim2* kernel, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, scalar_t except_val);

/* ---- BDC: pooling ---- */

void tpu_bdc_fp_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
void tpu_bdc_fp_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
void tpu_bdc_fp_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, const dim2* ins,
    data_type_t dtype, scalar_t scale);
void tpu_bdc_fp8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t input_dtype,
    data_type_t output_dtype, scalar_t scale, float re_scale);
void tpu_bdc_fp_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t scale);
void tpu_bdc_fp_roi_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
void tpu_bdc_fp_roi_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
void tpu_bdc_fp_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val, scalar_t scale);
void tpu_bdc_int8_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
void tpu_bdc_int8_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
void tpu_bdc_int8_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* ins, const dim2* dilation,
    data_type_t output_dtype, data_type_t input_dtype, unsigned char scale, unsigned char rshift);
void tpu_bdc_int8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, unsigned char scale, unsigned char rshift);
void tpu_bdc_int8_roi_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
void tpu_bdc_int8_roi_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t dtype, scalar_t except_val);
void tpu_bdc_int8_roi_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t roi_addr,
    const dim4* input_shape, int output_w, const dim2* kernel, data_type_t output_dtype, data_type_t input_dtype,
    scalar_t except_val, scalar_t scale);

/* ---- BDC: requantisation and dequantisation ---- */

void tpu_bdc_int_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int multiplier, char shift,
    scalar_t offset, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_int_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_fp32_requant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, float scale, float offset,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode, rounding_mode_t src_rounding_mode);
void tpu_bdc_fp32_pc_requant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t dst_rounding_mode, rounding_mode_t src_rounding_mode);
void tpu_bdc_int_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    int multiplier, char shift, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_int_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_fp32_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    float scale, data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_fp32_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
void tpu_bdc_f16_group_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr,
    const dim4* shape, data_type_t src_dtype, data_type_t dst_dtype, int group);

/* ---- BDC: gather, scatter, table lookup in local memory ---- */

void tpu_bdc_table_lookup(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t table_addr, const dim4* shape,
    int len, data_type_t dst_dtype, data_type_t src_dtype);
void tpu_bdc_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_w, data_type_t dtype, data_type_t index_dtype);
void tpu_bdc_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool fill_const);
void tpu_bdc_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_w, data_type_t dtype, data_type_t index_dtype);
void tpu_bdc_hw_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_h, int param_w, data_type_t dtype);
void tpu_bdc_hw_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_h, int param_w, data_type_t dtype, bool fill_const);
void tpu_bdc_hw_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, const dim4* shape,
    int param_h, int param_w, data_type_t dtype);
void tpu_bdc_batch_bcast_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
void tpu_bdc_batch_bcast_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);
void tpu_bdc_batch_bcast_w_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
void tpu_bdc_batch_bcast_w_mask_select(local_addr_t output_addr, local_addr_t count_addr, local_addr_t param_addr,
    local_addr_t mask_addr, const dim4* shape, data_type_t dtype, data_type_t mask_dtype, bool is_param_repeated);
void tpu_bdc_batch_bcast_h_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
void tpu_bdc_batch_bcast_h_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);
void tpu_bdc_batch_bcast_h_scatter(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_h, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
void tpu_bdc_4bank_w_gather(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated);
void tpu_bdc_4bank_w_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    scalar_t C, const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype, bool is_param_repeated,
    bool fill_const);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
