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

/** dst = src0 > src1 ? src2 : src3.
 * Layout: Each operand is a variable_t: TENSOR (context.addr, shape, aligned layout), SCALAR (context.scalar) or
 *   VECTOR (context.addr of (1, C, 1, 1): as src0 or src1 every channel of an NPU reads the same place). dst lies
 *   in the aligned layout.
 * src0: first operand of the comparison
 * src1: second operand of the comparison
 * src2: what is written where the comparison holds
 * src3: what is written where it does not
 * src0_src1_dtype: data type of src0 and src1
 * More: softtpu api tpu_bdc_greater_select */
void tpu_bdc_greater_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1,
    const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype,
    data_type_t dst_dtype);
/** dst = src0 < src1 ? src2 : src3.
 * Layout: Each operand is a variable_t: TENSOR (context.addr, shape, aligned layout), SCALAR (context.scalar) or
 *   VECTOR (context.addr of (1, C, 1, 1): as src0 or src1 every channel of an NPU reads the same place). dst lies
 *   in the aligned layout.
 * src0: first operand of the comparison
 * src1: second operand of the comparison
 * src2: what is written where the comparison holds
 * src3: what is written where it does not
 * src0_src1_dtype: data type of src0 and src1
 * More: softtpu api tpu_bdc_less_select */
void tpu_bdc_less_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const variable_t* src2,
    const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype, data_type_t dst_dtype);
/** dst = src0 == src1 ? src2 : src3.
 * Layout: Each operand is a variable_t: TENSOR (context.addr, shape, aligned layout), SCALAR (context.scalar) or
 *   VECTOR (context.addr of (1, C, 1, 1): as src0 or src1 every channel of an NPU reads the same place). dst lies
 *   in the aligned layout.
 * src0: first operand of the comparison
 * src1: second operand of the comparison
 * src2: what is written where the comparison holds
 * src3: what is written where it does not
 * src0_src1_dtype: data type of src0 and src1
 * More: softtpu api tpu_bdc_equal_select */
void tpu_bdc_equal_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1,
    const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype,
    data_type_t dst_dtype);
/** Finds for each element the bin that it lies in.
 * BM1684X has no search in bins: the call is refused. */
void tpu_bdc_srch_bin_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const dim4* shape,
    int side, int bin_w, data_type_t src0_src1_dtype, data_type_t dst_dtype);
/** The larger of two candidates and what belongs to it: src0 > src1 picks (src0, src2), else (src1, src3).
 * Layout: Operands are variable_t as in tpu_bdc_greater_select.
 * dst0_addr: local address of the extreme values
 * dst1_addr: local address of what belongs to them, for instance their indices
 * src0: first candidates
 * src1: second candidates
 * src2: what belongs to src0
 * src3: what belongs to src1
 * dst0_dtype: data type of dst0, src0 and src1
 * More: softtpu api tpu_bdc_maximum_greater_select */
void tpu_bdc_maximum_greater_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
    const variable_t* src1, const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t dst0_dtype,
    data_type_t dst1_dtype);
/** The smaller of two candidates and what belongs to it: src0 < src1 picks (src0, src2), else (src1, src3).
 * Layout: Operands are variable_t as in tpu_bdc_greater_select.
 * dst0_addr: local address of the extreme values
 * dst1_addr: local address of what belongs to them, for instance their indices
 * src0: first candidates
 * src1: second candidates
 * src2: what belongs to src0
 * src3: what belongs to src1
 * dst0_dtype: data type of dst0, src0 and src1
 * More: softtpu api tpu_bdc_minimum_less_select */
void tpu_bdc_minimum_less_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
    const variable_t* src1, const variable_t* src2, const variable_t* src3, const dim4* shape, data_type_t dst0_dtype,
    data_type_t dst1_dtype);
/** Writes true_val where src0 > src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_greater(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src > C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_greater_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
/** Writes true_val where src0 < src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_less(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src < C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_less_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
/** Writes true_val where src0 == src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src == C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
/** Writes true_val where src0 >= src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_greater_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src >= C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_greater_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
/** Writes true_val where src0 <= src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_less_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src <= C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_less_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);
/** Writes true_val where src0 != src1, else 0.
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_not_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val where src != C, else 0.
 * C: the constant, in src_dtype
 * src_dtype: data type of the operands
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_not_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);

/* ---- BDC: logic, shifts, minimum and maximum ---- */

/** Bit-wise and of two tensors: dst = src0 & src1.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_and(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Bit-wise and with a constant: dst = src & C.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_and_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Bit-wise or of two tensors: dst = src0 | src1.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_or(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Bit-wise or with a constant: dst = src | C.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_or_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Bit-wise exclusive or of two tensors: dst = src0 ^ src1.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_xor(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Bit-wise exclusive or with a constant: dst = src ^ C.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_xor_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Smaller element of two tensors: dst = min(src0, src1).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Smaller of element and constant: dst = min(src, C).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Larger element of two tensors: dst = max(src0, src1).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Larger of element and constant: dst = max(src, C).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Shifts each element by the amount in another tensor, keeping the sign: dst = src << shift.
 * shift_addr: local address of the shifts, a tensor of shape
 * shift_dtype: data type of the shifts: int8, int16 or int32 */
void tpu_bdc_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride, data_type_t dst_dtype,
    data_type_t src_dtype, data_type_t shift_dtype, rounding_mode_t rounding_mode);
/** Shifts each element by a constant amount, keeping the sign: dst = src << C.
 * C: amount of the shift
 * Types: dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16 or uint8 | dst_dtype int32, int16 or int8;
 *   src_dtype int32, int16 or int8 */
void tpu_bdc_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    rounding_mode_t rounding_mode);
/** Shifts each unsigned element by the amount in another tensor: dst = src << shift.
 * shift_addr: local address of the shifts, a tensor of shape
 * shift_dtype: data type of the shifts: int8, int16 or int32
 * Types: dst_dtype uint32, uint16 or uint8; shift_dtype int16 or int8; src_dtype uint32 or uint16 | dst_dtype
 *   uint32, uint16 or uint8; shift_dtype int8; src_dtype uint8 | dst_dtype uint32, uint16 or uint8; shift_dtype
 *   int32; src_dtype uint32 */
void tpu_bdc_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride, data_type_t dst_dtype,
    data_type_t src_dtype, data_type_t shift_dtype, rounding_mode_t rounding_mode);
/** Shifts each unsigned element by a constant amount: dst = src << C.
 * C: amount of the shift
 * Types: dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16 or uint8 */
void tpu_bdc_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    rounding_mode_t rounding_mode);
/** Bit-wise complement of integers: dst = ~src.
 * Types: dtype int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_not(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);

/* ---- BDC: outer (vector by vector) forms ---- */

/** Bit-wise and of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_vc_and(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Bit-wise or of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_vc_or(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Bit-wise exclusive or of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_vc_xor(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Smaller of each element of one vector and each of another: dst[i][j] = min(src0[i], src1[j]).
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_vc_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Larger of each element of one vector and each of another: dst[i][j] = max(src0[i], src1[j]).
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_vc_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,
    int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Writes true_val at [i][j] where src0[i] > src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_greater(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val at [i][j] where src0[i] < src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_less(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val at [i][j] where src0[i] == src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val at [i][j] where src0[i] >= src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_greater_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val at [i][j] where src0[i] <= src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_less_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Writes true_val at [i][j] where src0[i] != src1[j], else 0.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype fp16, bfp16, int16, uint16, int8 or uint8; src_dtype fp32, fp16, bfp16, int32, uint32, int16 or
 *   uint16 | dst_dtype fp32, int32 or uint32; src_dtype fp32, int32 or uint32 | dst_dtype int8 or uint8; src_dtype
 *   int8 or uint8 */
void tpu_bdc_vc_not_equal(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,
    int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,
    data_type_t src_dtype);
/** Sum of each element of one vector with each of another: dst[i][j] = src0[i] + src1[j].
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_vc_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Difference of each element of one vector with each of another: dst[i][j] = src0[i] - src1[j].
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_vc_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Product of each element of one vector with each of another: dst[i][j] = src0[i] * src1[j].
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_vc_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype);
/** Quotient of each element of one f32 vector with each of another: dst[i][j] = src0[i] / src1[j].
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same. */
void tpu_bdc_fp32_vc_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel);
/** Integer sum of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_vc_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);
/** Integer difference of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_vc_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);
/** Integer product of each element of one vector with each of another.
 * Layout: A vector of L elements with P per channel is the tensor (1, ceil(L / P), 1, P) in the aligned layout.
 *   dst is (src0_len, ceil(src1_len / P1), 1, P1), aligned: row i holds src0[i] <op> src1. src0 may start on any
 *   NPU, src1 and dst on the same.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_vc_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
    int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,
    data_type_t src1_dtype, bool saturation);

/* ---- BDC: element-wise arithmetic, floating point ---- */

/** Adds two float tensors: dst = src0 + src1.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Adds a constant to a float tensor: dst = src + C.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Adds a constant to an FP8 tensor: dst = src + C.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
/** Subtracts two float tensors: dst = src0 - src1.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Subtracts a constant from a float tensor: dst = src - C.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sub_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Subtracts a float tensor from a constant: dst = C - src.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Subtracts an FP8 tensor from a constant: dst = C - src.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
/** Multiplies two float tensors element by element: dst = src0 * src1.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Multiplies a float tensor by a constant: dst = src * C.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Multiplies an FP8 tensor by a constant: dst = src * C.
 * BM1684X has no FP8 arithmetic: the call is refused. */
void tpu_bdc_fp8_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    int satu_mode);
/** Square of each element: dst = src * src.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Quotient of two f32 tensors: dst = src0 / src1, 3 Newton steps. */
void tpu_bdc_fp32_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Quotient of an f32 tensor and a constant: dst = src / C. */
void tpu_bdc_fp32_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Quotient of a constant and an f32 tensor: dst = C / src. */
void tpu_bdc_fp32_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Quotient of two f32 tensors with a chosen number of Newton steps. */
void tpu_bdc_fp32_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, int num_iter);
/** Quotient of an f32 tensor and a constant with a chosen number of Newton steps. */
void tpu_bdc_fp32_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
/** Quotient of a constant and an f32 tensor with a chosen number of Newton steps. */
void tpu_bdc_fp32_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
/** Quotient of two tensors of any float type: dst = src0 / src1.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Quotient of a tensor of any float type and a constant: dst = src / C.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Quotient of a constant and a tensor of any float type: dst = C / src.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Quotient of two tensors of any float type with a chosen number of Newton steps.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype, int num_iter);
/** Quotient of a tensor of any float type and a constant with a chosen number of Newton steps.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
/** Quotient of a constant and a tensor of any float type with a chosen number of Newton steps.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
/** Multiplies two f32 tensors and adds the product to the destination: dst = src0 * src1 + dst. */
void tpu_bdc_fp32_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Multiplies an f32 tensor by a constant and adds the product to the destination: dst = src * C + dst. */
void tpu_bdc_fp32_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Absolute difference of two float tensors: dst = |src0 - src1|.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_diff_abs(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Absolute difference of a float tensor and a constant: dst = |src - C|.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_diff_abs_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);

/* ---- BDC: element-wise arithmetic, integer ---- */

/** Adds two integer tensors and shifts: dst = (src0 + src1) << shift.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
/** Adds a constant to integers and shifts: dst = (src + C) << shift.
 * C: the constant, read in C_dtype
 * Types: C_dtype int32, int16 or int8; dst_dtype int32, int16 or int8; src_dtype int32, uint32, int16, uint16,
 *   int8 or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16
 *   or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype int32, int16 or int8; src_dtype int32, int16 or int8 */
void tpu_bdc_int_add_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
/** Adds two integer tensors, each channel shifted by its own amount: dst = (src0 + src1) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_pcs_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
/** Adds a constant, each channel shifted by its own amount: dst = (src + C) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: C_dtype int32, int16 or int8; dst_dtype int32, int16 or int8; src_dtype int32, uint32, int16, uint16,
 *   int8 or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16
 *   or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype int32, int16 or int8; src_dtype int32, int16 or int8 */
void tpu_bdc_int_pcs_add_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
/** Subtracts two integer tensors and shifts: dst = (src0 - src1) << shift.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
/** Subtracts a constant from integers and shifts: dst = (src - C) << shift.
 * C: the constant, read in C_dtype
 * Types: C_dtype int32, uint32, int16, uint16, int8 or uint8; dst_dtype int32, int16 or int8; src_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_sub_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
/** Subtracts integers from a constant and shifts: dst = (C - src) << shift.
 * C: the constant, read in C_dtype
 * Types: C_dtype int32, uint32, int16, uint16, int8 or uint8; dst_dtype int32, int16 or int8; src_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_C_sub(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
/** Subtracts two integer tensors, each channel shifted by its own amount: dst = (src0 - src1) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_pcs_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
/** Subtracts a constant, each channel shifted by its own amount: dst = (src - C) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: C_dtype int32, uint32, int16, uint16, int8 or uint8; dst_dtype int32, int16 or int8; src_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_pcs_sub_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
/** Subtracts from a constant, each channel shifted by its own amount: dst = (C - src) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: C_dtype int32, uint32, int16, uint16, int8 or uint8; dst_dtype int32, int16 or int8; src_dtype int32,
 *   uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_pcs_C_sub(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
/** Multiplies two integer tensors and shifts: dst = (src0 * src1) << shift.
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode, bool saturation);
/** Squares integers and shifts: dst = (src * src) << shift.
 * Types: dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16 or uint8 | dst_dtype int32, int16 or int8;
 *   src_dtype int32, int16 or int8 */
void tpu_bdc_int_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, char shift, rounding_mode_t rounding_mode,
    bool saturation);
/** Multiplies integers by a constant and shifts: dst = (src * C) << shift.
 * C: the constant, read in C_dtype
 * Types: C_dtype int32, int16 or int8; dst_dtype int32, int16 or int8; src_dtype int32, uint32, int16, uint16,
 *   int8 or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16
 *   or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype int32, int16 or int8; src_dtype int32, int16 or int8 */
void tpu_bdc_int_mul_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,
    char shift, rounding_mode_t rounding_mode, bool saturation);
/** Multiplies two integer tensors, each channel shifted by its own amount: dst = (src0 * src1) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: dst_dtype int32, int16 or int8; src0_dtype int32, uint32, int16, uint16, int8 or uint8; src1_dtype int32,
 *   int16 or int8 | dst_dtype uint32, uint16 or uint8; src0_dtype uint32, uint16 or uint8; src1_dtype uint32,
 *   uint16 or uint8 | dst_dtype int32, int16 or int8; src0_dtype int32, int16 or int8; src1_dtype uint32, uint16
 *   or uint8 */
void tpu_bdc_int_pcs_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t shift_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride, data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype,
    rounding_mode_t rounding_mode, bool saturation);
/** Multiplies by a constant, each channel shifted by its own amount: dst = (src * C) << shift[c].
 * Layout: shift_addr names int8 values (1, C, 1, 1) in the compact layout on the start NPU of dst: channel c is
 *   shifted by its own value.
 * shift_addr: local address of one int8 shift per channel, (1, C, 1, 1), compact
 * Types: C_dtype int32, int16 or int8; dst_dtype int32, int16 or int8; src_dtype int32, uint32, int16, uint16,
 *   int8 or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype uint32, uint16 or uint8; src_dtype uint32, uint16
 *   or uint8 | C_dtype uint32, uint16 or uint8; dst_dtype int32, int16 or int8; src_dtype int32, int16 or int8 */
void tpu_bdc_int_pcs_mul_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,
    data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation);
/** Smaller of integer and constant, shifted: dst = min(src, C) << shift.
 * Types: dtype int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift, rounding_mode_t rounding_mode);
/** Larger of integer and constant, shifted: dst = max(src, C) << shift.
 * Types: dtype int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_int_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift, rounding_mode_t rounding_mode);
/** Multiplies 8-bit tensors and adds to a 16-bit one: dst = ((dst << lshift) + src0 * src1) >> rshift.
 * Types: operands int8 or uint8; dst int16, or uint16 when both operands are uint8 */
void tpu_bdc_int8_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t src0_dtype,
    data_type_t src1_dtype, unsigned char lshift, unsigned char rshift, rounding_mode_t rounding_mode);
/** Multiplies an 8-bit tensor by a constant and adds to a 16-bit one: dst = ((dst << lshift) + src * C) >> rshift.
 * Types: operands int8 or uint8; dst int16, or uint16 when both operands are uint8 */
void tpu_bdc_int8_mac_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t src_dtype, data_type_t C_dtype, unsigned char lshift,
    unsigned char rshift, rounding_mode_t rounding_mode);

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
void tpu_bdc_npu_bcast_from_static(local_addr_t dst_addr, static_addr_t src_addr, int npu_num, int len,
    data_type_t dtype);
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
 * step: difference between neighbours, int32 */
void tpu_bdc_arithmetic_sequence_bcast(local_addr_t dst_addr, int npu_num, int start, int step, int num);
/** Writes start, start + step, ... one value per channel, compact.
 * Layout: dst is (1, num, 1, 1) int32 in the compact layout.
 * start: first value, int32
 * step: difference between neighbours, int32 */
void tpu_bdc_arithmetic_sequence_distribute(local_addr_t dst_addr, int start, int step, int num);
/** Writes start, start + step, ... one value per channel, aligned.
 * Layout: dst is (1, num, 1, 1) int32 in the aligned layout: each value at a multiple of 64 bytes.
 * start: first value, int32
 * step: difference between neighbours, int32 */
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
 * step: difference between neighbours, int32 */
void tpu_bdc_arithmetic_sequence_general(local_addr_t dst_addr, local_addr_t buffer_addr, int npu_num, int start,
    int step, int num);

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
 * Types: dtype fp32, fp16, bfp16, int32, int16 or int8 */
void tpu_bdc_neg(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Sign of each element: 1, 0 or -1.
 * Types: dtype fp32, fp16, bfp16, int32, int16 or int8 */
void tpu_bdc_sign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Power of two next to each element, as a float or as the exponent with its bias.
 * Types: dst_dtype fp16 or int16; src_dtype fp16 | dst_dtype fp32 or int32; src_dtype fp32 | dst_dtype bfp16 or
 *   int16; src_dtype bfp16 */
void tpu_bdc_fp_exponent_part(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dst_dtype,
    data_type_t src_dtype);

/* ---- BDC: coefficients of the functions below ---- */

/** Loads the 32 coefficients 1 / i! of the exponential into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr);
/** Loads the 192 values e^-103 ... e^88 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * table_addr: local address, on NPU 0, that receives the table */
void tpu_bdc_load_fp32_exp_table(local_addr_t table_addr);
/** Loads the first 32 coefficients 0, 1, -1/2, 1/3 ... of log(1 + x) into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_log_coeff(local_addr_t coeff_addr);
/** Loads the 10 coefficients of the error function into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_erf_coeff(local_addr_t coeff_addr);
/** Loads the 32 coefficients of sin(2 pi x) / x in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_sin_coeff(local_addr_t coeff_addr);
/** Loads the 32 coefficients of cos(2 pi x) in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_cos_coeff(local_addr_t coeff_addr);
/** Loads the coefficients of the sine of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_sin_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the cosine of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_cos_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads 32 words for tpu_bdc_fp32_tan and tpu_bdc_fp32_cot into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_tan_coeff(local_addr_t coeff_addr);
/** Loads the first 32 coefficients 1, 1/6, 3/40 ... of arcsin(x) / x in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_arcsin_coeff(local_addr_t coeff_addr);
/** Loads the coefficients of the exponential of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_exp_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the error function of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_erf_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the logarithm of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_log_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Number of coefficients of the exponential's series in a float type.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * Types: fp32, fp16 or bfp16 */
int sfu_taylor_exp_len(data_type_t dtype);
/** Number of coefficients of the logarithm's series in a float type.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * Types: fp32, fp16 or bfp16 */
int sfu_taylor_log_len(data_type_t dtype);

/* ---- BDC: roots, reciprocals, powers, exponentials, logarithms ---- */

/** Power of two tensors: dst = src0^src1, for src0 > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * src0_addr: local address of the bases
 * src1_addr: local address of the exponents */
void tpu_bdc_fp32_pow(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Constant power: dst = src^C, for src > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * C: the exponent */
void tpu_bdc_fp32_pow_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
/** Power of a constant: dst = C^src, for C > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * C: the base */
void tpu_bdc_fp32_C_pow(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
/** Reciprocal of f32: dst = 1 / src, 3 Newton steps. */
void tpu_bdc_fp32_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Reciprocal of f32 with a chosen number of Newton steps. */
void tpu_bdc_fp32_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
/** Reciprocal of any float type with a chosen number of Newton steps.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
/** Reciprocal of any float type: dst = 1 / src.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Reciprocal of f32 with correction steps: 1 / src nearly to the last bit.
 * Layout: dst and the work buffers lie in the aligned layout; src may have strides. */
void tpu_bdc_fp32_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_comp);
/** Reciprocal of f32 with a chosen number of Newton and of correction steps.
 * Layout: dst and the work buffers lie in the aligned layout; src may have strides. */
void tpu_bdc_fp32_tunable_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_iter,
    int num_comp);
/** Reciprocal square root of f32: dst = 1 / sqrt(src), 3 Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Reciprocal square root of f32 with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
/** Reciprocal square root of any float type, 3 Newton steps in f32.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Reciprocal square root of any float type with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
    int num_iter);
/** Square root of any float type, 3 Newton steps in f32.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Square root of any float type with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
    int num_iter);
/** Square root of f32, 3 Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Square root of f32 with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
/** Exponential of f32: dst = e^src.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Exponential minus one: dst = e^src - 1.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Exponential of any float type: dst = e^src.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Exponential minus one of any float type: dst = e^src - 1.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Natural logarithm of f32: dst = ln(src).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_log(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Natural logarithm of one more: dst = ln(src + 1).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_log1p(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Logarithm to any base: dst = log_x(src).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff)
 * x: base of the logarithm */
void tpu_bdc_fp32_logx(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, float x);
/** Natural logarithm of any float type: dst = ln(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_log(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Value of a polynomial: dst = c[0] + c[1] * x + ... + c[num - 1] * x^(num - 1).
 * Layout: dst and src are aligned.
 * coeff_addr: local address of the coefficients, on NPU 0; every NPU reads its own copy at this offset
 * num: number of coefficients, at least 2
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_taylor(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t coeff_addr, const dim4* shape,
    int num, data_type_t dtype);

/* ---- BDC: trigonometric and hyperbolic functions ---- */

/** Sine of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_sin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Cosine of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_cos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Sine of any float type, src in radians.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Cosine of any float type, src in radians.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_cos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Tangent of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_tan(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Cotangent of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_cot(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Inverse sine, for |src| <= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_arcsin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Inverse cosine, for |src| <= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_arccos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape);
/** Inverse hyperbolic sine.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arcsinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
/** Inverse hyperbolic cosine, for src >= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arccosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
/** Inverse hyperbolic tangent, for |src| < 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arctanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr,
    local_addr_t coeff_addr, const dim4* shape);
/** Hyperbolic sine.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_sinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Hyperbolic cosine.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_cosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Hyperbolic tangent.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_tanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);

/* ---- BDC: activations ---- */

/** Rectifier: dst = max(src, 0).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_relu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Rectifier with a slope: dst = src > 0 ? src : src * alpha.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_prelu(local_addr_t dst_addr, local_addr_t src_addr, scalar_t alpha, const dim4* shape, data_type_t dtype);
/** Exponential linear unit: dst = src > 0 ? src : alpha * (e^src - 1).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_elu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float alpha, const dim4* shape);
/** Logistic function: dst = 1 / (1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Logistic function of any float type: dst = 1 / (1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * table_addr: not used: the exponential of any type needs no table
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Hard sigmoid: dst = min(max(alpha * src + beta, 0), 1).
 * Layout: dst, src and work0 lie in the aligned layout.
 * alpha: factor of src
 * beta: summand
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_hsigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    float alpha, float beta, data_type_t dtype);
/** Hard swish: dst = src * min(max(src + 3, 0), 6) / 6.
 * Layout: dst, src and work0 lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_hswish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    data_type_t dtype);
/** 1 where src is neither infinite nor NaN, else 0.
 * Layout: dst, src and work0 lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_isfinite(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    data_type_t dtype);
/** Softplus: dst = ln(1 + e^(beta * src)) / beta.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * beta: factor of src */
void tpu_bdc_fp32_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape, float beta);
/** Softsign of f32: dst = src / (1 + |src|).
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_softsign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Error function of f32.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Error function of any float type.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
/** Complementary error function of f32: dst = 1 - erf(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Complementary error function of any float type: dst = 1 - erf(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
/** Gaussian error linear unit of f32: dst = src * (1 + erf(src / sqrt(2))) / 2.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    local_addr_t exp_table_addr, const dim4* shape);
/** Gaussian error linear unit of any float type: dst = src * (1 + erf(src / sqrt(2))) / 2.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Gaussian error linear unit by the tangent form.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_gelu_fast(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Mish: dst = src * tanh(ln(1 + e^src)).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_mish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Swish: dst = src * sigmoid(beta * src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * beta: factor of src */
void tpu_bdc_fp32_swish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float beta, const dim4* shape);
/** Sigmoid linear unit: dst = src * sigmoid(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Sigmoid linear unit of any float type: dst = src * sigmoid(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * table_addr: not used: the exponential of any type needs no table
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Scaled exponential linear unit.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_selu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Logarithm of the sigmoid: dst = -ln(1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, local_addr_t ln_coeff_addr,
    const dim4* shape);

/* ---- BDC of other chips: random numbers ---- */

/** Sets the seed of the random numbers.
 * BM1684X has no random number generator: the call is refused. */
void tpu_set_bd_random_gen_seed(int seed);
/** Sets a new seed.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bd_rand_seed_gen(void);
/** Sets the number of BDC commands.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * bdc_id: number of BDC commands */
void tpu_set_bdid(int bdc_id);
/** Starts the generator and writes random numbers.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bdc_random_gen_init(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, int jump_cnt,
    int c_offset, const dim4* shape, data_type_t dtype);
/** Writes the next random numbers.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bdc_random_gen(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, const dim4* shape,
    data_type_t dtype);
/** Writes random numbers, going on from a stored state.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bdc_random_gen_load_state(local_addr_t res_addr, local_addr_t store_state_addr, local_addr_t load_state_addr,
    int need_store_state, const dim4* shape, data_type_t dtype);
/** Marks the end of a list of BDC commands.
 * BM1684X has no command lists that a kernel ends itself: the call is refused. */
void tpu_bdc_end(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
