/* HAU functions of the TPUKernel interface: sorting, suppression of boxes, gathering of lines.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_HAU_H_
#define SOFTTPU_TPU_HAU_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- HAU: sorting, non-maximum suppression, gathering of lines ---- */

/** Sorts a row of values and writes the first K.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * len: number of values
 * K: how many of the sorted values are written, 1..len
 * Types: dtype fp32, int32 or uint32 */
void tpu_hau_sort(
    system_addr_t output_addr, system_addr_t input_addr, int len, int K, bool descended, data_type_t dtype);
/** Sorts a row of values and writes the first K with their positions.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * output_data_addr: system address of the K sorted values
 * output_idx_addr: system address of the K indices that belong to them
 * len: number of values
 * K: how many of the sorted values are written, 1..len
 * Types: dtype fp32, int32 or uint32 */
void tpu_hau_sort_natural_index(system_addr_t output_data_addr, system_addr_t output_idx_addr, system_addr_t input_addr,
    int len, int K, bool descended, data_type_t dtype);
/** Sorts a row of values, each with an index of its own, and writes the first K with their indices.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * output_data_addr: system address of the K sorted values
 * output_idx_addr: system address of the K indices that belong to them
 * input_data_addr: system address of the values
 * input_idx_addr: system address of the indices (int32), one per value
 * len: number of values
 * K: how many of the sorted values are written, 1..len
 * More: softtpu api tpu_hau_sort_specific_index */
void tpu_hau_sort_specific_index(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_data_addr, system_addr_t input_idx_addr, int len, int K, bool descended, data_type_t dtype);
/** Sorts a row of values; flags choose indices and direction.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * src_data_addr: system address of the values
 * src_idx_addr: system address of the indices; not read when idx_auto is set
 * dst_data_addr: system address of the sorted values
 * dst_idx_addr: system address of the indices that belong to them; not written when idx_enable is 0
 * dtype_flags: data type of the values: 0 f32, 1 i32, 2 u32
 * len: number of values
 * More: softtpu api tpu_hau_sort_general */
void tpu_hau_sort_general(system_addr_t src_data_addr, system_addr_t src_idx_addr, system_addr_t dst_data_addr,
    system_addr_t dst_idx_addr, int dtype_flags, int len, int is_descend, int idx_enable, int idx_auto, int topk);
/** Sorts each row of a matrix and writes the first K of each.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * row_num: number of rows; the results of a row follow those of the row before it
 * len: number of values
 * K: how many of the sorted values are written, 1..len
 * Types: dtype fp32, int32 or uint32 */
void tpu_hau_sort_2d(system_addr_t output_addr, system_addr_t input_addr, int row_num, int len, int K, bool descended,
    data_type_t dtype);
/** Sorts each row of a matrix and writes the first K of each with their positions in the row.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * output_data_addr: system address of the K sorted values
 * output_idx_addr: system address of the K indices that belong to them
 * row_num: number of rows; the results of a row follow those of the row before it
 * len: number of values
 * K: how many of the sorted values are written, 1..len
 * Types: dtype fp32, int32 or uint32 */
void tpu_hau_sort_natural_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_addr, int row_num, int len, int K, bool descended, data_type_t dtype);
/** Sorts each row of a matrix, each value with an index of its own, and writes the first K of each.
 * Layout: Input, output and indices are rows of 32-bit values in global memory or L2 SRAM, each at a multiple of
 *   4.
 * output_data_addr: system address of the K sorted values
 * output_idx_addr: system address of the K indices that belong to them
 * input_data_addr: system address of the values
 * input_idx_addr: system address of the indices (int32), one per value
 * row_num: number of rows; the results of a row follow those of the row before it
 * len: number of values
 * More: softtpu api tpu_hau_sort_specific_index_2d */
void tpu_hau_sort_specific_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_data_addr, system_addr_t input_idx_addr, int row_num, int len, int K, bool descended,
    data_type_t dtype);
/** Keeps boxes and drops those that a kept one suppresses.
 * Layout: The output is a bitmap of ceil(box_num / 8) bytes: box i is bit i % 8 of byte i / 8, spare bits are 0.
 * output_addr: system address of the bitmap of kept boxes, a multiple of 4
 * input_addr: system address of box_num x box_num bytes: bit 0 of byte [i][j], j > i, is 1 when j survives i
 * box_num: number of boxes
 * keep_num: how many boxes are kept at most; 0: no limit
 * Types: scores and factors: fp32; the input of tpu_hau_hard_nms: bytes */
void tpu_hau_hard_nms(system_addr_t output_addr, system_addr_t input_addr, int box_num, int keep_num);
/** Keeps the best box again and again while the scores of the others fall.
 * Layout: The output is a bitmap of ceil(box_num / 8) bytes: box i is bit i % 8 of byte i / 8, spare bits are 0.
 * output_addr: system address of the bitmap of kept boxes, a multiple of 4
 * iou_addr: system address of box_num x box_num f32 factors, row by row
 * score_addr: system address of box_num f32 scores; they are not changed
 * threshold: boxes whose score is not above it are dropped
 * box_num: number of boxes
 * keep_num: how many boxes are kept at most; 0: no limit
 * Types: scores and factors: fp32; the input of tpu_hau_hard_nms: bytes */
void tpu_hau_soft_nms(system_addr_t output_addr, system_addr_t iou_addr, system_addr_t score_addr, float threshold,
    int box_num, int keep_num);
/** Copies lines by index from a table in global memory.
 * Layout: param, index and output lie at multiples of 64.
 * param_addr: system address of line number start
 * index_addr: system address of index_len 32-bit indices
 * line_num: number of lines that exist; end is below it
 * line_len: elements of a line
 * index_len: number of indices and of output lines
 * start: first index that counts as inside
 * end: last index that counts as inside
 * More: softtpu api tpu_hau_line_gather */
void tpu_hau_line_gather(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    int line_num, int line_len, int index_len, int start, int end, data_type_t dtype, bool fill_const);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
