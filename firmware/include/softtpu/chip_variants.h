/* Prototypes that differ between the older interface and the newest headers, or between chips there. The functions are
 * called in the same way, whichever prototype a kernel was compiled with. Included by tpu_kernel.h where a macro names
 * the chip. */
#ifndef SOFTTPU_CHIP_VARIANTS_H_
#define SOFTTPU_CHIP_VARIANTS_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef SOFTTPU_NEWER_INTERFACE
void tpu_register_kernel_func(const char* name, void* func, func_type_t type);
u64 tpu_aligned_feature_size(int h, int w, data_type_t dtype);
void tpu_sccl_init(int chip_num, int rank, int* chip_map, int use_ring);
#endif

#ifdef SOFTTPU_LATER_CHIP
void tpu_gdma_cpy_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op, all_reduce_opcode_t reduce_opcode);
void tpu_gdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op, all_reduce_opcode_t reduce_opcode);
void tpu_gdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_gdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_gdma_lossy_compress_reduce_L12L2(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_gdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_gdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_gdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_sdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op, all_reduce_opcode_t reduce_opcode);
void tpu_sdma_cpy_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_sdma_lossy_compress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_sdma_lossy_compress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_sdma_lossy_decompress_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
void tpu_sdma_lossy_decompress_reduce_L22L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode);
#endif

#if defined(__sg2260e__) || defined(__bm1684x2__)
void tpu_cdma_write(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr,
    unsigned short src_n, unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride,
    unsigned int src_c_stride, unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c,
    unsigned int dst_h, unsigned int dst_w, unsigned int dst_n_stride, unsigned int dst_c_stride,
    unsigned int dst_h_stride, int is_fill_const, int const_val, data_type_t dtype, int opcode, int stride_enable,
    int nchw_copy, u32 msg_en, u32 msg_id, u32 wcnt, int port);
#elif defined(__sg2262__)
void tpu_cdma_write(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr,
    unsigned short src_n, unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride,
    unsigned int src_c_stride, unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c,
    unsigned int dst_h, unsigned int dst_w, unsigned int dst_n_stride, unsigned int dst_c_stride,
    unsigned int dst_h_stride, int is_fill_const, int const_val, data_type_t dtype, int stride_enable, int nchw_copy,
    u32 msg_en, u32 msg_id, u32 wcnt, int port);
#endif

#if defined(__sg2260e__) || defined(__bm1684x2__)
void tpu_cdma_read(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c, unsigned int dst_h, unsigned int dst_w,
    unsigned int dst_n_stride, unsigned int dst_c_stride, unsigned int dst_h_stride, data_type_t dtype, int opcode,
    int stride_enable, int port);
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
