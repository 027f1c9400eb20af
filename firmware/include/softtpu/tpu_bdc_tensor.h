/* BDC functions with parameters of each channel (bias, scale, requantisation), gather, scatter, tables.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_TENSOR_H_
#define SOFTTPU_TPU_BDC_TENSOR_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- BDC: bias and scale of a channel ---- */

/** Adds one value per channel: dst = src + bias[c].
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of the bias of each channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_bias(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape, data_type_t dtype);
/** Square of the sum with a value per channel: dst = (src + bias[c])^2.
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of one value per channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add_bias_sqr(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape, data_type_t dtype);
/** Square of the sum with a constant: dst = (src + C)^2.
 * Layout: src and dst lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add_C_sqr(
    local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, data_type_t dtype);
/** Square of the difference to a value per channel: dst = (src - bias[c])^2.
 * Layout: src and dst lie in the aligned layout.
 * bias_addr: local address of one value per channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub_bias_sqr(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape, data_type_t dtype);
/** Square of the difference to a constant: dst = (src - C)^2.
 * Layout: src and dst lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub_C_sqr(
    local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, data_type_t dtype);
/** Multiplies by one value per channel: dst = src * scale[c].
 * Layout: src and dst lie in the aligned layout.
 * scale_addr: local address of the scale of each channel, (1, C, 1, 1), compact
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_scale(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape, data_type_t dtype);
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
void tpu_bdc_fp_scale_bias_C(
    local_addr_t dst_addr, local_addr_t src_addr, scalar_t scale, scalar_t bias, const dim4* shape, data_type_t dtype);

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
void tpu_bdc_fp32_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset, float scale,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into f32 with parameters of each channel.
 * Layout: src and dst lie in the aligned layout.
 * quant_addr: local address of (1, C, 1, 2) words: offset (int32, low 16 bits count), scale (f32) of each channel
 * rounding_mode: rounding of the difference to f32
 * Types: src_dtype int16, uint16, int8 or uint8 */
void tpu_bdc_fp32_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns values that are quantised in groups into 16-bit floats.
 * BM1684X has no dequantisation in groups: the call is refused. */
void tpu_bdc_f16_group_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, data_type_t dst_dtype, int group);

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
void tpu_bdc_hw_gather_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_h, int param_w, data_type_t dtype, bool fill_const);
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
