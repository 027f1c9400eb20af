/* The data movers of the TPUKernel interface that only some chips have: SDMA, VSDMA and CDMA.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_SDMA_H_
#define SOFTTPU_TPU_SDMA_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- SDMA: the copy engine of chips with several cores ---- */

/** Copies a tensor inside system memory.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Copies inside system memory, n and c exchanged.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies inside system memory, c and w exchanged.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Fills a system tensor with a constant.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_set_C_system(
    system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype);
/** Gathers rows of a system tensor by index.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Scatters rows of a system tensor by index.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype);
/** Copies count elements inside system memory.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_system_cpy(system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype);
/** Fills count elements of system memory.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype);
/** Copies inside system memory with one dimension reversed.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype);
/** Writes the elements whose mask is not 0, one after the other.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, global_addr_t mask_addr,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype);
/** Writes the positions of the elements that are not 0.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_nonzero_S2S(
    global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype, unsigned int base_idx);
#ifndef SOFTTPU_LATER_CHIP
/** Copies a system tensor to L2 SRAM and combines it with what is there.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
/** Copies a tensor inside L2 SRAM and combines it with what is there.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int reduce_psum_op, int reduce_opcode);
#endif
/** Packs an f32 tensor into 20 bits per element.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_compress(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Unpacks 20 bits per element to f32.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_decompress(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
#ifndef SOFTTPU_LATER_CHIP
/** Packs a system tensor and combines it with one in L2 SRAM.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Packs a tensor of L2 SRAM and combines it with another there.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Unpacks a system tensor and combines it with one in L2 SRAM.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
/** Unpacks a tensor of L2 SRAM and combines it with another there.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int reduce_psum_op, int reduce_opcode);
#endif
/** Number of results of the last selection of SDMA.
 * BM1684X has no SDMA engine: the call is refused. */
unsigned int tpu_sdma_get_filter_num(void);

/* ---- VSDMA: SDMA through a named port ---- */

/** Waits for all ports of VSDMA; a chip without any has nothing to wait for. */
void tpu_vsdma_poll(void);
/** Copies a tensor inside system memory through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, int port_id);
/** Copies inside system memory through a port, n and c exchanged.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_cpy_nc_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int port_id);
/** Copies inside system memory through a port, c and w exchanged.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_cpy_cw_trans_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* dst_shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int port_id);
/** Fills a system tensor with a constant through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_set_C_system(
    system_addr_t dst_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, data_type_t dtype, int port_id);
/** Gathers rows of a system tensor by index through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_h_gather_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype, int port_id);
/** Scatters rows of a system tensor by index through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_h_scatter_S2S(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,
    const dim4* shape, int param_h, const dim4* output_stride, const dim4* param_stride, const dim4* index_stride,
    data_type_t dtype, int port_id);
/** Copies count elements inside system memory through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_system_cpy(
    system_addr_t dst_addr, system_addr_t src_addr, unsigned int count, data_type_t dtype, int port_id);
/** Fills count elements of system memory through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_system_set(system_addr_t dst_addr, scalar_t C, unsigned int count, data_type_t dtype, int port_id);
/** Copies inside system memory through a port with one dimension reversed.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_reverse_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, int reverse_axis, data_type_t dtype, int port_id);
/** Writes the elements whose mask is not 0, one after the other, through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_mask_select_S2S(global_addr_t dst_addr, global_addr_t src_addr, global_addr_t mask_addr,
    const dim4* shape, data_type_t data_dtype, data_type_t mask_dtype, int port_id);
/** Writes the positions of the elements that are not 0 through a port.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_nonzero_S2S(global_addr_t dst_addr, global_addr_t src_addr, const dim4* shape, data_type_t data_dtype,
    unsigned int base_idx, int port_id);
/** Number of results of a port's last selection.
 * BM1684X has no VSDMA engine: the call is refused. */
unsigned int tpu_vsdma_get_filter_num(int port_id);

/* ---- CDMA: copies between chips ---- */

/** Prepares all ports of CDMA; a chip without any has nothing to prepare. */
void tpu_cdma_initialize(void);
/** Prepares one port of CDMA.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_port_initialize(int port);
/** Waits for all ports of CDMA; a chip without any has nothing to wait for. */
void tpu_cdma_poll(void);
/** Waits for one port of CDMA.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_port_poll(int port);
/** Port that leads from this chip to another.
 * BM1684X has no ports of CDMA: the call is refused. */
int tpu_cdma_get_port(int self, int peer, int direction);
/** Sends a tensor to another chip.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_send(int dst_chipid, int src_chipid, system_addr_t src_addr, int src_n, int src_c, int src_h, int src_w,
    int src_n_stride, int src_c_stride, int src_h_stride, int opcode, data_type_t dtype);
/** Packs f32 into 20 bits per element and sends it to another chip.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_lossy_compress(int dst_chipid, int src_chipid, system_addr_t src_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, int opcode);
/** Sends 20 bits per element to another chip, which gets f32.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_lossy_decompress(int dst_chipid, int src_chipid, system_addr_t src_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, int opcode);
/** Receives a tensor from another chip, combining it as opcode says.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_recv(int src_chipid, int dst_chipid, system_addr_t dst_addr, int dst_n, int dst_c, int dst_h, int dst_w,
    int dst_n_stride, int dst_c_stride, int dst_h_stride, system_addr_t input_addr, int opcode, data_type_t dtype);
#ifndef SOFTTPU_OTHER_CDMA
/** Writes a tensor, or a constant, into the memory of another chip.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_write(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr,
    unsigned short src_n, unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride,
    unsigned int src_c_stride, unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c,
    unsigned int dst_h, unsigned int dst_w, unsigned int dst_n_stride, unsigned int dst_c_stride,
    unsigned int dst_h_stride, int is_fill_const, int const_val, data_type_t dtype, int stride_enable, int nchw_copy);
#endif
/** Orders the two halves of a port.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_nop_sync(int port);
/** Writes the state of a port for debugging.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_tx_rx_debug(int port);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
