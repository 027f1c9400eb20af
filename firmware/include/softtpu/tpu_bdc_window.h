/* BDC functions that move a window: convolution, depthwise convolution, pooling.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_WINDOW_H_
#define SOFTTPU_TPU_BDC_WINDOW_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
 * rotated by 180 degrees.
 * Layout: Input (N, IC, H, W): aligned, or any strides.
 * bias_addr: local address of the f32 bias, (1, OC, 1, 1) compact, on the start NPU of the output; not read when
 *   has_bias is false
 * Types: input_dtype fp32, fp16 or bfp16; output_dtype fp32 | input_dtype fp16; output_dtype fp16 | input_dtype
 *   bfp16; output_dtype bfp16 */
void tpu_bdc_fp_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Transposed depthwise convolution of floats: stride 1, zeros inserted, kernel rotated by 180 degrees.
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
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688 and BM1684X2: 32; CV184X: 16); the input starts on NPU 0. */
void tpu_bdc_int8_asym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers with a zero point of each output channel and a padding value of each input
 * channel.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688: 32); the input starts on NPU 0.
 * Types: input_dtype int8 or uint8; kzp_dtype int8 or uint8; output_dtype int32 or int16; weight_dtype int8 or
 *   uint8 */
void tpu_bdc_int8_asym_pc_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers whose weights are all C.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688 and BM1684X2: 32; CV184X: 16); the input starts on NPU 0.
 * C: every weight, in weight_dtype */
void tpu_bdc_int8_asym_quant_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, scalar_t C,
    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add);
/** Transposed convolution of 8-bit integers with a zero point, a padding value and an inserted value.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688 and BM1684X2: 32); the input starts on NPU 0. */
void tpu_bdc_int8_asym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, scalar_t kzp_val, scalar_t pad_val, scalar_t insert_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
/** Transposed convolution of 8-bit integers with zero points, padding and inserted values of each channel.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688: 32); the input starts on NPU 0.
 * Types: input_dtype int8 or uint8; kzp_dtype int8 or uint8; output_dtype uint32 or uint16; weight_dtype int8 or
 *   uint8 */
void tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t kzp_addr, local_addr_t pad_insert_addr, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
/** Convolution of 8-bit integers with a right shift at the end.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688 and BM1684X2: 32; CV184X: 16); the input starts on NPU 0. */
void tpu_bdc_int8_sym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift, bool has_bias,
    bool result_relu);
/** Transposed convolution of 8-bit integers with a right shift at the end: stride 1, zeros inserted, kernel rotated
 * by 180 degrees.
 * Layout: As tpu_bdc_fp_conv2d with b = 64 (BM1688 and BM1684X2: 32); the input starts on NPU 0. */
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
    data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, int multiplier,
    char rshift, short output_zp, bool has_requant, bool has_bias, bool result_relu, bool result_add, bool sym_range,
    rounding_mode_t rounding_mode);
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
/** Transposed depthwise convolution of 8-bit integers: stride 1, zeros inserted, kernel rotated by 180 degrees.
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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
