/* BDC functions that compute element by element: comparison, logic, arithmetic, outer products and sums.
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
void tpu_bdc_equal_select(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const variable_t* src2,
    const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype, data_type_t dst_dtype);
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
void tpu_bdc_not_equal_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype);

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
 * Types: dtype fp32 */
void tpu_bdc_fp_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype);
/** Quotient of a tensor of any float type and a constant: dst = src / C.
 * Types: dtype fp32 */
void tpu_bdc_fp_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Quotient of a constant and a tensor of any float type: dst = C / src.
 * Types: dtype fp32 */
void tpu_bdc_fp_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Quotient of two tensors of any float type with a chosen number of Newton steps.
 * Types: dtype fp32 */
void tpu_bdc_fp_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype, int num_iter);
/** Quotient of a tensor of any float type and a constant with a chosen number of Newton steps.
 * Types: dtype fp32 */
void tpu_bdc_fp_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
/** Quotient of a constant and a tensor of any float type with a chosen number of Newton steps.
 * Types: dtype fp32 */
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
void tpu_bdc_int_pcs_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t shift_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, rounding_mode_t rounding_mode, bool saturation);
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
void tpu_bdc_int_pcs_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t shift_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, rounding_mode_t rounding_mode, bool saturation);
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
void tpu_bdc_int_pcs_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t shift_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype, rounding_mode_t rounding_mode, bool saturation);
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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
