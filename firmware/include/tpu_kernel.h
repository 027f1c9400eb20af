/* The TPUKernel interface: what a kernel for the BM1684X family calls.
 *
 * Strides are in elements; a NULL stride means the aligned layout for a local tensor and the continuous layout for a system tensor.
 * A call that breaks a rule ends the launch with a message; the rules of each function are listed by `softtpu api`. */
#ifndef _TPU_KERNEL_H_
#define _TPU_KERNEL_H_

/* The published header brings these, and kernels rely on it. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "softtpu/tpu_bdc_elementwise.h"
#include "softtpu/tpu_bdc_tensor.h"
#include "softtpu/tpu_dma.h"
#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Registration and failure: TPUKERNEL_FUNC_REGISTER and TPUKERNEL_ASSERT use these ---- */

void tpu_register_kernel_func(const char* name, tpu_kernel_func_t func);
void tpu_dump_registered_kernel_funcs(void);
void __print_trace(void);
int get_atomic_cmodel_assert_enable(void);

/* ---- Command counters (id nodes), waiting, parallel sections ---- */

void tpu_set_id_node(void* node);
void tpu_get_id_node(void* node);
void tpu_set_parallel_id_node(void* bd_node, void* gdma_node);
void tpu_get_parallel_id_node(void* bd_node, void* gdma_node);
void tpu_enable_check_id_node(void);
void tpu_disable_check_id_node(void);
void tpu_initialize(void);
void tpu_initialize_parallel(void);
void tpu_poll(void);
void tpu_poll_empty(void);
void tpu_poll_parallel(void);
void tpu_hau_poll(void);
void tpu_parallel_start(void);
void tpu_parallel_end(void);
bool tpu_is_parallel_state(void);

/* ---- The chip: number of NPUs, sizes, start addresses, pointers for the kernel's own loads and stores ---- */

int tpu_npu_num(void);
int tpu_bank_num(void);
int tpu_eu_num(data_type_t dtype);
int tpu_get_ic_parallel(data_type_t dtype);
int tpu_local_mem_size_per_npu(void);
int tpu_l2_sram_size(void);
unsigned long long tpu_l2_sram_get_start_addr(void);
unsigned long long tpu_global_mem_get_start_addr(void);
unsigned long long tpu_local_mem_get_start_addr(void);
unsigned long long tpu_static_mem_get_start_addr(void);
void* tpu_global_mem_addr(global_addr_t addr);
void* tpu_local_mem_addr(int start_idx, local_addr_t addr);
void* tpu_local_mem_addr_unified(local_addr_t addr);
void* tpu_l2_sram_addr(l2_sram_addr_t addr);
int tpu_gdma_shape_limit(int dim);
int tpu_gdma_move_max_wstride_byte_len(void);

/* ---- Layouts: where a tensor's elements lie in local memory ---- */

int tpu_npu_index(local_addr_t addr);
int tpu_bank_index(local_addr_t addr);
int tpu_channle_num_per_npu(int start_idx, int num_channels);
int tpu_aligned_feature_size(int h, int w, data_type_t dtype);
int tpu_conv_kernel_size_per_oc(int ic, const dim2* ker, data_type_t dtype);
int tpu_conv_kernel_size(int oc, int ic, const dim2* ker, data_type_t dtype);
void tpu_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype);
void tpu_compact_stride(dim4* stride, int start_idx, const dim4* shape);
void tpu_line_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype);
void tpu_continuous_stride(dim4* stride, const dim4* shape);
int tpu_get_local_cstride(int h, int w, bool align, data_type_t dtype);
int tpu_get_local_nstride(int c_stride, int c, int start_idx);
int tpu_get_local_size(const dim4* shape, data_type_t dtype, int start_idx, bool align);
void tpu_local_shape_5d_to_4d(const dim5* shape_5d, dim4* shape_4d);
range_t tpu_bank_range(local_addr_t addr, int size);
bool tpu_range_overlapped(const range_t* r0, const range_t* r1);
bool tpu_any_range_overlapped(const range_t* ranges, int num);
int tpu_npu_c_offset(int c, int c_stride, data_type_t dtype);
int tpu_unified_c_offset(int c, int c_stride, data_type_t dtype);
int tpu_get_local_msg_id(void);

/* ---- Data types and conversion of single values ---- */

bool tpu_is_data_type_signed(data_type_t dtype);
bool tpu_is_data_type_int(data_type_t dtype);
bool tpu_is_data_type_int4(data_type_t dtype);
bool tpu_is_data_type_int8(data_type_t dtype);
bool tpu_is_data_type_int16(data_type_t dtype);
bool tpu_is_data_type_int32(data_type_t dtype);
bool tpu_is_data_type_signed_int(data_type_t dtype);
bool tpu_is_data_type_unsigned_int(data_type_t dtype);
bool tpu_is_data_type_fp(data_type_t dtype);
bool tpu_is_data_type_fp8(data_type_t dtype);
int tpu_data_type_size(data_type_t dtype);
int tpu_data_type_bits(data_type_t dtype);
scalar_t tpu_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype);
scalar_t tpu_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
scalar_t tpu_fp_to_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
scalar_t tpu_int_to_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
scalar_t tpu_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);

/* ---- HAU: sorting, non-maximum suppression, gathering of lines ---- */

void tpu_hau_sort(system_addr_t output_addr, system_addr_t input_addr, int len, int K, bool descended,
    data_type_t dtype);
void tpu_hau_sort_natural_index(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_addr, int len, int K, bool descended, data_type_t dtype);
void tpu_hau_sort_specific_index(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_data_addr, system_addr_t input_idx_addr, int len, int K, bool descended, data_type_t dtype);
void tpu_hau_sort_general(system_addr_t src_data_addr, system_addr_t src_idx_addr, system_addr_t dst_data_addr,
    system_addr_t dst_idx_addr, int dtype_flags, int len, int is_descend, int idx_enable, int idx_auto, int topk);
void tpu_hau_sort_2d(system_addr_t output_addr, system_addr_t input_addr, int row_num, int len, int K, bool descended,
    data_type_t dtype);
void tpu_hau_sort_natural_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_addr, int row_num, int len, int K, bool descended, data_type_t dtype);
void tpu_hau_sort_specific_index_2d(system_addr_t output_data_addr, system_addr_t output_idx_addr,
    system_addr_t input_data_addr, system_addr_t input_idx_addr, int row_num, int len, int K, bool descended,
    data_type_t dtype);
void tpu_hau_hard_nms(system_addr_t output_addr, system_addr_t input_addr, int box_num, int keep_num);
void tpu_hau_soft_nms(system_addr_t output_addr, system_addr_t iou_addr, system_addr_t score_addr, float threshold,
    int box_num, int keep_num);
void tpu_hau_line_gather(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr, scalar_t C,
    int line_num, int line_len, int index_len, int start, int end, data_type_t dtype, bool fill_const);

/* ---- Caches, memory helpers, printing ---- */

void tpu_invalidate_cache(system_addr_t address, unsigned long long size);
void tpu_flush_cache(system_addr_t address, unsigned long long size);
int tpu_cache_line_size(void);
void* tpu_kernel_memcpy(void* dst, const void* src, size_t n);
void* tpu_kernel_memset(void* dst, int c, size_t n);
void tpu_print_local_mem_data(local_addr_t local_offset, int start_idx, const dim4* shape, const dim4* stride,
    data_type_t dtype);
void tpu_dump_global_layer_data(const char* filename, global_addr_t addr, const int* shape, int dims,
    data_type_t dtype);

/* ---- Cores, work items, chips ---- */

int tpu_core_num(void);
int tpu_core_index(void);
int tpu_workitem_num(void);
int tpu_workitem_index(void);
int tpu_is_last_workitem(void);
int tpu_group_num(void);
int tpu_group_index(void);
int tpu_start_physical_core_id(void);
int tpu_tpuv7_env(void);
int tpu_physical_core_id(void);
int tpu_physical_core_num(void);
int tpu_max_core_num(void);
int tpu_chip_id(void);
int tpu_chip_num(void);
int tpu_rank(void);
int* tpu_chip_map(void);
void tpu_sccl_init(int chip_num, int rank, int* chip_map);

/* ---- State of the engines ---- */

int tpu_bdc_busy(void);
int tpu_gdma_busy(void);
int tpu_sdma_busy(void);
int tpu_hau_sort_busy(void);
int tpu_gdma_cmd_overflow(void);
int tpu_sdma_cmd_overflow(void);
int tpu_hau_sort_cmd_overflow(void);

/* ---- Synchronisation and messages between engines and cores ---- */

void tpu_sync_core(void);
void tpu_sync_all(void);
void tpu_sync_all_bdc(void);
void tpu_sync_all_gdma(void);
void tpu_sync_all_sdma(void);
void tpu_sync_all_hau(void);
void tpu_sync_core_innner(void);
/* A meeting of all cores of the launch, or of core_num of them, that is apart from those with another number. */
void tpu_sync_all_with_msg_id(int msg_id);
int tpu_core_barrier(int msg_id, int core_num);
/* One core at a time holds a lock. */
void tpu_acquire_lock(int lock_id);
void tpu_release_lock(int lock_id);
void tpu_sync_finish(void);
int tpu_next_msg_id(void);
void tpu_set_base_msg_id(int base_msg_id);
void tpu_core_context_setup(int core_idx, int core_num, int core_msg_id);
void tpu_bdc_send_msg(int msg_id, int wait_cnt);
void tpu_bdc_wait_msg(int msg_id, int send_cnt);
void tpu_gdma_send_msg(int msg_id, int wait_cnt);
void tpu_gdma_wait_msg(int msg_id, int send_cnt);
void tpu_hau_send_msg(int msg_id, int wait_cnt);
void tpu_hau_wait_msg(int msg_id, int send_cnt);
void tpu_sdma_send_msg(int msg_id, int wait_cnt);
void tpu_vsdma_send_msg(int msg_id, int wait_cnt, int port_id);
void tpu_sdma_wait_msg(int msg_id, int send_cnt);
void tpu_vsdma_wait_msg(int msg_id, int send_cnt, int port_id);
void tpu_cdma_send_msg(int port, int msg_id, int wait_cnt);
void tpu_cdma_wait_msg(int port, int msg_id, int send_cnt);
void tpu_cdma_tx_send_msg(int port, int msg_id, int wait_cnt);
void tpu_cdma_tx_wait_msg(int port, int msg_id, int send_cnt);
void tpu_cdma_rx_send_msg(int port, int msg_id, int wait_cnt);
void tpu_cdma_rx_wait_msg(int port, int msg_id, int send_cnt);
int tpu_get_global_msg_id(void);
int tpu_get_ccl_msg_id(void);
int tpu_get_core_sync_msg_id(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* ---- Sizes of the chip that the kernel runs on (a definition made before this header wins) ---- */

#ifndef NPU_NUM
#define NPU_NUM tpu_npu_num()
#endif
#ifndef EU_NUM
#define EU_NUM tpu_eu_num(DT_FP32)
#endif
#ifndef EU_NUM_32BIT
#define EU_NUM_32BIT tpu_eu_num(DT_FP32)
#endif
#ifndef EU_NUM_16BIT
#define EU_NUM_16BIT tpu_eu_num(DT_FP16)
#endif
#ifndef EU_NUM_8BIT
#define EU_NUM_8BIT tpu_eu_num(DT_INT8)
#endif
#ifndef ALIGN_BYTES
#define ALIGN_BYTES (EU_NUM * sizeof(float))
#endif
#ifndef LOCAL_MEM_SIZE
#define LOCAL_MEM_SIZE tpu_local_mem_size_per_npu()
#endif
#ifndef LOCAL_MEM_BANKS
#define LOCAL_MEM_BANKS tpu_bank_num()
#endif
#ifndef LOCAL_BANK_SIZE
#define LOCAL_BANK_SIZE (LOCAL_MEM_SIZE / LOCAL_MEM_BANKS)
#endif
#ifndef BANK_SIZE
#define BANK_SIZE (LOCAL_MEM_SIZE / LOCAL_MEM_BANKS)
#endif
#ifndef L2_SRAM_SIZE
#define L2_SRAM_SIZE tpu_l2_sram_size()
#endif
#ifndef L2_SRAM_START_ADDR
#define L2_SRAM_START_ADDR tpu_l2_sram_get_start_addr()
#endif
#ifndef LOCAL_MEM_START_ADDR
#define LOCAL_MEM_START_ADDR tpu_local_mem_get_start_addr()
#endif
#ifndef STATIC_MEM_START_ADDR
#define STATIC_MEM_START_ADDR tpu_static_mem_get_start_addr()
#endif

/* ---- Registration: one line per kernel, at file scope ---- */

#define TPUKERNEL_FUNC_REGISTER(func) SOFTTPU_REGISTER(func, tpu_kernel_func_t, tpu_register_kernel_func)

/* ---- Messages and assertions ---- */

#define TPUKERNEL_LOG(...) printf(__VA_ARGS__)
#define TPUKERNEL_ERR(...) (printf("[ERR] %s:%d: %s: ", __FILE__, __LINE__, __func__), printf(__VA_ARGS__))
/* Printed when the kernel is compiled with DEBUG; its format is checked always. */
#ifdef DEBUG
#define SOFTTPU_DEBUG_BUILD 1
#else
#define SOFTTPU_DEBUG_BUILD 0
#endif
#define TPUKERNEL_DBG(...)                           \
  do {                                               \
    if (SOFTTPU_DEBUG_BUILD) {                       \
      printf("[DBG] %s:%d: ", __FILE__, __LINE__);   \
      printf(__VA_ARGS__);                           \
    }                                                \
  } while (0)

#define TPUKERNEL_ASSERT(assertion) SOFTTPU_ASSERT(assertion)
/* As TPUKERNEL_ASSERT, with a message in printf style. */
#define TPUKERNEL_ASSERT_INFO(assertion, ...)                                       \
  do {                                                                              \
    if (!(assertion)) {                                                             \
      TPUKERNEL_ERR(__VA_ARGS__);                                                   \
      printf("\n");                                                                 \
      softtpu_kernel_assert_fail(#assertion, __FILE__, __LINE__, __func__);         \
    }                                                                               \
  } while (0)

#endif
