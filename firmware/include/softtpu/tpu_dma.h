/* The data movers of the TPUKernel interface: GDMA, and the SDMA and CDMA of other chips.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_DMA_H_
#define SOFTTPU_TPU_DMA_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- GDMA: copies with strides (S is any system memory, L is local memory) ---- */

void tpu_gdma_general_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_general_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_nc_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_nc_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_nc_trans_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_cw_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_cw_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_cw_trans_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    data_type_t dtype);
void tpu_gdma_set_C_local(local_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    data_type_t dtype);
void tpu_gdma_channel_bcast_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_channel_bcast_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_gdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype);
void tpu_gdma_system_bcast(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, int dst_channel,
    data_type_t dtype);
void tpu_gdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype);
void tpu_gdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
void tpu_gdma_reverse_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
void tpu_gdma_reverse_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
void tpu_gdma_reverse_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);

/* ---- GDMA: compact, matrix and vector layouts ---- */

void tpu_gdma_compact_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_gdma_compact_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
void tpu_gdma_compact_nc_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    data_type_t dtype);
void tpu_gdma_compact_nc_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    data_type_t dtype);
void tpu_gdma_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr, int rows, int cols, int cols_per_channel,
    int row_stride, data_type_t dtype);
void tpu_gdma_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr, int rows, int cols, int cols_per_channel,
    int row_stride, data_type_t dtype);
void tpu_gdma_matrix_trans_S2L(local_addr_t dst_addr, system_addr_t src_addr, int src_rows, int src_cols,
    int dst_cols_per_channel, int src_row_stride, data_type_t dtype);
void tpu_gdma_matrix_trans_L2S(system_addr_t dst_addr, local_addr_t src_addr, int src_rows, int src_cols,
    int src_cols_per_channel, int dst_row_stride, data_type_t dtype);
void tpu_gdma_vector_S2L(local_addr_t dst_addr, system_addr_t src_addr, int len, int len_per_channel,
    data_type_t dtype);
void tpu_gdma_vector_L2S(system_addr_t dst_addr, local_addr_t src_addr, int len, int len_per_channel,
    data_type_t dtype);

/* ---- GDMA: selection of elements and rows ---- */

unsigned int tpu_gdma_get_filter_num(void);
void tpu_gdma_mask_select_L2S(global_addr_t dst_addr, local_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
void tpu_gdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr, int mask_in_lmem,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
unsigned int tpu_gdma_mask_select_S2S_with_ret(global_addr_t dst_addr, global_addr_t src_addr, addr_t mask_addr,
    int mask_in_lmem, const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
void tpu_gdma_nonzero_L2S(global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
    unsigned int base_idx);
void tpu_gdma_nonzero_S2S(global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
    unsigned int base_idx);
void tpu_gdma_h_gather_S2L(local_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_gather_L2S(system_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_gather_L2L(local_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_gather_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
    bool index_is_local, scalar_t C, const dim4* shape, int param_h, u32 start_pos, const dim4* output_stride,
    const dim4* param_stride, const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_scatter_S2L(local_addr_t output_addr, system_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
void tpu_gdma_h_scatter_L2S(system_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
void tpu_gdma_h_scatter_L2L(local_addr_t output_addr, local_addr_t param_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
void tpu_gdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
    bool index_is_local, const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype);
void tpu_gdma_h_scatter_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, addr_t index_addr,
    bool index_is_local, const dim4* shape, int param_h, u32 start_pos, int inplace_add, const dim4* output_stride,
    const dim4* param_stride, const dim4* index_stride, data_type_t dtype);

/* ---- GDMA: lossless compression ---- */

void tpu_gdma_compress_normal_L2S(global_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* src_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
int tpu_gdma_compress_normal_max_bytes(const dim4* shape, data_type_t dtype, bool zero_guard);
dim4 tpu_gdma_compress_RACU_racu_stride(const dim4* shape, data_type_t dtype, bool zero_guard);
dim4 tpu_gdma_compress_RACU_meta_stride(const dim4* shape, data_type_t dtype);
void tpu_gdma_decompress_normal_S2L(local_addr_t dst_addr, global_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
void tpu_gdma_compress_RACU_L2S(global_addr_t dst_racu_addr, global_addr_t dst_meta_addr, local_addr_t src_addr,
    const dim4* shape, const dim4* dst_racu_stride, const dim4* dst_meta_stride, const dim4* src_stride,
    data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
void tpu_gdma_decompress_RACU_S2L(local_addr_t dst_addr, global_addr_t src_racu_addr, global_addr_t src_meta_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src_racu_stride, const dim4* src_meta_stride,
    data_type_t dtype, unsigned char bias0, unsigned char bias1, bool zero_guard);
int tpu_gdma_compress_RACU_max_meta_bytes(const dim4* shape, data_type_t dtype);
int tpu_gdma_compress_RACU_max_racu_bytes(const dim4* shape, data_type_t dtype, bool zero_guard);

/* ---- GDMA of other chips: lossy compression, reduction into L2, random masks ---- */

void tpu_gdma_lossy_compress_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_gdma_lossy_compress_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_gdma_lossy_decompress_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_gdma_lossy_decompress_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_gdma_cpy_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_lossy_compress_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_gdma_random_mask_init_seed_S2L(system_addr_t mask_addr, local_addr_t dst_addr, const dim4* shape, int size,
    const dim4* dst_stride, data_type_t dtype);
void tpu_gdma_random_mask_S2L(system_addr_t mask_addr, local_addr_t dst_addr, const dim4* shape, int size,
    const dim4* dst_stride, int use_iter_state, data_type_t dtype);
void tpu_gdma_random_mask_set_seed(const int seed);
void tpu_set_gdma_id(int gdma_id);

/* ---- SDMA: the copy engine of chips with several cores ---- */

void tpu_sdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
void tpu_sdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_sdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
void tpu_sdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    data_type_t dtype);
void tpu_sdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
void tpu_sdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
void tpu_sdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype);
void tpu_sdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype);
void tpu_sdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
void tpu_sdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, global_addr_t mask_addr,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
void tpu_sdma_nonzero_S2S(global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
    unsigned int base_idx);
void tpu_sdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
void tpu_sdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
void tpu_sdma_lossy_compress(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
void tpu_sdma_lossy_decompress(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
void tpu_sdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_sdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_sdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
void tpu_sdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
unsigned int tpu_sdma_get_filter_num(void);

/* ---- VSDMA: SDMA through a named port ---- */

void tpu_vsdma_poll(void);
void tpu_vsdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, int port_id);
void tpu_vsdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int port_id);
void tpu_vsdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int port_id);
void tpu_vsdma_set_C_system(system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,
    data_type_t dtype, int port_id);
void tpu_vsdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype, int port_id);
void tpu_vsdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype, int port_id);
void tpu_vsdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype,
    int port_id);
void tpu_vsdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype, int port_id);
void tpu_vsdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype, int port_id);
void tpu_vsdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, global_addr_t mask_addr,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype, int port_id);
void tpu_vsdma_nonzero_S2S(global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
    unsigned int base_idx, int port_id);
unsigned int tpu_vsdma_get_filter_num(int port_id);

/* ---- CDMA: copies between chips ---- */

void tpu_cdma_initialize(void);
void tpu_cdma_port_initialize(int port);
void tpu_cdma_poll(void);
void tpu_cdma_port_poll(int port);
int tpu_cdma_get_port(int self, int peer, int direction);
void tpu_cdma_send(int dst_chipid, int src_chipid, system_addr_t src_addr, int src_n, int src_c, int src_h, int src_w,
    int src_n_stride, int src_c_stride, int src_h_stride, int opcode, data_type_t dtype);
void tpu_cdma_lossy_compress(int dst_chipid, int src_chipid, system_addr_t src_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, int opcode);
void tpu_cdma_lossy_decompress(int dst_chipid, int src_chipid, system_addr_t src_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, int opcode);
void tpu_cdma_recv(int src_chipid, int dst_chipid, system_addr_t dst_addr, int dst_n, int dst_c, int dst_h, int dst_w,
    int dst_n_stride, int dst_c_stride, int dst_h_stride, system_addr_t input_addr, int opcode, data_type_t dtype);
void tpu_cdma_write(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr,
    unsigned short src_n, unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride,
    unsigned int src_c_stride, unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c,
    unsigned int dst_h, unsigned int dst_w, unsigned int dst_n_stride, unsigned int dst_c_stride,
    unsigned int dst_h_stride, int is_fill_const, int const_val, data_type_t dtype, int stride_enable, int nchw_copy);
void tpu_cdma_nop_sync(int port);
void tpu_cdma_tx_rx_debug(int port);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
