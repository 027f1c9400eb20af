/* BDC functions that copy, fill, transpose and convert.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_MOVE_H_
#define SOFTTPU_TPU_BDC_MOVE_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- BDC: copies, constants, transposes, broadcast, sequences ---- */

/** Copies a tensor inside the NPUs' own memories, with strides on both sides: dst = src.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_cpy(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies a tensor to one that may start on another NPU.
 * Layout: src and dst have the shape (n, c, h, w) and lie in the aligned layout; each may start on any NPU.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_cpy_cross_npu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Copies the one channel of src to every channel of dst.
 * Layout: src is (n, 1, h, w) on one NPU, dst (n, c, h, w); both aligned.
 * shape: n, c, h, w of dst; src has one channel
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_npu_bcast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Fills a tensor with a constant.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_set_C(local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype);
/** Exchanges channels and columns: dst(n, c, h, w) = src(n, w, h, c).
 * Layout: src is (n, w, h, c) in the aligned layout on NPU 0; dst is (n, c, h, w) in the line-aligned layout:
 *   every row h begins at a multiple of 64 bytes.
 * shape: n, c, h, w of dst; src has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_cw_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Exchanges columns and channels: dst(n, c, h, w) = src(n, w, h, c).
 * Layout: src is (n, w, h, c) and dst (n, c, h, w), both in the aligned layout; dst starts on NPU 0.
 * shape: n, c, h, w of dst; src has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_wc_trans(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Copies a row of static memory to the same offset of several NPUs.
 * Layout: dst: len elements at the offset of dst_addr in npu_num NPUs, beginning with the NPU of dst_addr.
 * src_addr: offset in static memory (0..65535), a multiple of 64; src + bytes stays below the end
 * npu_num: number of NPUs; start NPU + npu_num is at most 64
 * len: number of elements
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_npu_bcast_from_static(
    local_addr_t dst_addr, static_addr_t src_addr, int npu_num, int len, data_type_t dtype);
/** Spreads a row of static memory over the NPUs: element i goes to channel i.
 * Layout: dst is (1, len, 1, 1) in the compact layout from NPU 0: element i lies in NPU i mod 64 at element i /
 *   64.
 * src_addr: offset in static memory (0..65535), a multiple of 64; src + bytes stays below the end
 * len: number of elements
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_npu_distribute_from_static(local_addr_t dst_addr, static_addr_t src_addr, int len, data_type_t dtype);
/** Writes start, start + step, ... as one row, the same on every NPU.
 * Layout: dst is (1, npu_num, 1, num) int32 in the aligned layout.
 * start: first value, int32
 * step: difference between neighbours, int32
 * Types: int32 */
void tpu_bdc_arithmetic_sequence_bcast(local_addr_t dst_addr, int npu_num, int start, int step, int num);
/** Writes start, start + step, ... one value per channel, compact.
 * Layout: dst is (1, num, 1, 1) int32 in the compact layout.
 * start: first value, int32
 * step: difference between neighbours, int32
 * Types: int32 */
void tpu_bdc_arithmetic_sequence_distribute(local_addr_t dst_addr, int start, int step, int num);
/** Writes start, start + step, ... one value per channel, aligned.
 * Layout: dst is (1, num, 1, 1) int32 in the aligned layout: each value at a multiple of 64 bytes.
 * start: first value, int32
 * step: difference between neighbours, int32
 * Types: int32 */
void tpu_bdc_arithmetic_sequence_distribute_aligned(local_addr_t dst_addr, int start, int step, int num);
/** Writes 0, 1, 2 ... into one row of one NPU, never fewer than 64 of them.
 * Layout: dst is one row of the NPU of dst_addr: max(num, 64) adjacent elements of dtype.
 * num: how many are wanted; fewer than 64 write 64
 * dtype: DT_UINT32 or DT_UINT16
 * Types: dtype uint32 or uint16 */
void tpu_bdc_generate_arithmetic_sequence(local_addr_t dst_addr, int num, data_type_t dtype);
/** Writes start, start + step, ... as one row on every NPU, with a buffer for long sequences.
 * Layout: dst is (1, npu_num, 1, num) int32 in the aligned layout.
 * buffer_addr: local address of a scratch buffer of the chip; softtpu does not touch it
 * start: first value, int32
 * step: difference between neighbours, int32
 * Types: int32 */
void tpu_bdc_arithmetic_sequence_general(
    local_addr_t dst_addr, local_addr_t buffer_addr, int npu_num, int start, int step, int num);

/* ---- BDC: conversion and rounding ---- */

/** Converts every element to another data type with a rounding mode.
 * mode: rounding mode; for float to integer RM_HALF_UP and RM_HALF_DOWN are refused
 * Types: dst_dtype fp32, fp16, int32, uint32, int16, uint16, int8 or uint8; src_dtype fp32, fp16, int32, uint32,
 *   int16, uint16, int8 or uint8 | dst_dtype fp32, bfp16, int32, uint32, int16, uint16, int8 or uint8; src_dtype
 *   bfp16 | dst_dtype bfp16; src_dtype fp32, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_cast(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
/** Rounds each element to a whole number in the given mode.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_round(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, rounding_mode_t mode);
/** Largest whole number that is not above the element (RM_DOWN).
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_floor(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Smallest whole number that is not below the element (RM_UP).
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_ceil(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Absolute value: dst = |src|.
 * Types: dtype fp32, fp16, bfp16, int32, int16 or int8 */
void tpu_bdc_abs(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Negation: dst = -src.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_neg(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Sign of each element: 1, 0 or -1.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_sign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Power of two next to each element, as a float or as the exponent with its bias.
 * Types: dst_dtype fp16 or int16; src_dtype fp16 | dst_dtype fp32 or int32; src_dtype fp32 | dst_dtype bfp16 or
 *   int16; src_dtype bfp16 */
void tpu_bdc_fp_exponent_part(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dst_dtype, data_type_t src_dtype);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
