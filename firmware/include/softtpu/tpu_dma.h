/* The data mover of the TPUKernel interface: GDMA. Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_DMA_H_
#define SOFTTPU_TPU_DMA_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- GDMA: copies with strides (S is any system memory, L is local memory) ---- */

/** Copies a system tensor to a local tensor of another shape.
 * dst_shape: n, c, h, w of the destination
 * src_shape: n, c, h, w of the source
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_general_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies a local tensor to a system tensor of another shape.
 * dst_shape: n, c, h, w of the destination
 * src_shape: n, c, h, w of the source
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_general_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies a tensor from system to local memory.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies a tensor from local to system memory.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies a tensor inside local memory, from any NPU to any NPU.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies a tensor inside system memory.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies from system to local memory, batches become channels.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_nc_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies from local to system memory, batches become channels.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_nc_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies inside local memory, batches become channels.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_nc_trans_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies inside system memory, batches become channels.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies from system to local memory, columns become channels.
 * dst_shape: n, c, h, w of the destination; the source has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_cw_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies from local to system memory, channels become columns.
 * dst_shape: n, c, h, w of the destination; the source has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_cw_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies inside local memory, channels and columns exchanged.
 * dst_shape: n, c, h, w of the destination; the source has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_cw_trans_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies inside system memory, channels and columns exchanged.
 * dst_shape: n, c, h, w of the destination; the source has c and w exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Fills a system tensor with a constant.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_set_C_system(
    system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype);
/** Fills a local tensor with a constant.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_set_C_local(
    local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype);
/** Copies one channel in system memory to every channel of a local tensor.
 * shape: n, c, h, w of the destination; the source has one channel
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_channel_bcast_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies one channel in local memory to every channel of a local tensor.
 * shape: n, c, h, w of the destination; the source has one channel
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_channel_bcast_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies count elements inside system memory.
 * count: number of elements, at least 1
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype);
/** Copies a row of count elements to every channel of a local tensor that is named by its system address.
 * count: number of elements, at least 1
 * dst_channel: channels of the local destination, each of which gets the row
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_system_bcast(
    system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, int dst_channel, data_type_t dtype);
/** Fills count elements of system memory with a constant.
 * count: number of elements, at least 1
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype);
/** Copies inside system memory with one dimension reversed.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
/** Copies from system to local memory with one dimension reversed.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_reverse_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
/** Copies from local to system memory with one dimension reversed.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_reverse_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
/** Copies inside local memory with one dimension reversed.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_reverse_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);

/* ---- GDMA: compact, matrix and vector layouts ---- */

/** Copies a continuous system tensor to a compact local one.
 * Layout: The local side is compact: channels of one NPU lie h * w elements apart, without alignment.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_compact_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Copies a compact local tensor to a continuous system one.
 * Layout: The local side is compact: channels of one NPU lie h * w elements apart, without alignment.
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_compact_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Copies a continuous system tensor to a compact local one, batches become channels.
 * Layout: The local side is compact: channels of one NPU lie h * w elements apart, without alignment.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_compact_nc_trans_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape, data_type_t dtype);
/** Copies a compact local tensor to a continuous system one, batches become channels.
 * Layout: The local side is compact: channels of one NPU lie h * w elements apart, without alignment.
 * dst_shape: n, c, h, w of the destination; the source has n and c exchanged
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_compact_nc_trans_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape, data_type_t dtype);
/** Loads a matrix into the matrix layout.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * rows: rows of the matrix
 * cols: columns of the matrix
 * cols_per_channel: columns in each channel of the local tensor
 * row_stride: elements from row to row in system memory
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr, int rows, int cols, int cols_per_channel,
    int row_stride, data_type_t dtype);
/** Stores a matrix from the matrix layout.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * rows: rows of the matrix
 * cols: columns of the matrix
 * cols_per_channel: columns in each channel of the local tensor
 * row_stride: elements from row to row in system memory
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr, int rows, int cols, int cols_per_channel,
    int row_stride, data_type_t dtype);
/** Loads the transpose of a matrix into the matrix layout.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * src_rows: rows of the source
 * src_cols: columns of the source
 * dst_cols_per_channel: columns in each channel of the local matrix, which has src_rows columns
 * src_row_stride: elements from row to row of the source in system memory
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_matrix_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, int src_rows, int src_cols,
    int dst_cols_per_channel, int src_row_stride, data_type_t dtype);
/** Stores the transpose of a matrix from the matrix layout.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * src_rows: rows of the source
 * src_cols: columns of the source
 * src_cols_per_channel: columns in each channel of the local matrix, which has src_cols columns
 * dst_row_stride: elements from row to row of the destination in system memory
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_matrix_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, int src_rows, int src_cols,
    int src_cols_per_channel, int dst_row_stride, data_type_t dtype);
/** Loads a vector, spread over channels.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * len_per_channel: elements in each channel of the local tensor (1, ceil(len / len_per_channel), 1,
 *   len_per_channel)
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_vector_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, int len, int len_per_channel, data_type_t dtype);
/** Stores a vector that is spread over channels.
 * Layout: A matrix of R rows and C columns with P columns per channel is the local tensor (R, ceil(C / P), 1, P)
 *   in the aligned layout: column j is channel j / P, w = j mod P.
 * len_per_channel: elements in each channel of the local tensor (1, ceil(len / len_per_channel), 1,
 *   len_per_channel)
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_vector_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, int len, int len_per_channel, data_type_t dtype);

/* ---- GDMA: selection of elements and rows ---- */

/** Number of results of the last mask_select or nonzero.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory. */
unsigned int tpu_gdma_get_filter_num(void);
/** Writes the elements of a local tensor whose mask is not 0, one after the other.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory.
 * mask_addr: address of the mask: local when mask_in_lmem, else system
 * mask_in_lmem: not 0: the mask lies in local memory
 * data_dtype: data type of the elements
 * Types: data_dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; mask_dtype int32, uint32,
 *   int16, uint16, int8 or uint8 */
void tpu_gdma_mask_select_L2S(global_addr_t dst_addr, local_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
/** Writes the elements of a system tensor whose mask is not 0, one after the other.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory.
 * mask_addr: address of the mask: local when mask_in_lmem, else system
 * mask_in_lmem: not 0: the mask lies in local memory
 * data_dtype: data type of the elements
 * Types: data_dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; mask_dtype int32, uint32,
 *   int16, uint16, int8 or uint8 */
void tpu_gdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
/** As tpu_gdma_mask_select_S2S, and tells how many there are.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory.
 * mask_addr: address of the mask: local when mask_in_lmem, else system
 * mask_in_lmem: not 0: the mask lies in local memory
 * data_dtype: data type of the elements
 * Types: data_dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8; mask_dtype int32, uint32,
 *   int16, uint16, int8 or uint8 */
unsigned int tpu_gdma_mask_select_S2S_with_ret(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr,
    int mask_in_lmem, const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
/** Writes base_idx + position (uint32) of every element of a local tensor that is not 0.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory.
 * data_dtype: data type of the elements
 * base_idx: number that is added to every position
 * Types: data_dtype int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_nonzero_L2S(
    global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t data_dtype, unsigned int base_idx);
/** Writes base_idx + position (uint32) of every element of a system tensor that is not 0.
 * Layout: Source and mask lie in the aligned layout in local memory and in the continuous layout in system memory.
 * data_dtype: data type of the elements
 * base_idx: number that is added to every position
 * Types: data_dtype int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_nonzero_S2S(
    global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype, unsigned int base_idx);
/** Gathers rows of a system tensor into a local one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_gather_S2L */
void tpu_gdma_h_gather_S2L(local_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
/** Gathers rows of a local tensor into a system one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_gather_L2S */
void tpu_gdma_h_gather_L2S(system_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
/** Gathers rows of a local tensor into a local one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_gather_L2L */
void tpu_gdma_h_gather_L2L(local_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
/** Gathers rows of a system tensor into a system one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_gather_S2S */
void tpu_gdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
/** Gathers rows from one part of a larger parameter in system memory.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * start_pos: index of the first row of this part: indices below it belong to other parts
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * More: softtpu api tpu_gdma_h_gather_S2S_ext */
void tpu_gdma_h_gather_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
    bool index_is_local, scalar_t C, const dim4* shape, int param_h, u32 start_pos, const dim4* output_stride,
    const dim4* param_stride, const dim4* index_stride, data_type_t dtype);
/** Scatters rows of a system tensor into a local one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_scatter_S2L */
void tpu_gdma_h_scatter_S2L(local_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Scatters rows of a local tensor into a system one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_scatter_L2S */
void tpu_gdma_h_scatter_L2S(system_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Scatters rows of a local tensor into a local one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_scatter_L2L */
void tpu_gdma_h_scatter_L2L(local_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Scatters rows of a system tensor into a system one.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * output_stride: strides of the output in elements
 * param_stride: strides of the parameter in elements
 * index_stride: strides of the index in elements, h stride 1; NULL: aligned (local) or continuous (system)
 * More: softtpu api tpu_gdma_h_scatter_S2S */
void tpu_gdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Scatters rows into one part of a larger output in system memory, or adds them.
 * Layout: shape is the output (1, C, H, W); param is (1, C, param_h, W).
 * index_addr: address of the 32-bit indices: a local address when index_is_local, else a system address
 * index_is_local: where the index lies
 * shape: n = 1, c, h, w of the output
 * param_h: rows of the parameter
 * start_pos: index of the first row of this part: indices below it belong to other parts
 * inplace_add: not 0: adds to the old output instead of replacing it
 * output_stride: strides of the output in elements
 * More: softtpu api tpu_gdma_h_scatter_S2S_ext */
void tpu_gdma_h_scatter_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
    bool index_is_local, const dim4* shape, int param_h, u32 start_pos, int inplace_add, const dim4* output_stride,
    const dim4* param_stride, const dim4* index_stride, data_type_t dtype);

/* ---- GDMA: lossless compression ---- */

/** Compresses a local tensor into one stream in global memory.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * bias0: value round which the most significant bytes of the elements lie
 * bias1: value round which the other bytes of the elements lie
 * zero_guard: true: the byte 0 gets the shortest code, whatever the biases
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_compress_normal_L2S(global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* src_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
/** Room that a stream of this shape needs at most.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * zero_guard: true: the byte 0 gets the shortest code, whatever the biases
 * Types: any data_type_t that has a size in bytes */
int tpu_gdma_compress_normal_max_bytes(const dim4* shape, data_type_t dtype, bool zero_guard);
/** Strides in bytes at which rows are stored when none are given.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * zero_guard: true: the byte 0 gets the shortest code, whatever the biases
 * Types: any data_type_t that has a size in bytes */
dim4 tpu_gdma_compress_RACU_racu_stride(const dim4* shape, data_type_t dtype, bool zero_guard);
/** Strides in words at which lengths are stored when none are given.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * Types: any data_type_t that has a size in bytes */
dim4 tpu_gdma_compress_RACU_meta_stride(const dim4* shape, data_type_t dtype);
/** Expands a stream of tpu_gdma_compress_normal_L2S into a local tensor.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * bias0: value round which the most significant bytes of the elements lie
 * bias1: value round which the other bytes of the elements lie
 * zero_guard: true: the byte 0 gets the shortest code, whatever the biases
 * Types: dtype fp16, bfp16, int16 or uint16 */
void tpu_gdma_decompress_normal_S2L(local_addr_t dst_addr, global_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
/** Compresses each row (n, c, h) of a local tensor by itself, so that rows can be expanded alone.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * dst_racu_addr: address of the compressed units, one per (n, c, h); BM1688, BM1690: c counts groups
 * dst_meta_addr: address of their lengths, one 32-bit word each
 * dst_racu_stride: strides of the units in bytes; NULL: tpu_gdma_compress_RACU_racu_stride
 * dst_meta_stride: strides of the lengths in words; NULL: tpu_gdma_compress_RACU_meta_stride
 * bias0: value round which the most significant bytes of the elements lie
 * bias1: value round which the other bytes of the elements lie
 * More: softtpu api tpu_gdma_compress_RACU_L2S */
void tpu_gdma_compress_RACU_L2S(global_addr_t dst_racu_addr, global_addr_t dst_meta_addr, local_addr_t src_addr,
    const dim4* shape, const dim4* dst_racu_stride, const dim4* dst_meta_stride, const dim4* src_stride,
    data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
/** Expands rows of tpu_gdma_compress_RACU_L2S into a local tensor.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * src_racu_addr: address of the compressed units
 * src_meta_addr: address of their lengths, one 32-bit word each
 * src_racu_stride: strides of the units in bytes; NULL: tpu_gdma_compress_RACU_racu_stride
 * src_meta_stride: strides of the lengths in words; NULL: tpu_gdma_compress_RACU_meta_stride
 * bias0: value round which the most significant bytes of the elements lie
 * bias1: value round which the other bytes of the elements lie
 * More: softtpu api tpu_gdma_decompress_RACU_S2L */
void tpu_gdma_decompress_RACU_S2L(local_addr_t dst_addr, global_addr_t src_racu_addr, global_addr_t src_meta_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src_racu_stride, const dim4* src_meta_stride,
    data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
/** Room that the lengths of all rows need.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * Types: any data_type_t that has a size in bytes */
int tpu_gdma_compress_RACU_max_meta_bytes(const dim4* shape, data_type_t dtype);
/** Room that the compressed rows need at most.
 * Layout: On BM1688 and BM1690 the chip's own form, elsewhere one of softtpu's own (device/engines/dma/README.md),
 *   whose streams no chip reads.
 * zero_guard: true: the byte 0 gets the shortest code, whatever the biases
 * Types: any data_type_t that has a size in bytes */
int tpu_gdma_compress_RACU_max_racu_bytes(const dim4* shape, data_type_t dtype, bool zero_guard);

/* ---- GDMA of other chips: lossy compression, reduction into L2, random masks ---- */

/** Stores an f32 tensor of local memory with 20 bits per element.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_compress_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Packs an f32 tensor of system memory into 20 bits per element.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_compress_S2S(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Loads a tensor of 20 bits per element as f32.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_decompress_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Unpacks a tensor of 20 bits per element to f32 in system memory.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_decompress_S2S(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
#ifndef SOFTTPU_LATER_CHIP
/** Copies a local tensor to L2 SRAM and combines it with what is there.
 * BM1684X has no reduction into L2 SRAM: the call is refused. */
void tpu_gdma_cpy_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
/** Copies a system tensor to L2 SRAM and combines it with what is there.
 * BM1684X has no reduction into L2 SRAM: the call is refused. */
void tpu_gdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
/** Copies a tensor inside L2 SRAM and combines it with what is there.
 * BM1684X has no reduction into L2 SRAM: the call is refused. */
void tpu_gdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
/** Packs an f32 tensor of system memory and combines it with one in L2 SRAM.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Packs an f32 tensor of local memory and combines it with one in L2 SRAM.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_compress_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Packs an f32 tensor of L2 SRAM and combines it with another there.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Unpacks a tensor of system memory and combines it with one in L2 SRAM.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Unpacks a tensor of L2 SRAM and combines it with another there.
 * BM1684X has no lossy compression: the call is refused. */
void tpu_gdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
#endif
/** Writes a random mask to local memory and starts the sequence anew.
 * BM1684X has no random number generator: the call is refused. */
void tpu_gdma_random_mask_init_seed_S2L(system_addr_t mask_addr, local_addr_t dst_addr, const dim4* shape, int size,
    const dim4* dst_stride, data_type_t dtype);
/** Writes the next part of a random mask to local memory.
 * BM1684X has no random number generator: the call is refused. */
void tpu_gdma_random_mask_S2L(system_addr_t mask_addr, local_addr_t dst_addr, const dim4* shape, int size,
    const dim4* dst_stride, int use_iter_state, data_type_t dtype);
/** Sets the seed of the random masks.
 * BM1684X has no random number generator: the call is refused. */
void tpu_gdma_random_mask_set_seed(const int seed);
/** Sets the number of GDMA commands.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * gdma_id: number of GDMA commands */
void tpu_set_gdma_id(int gdma_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
