/* The TPUKernel interface: what a kernel for the BM1684X family calls.
 *
 * Strides are in elements; a NULL stride means the aligned layout for a local tensor and the continuous layout for a
 * system tensor. A call that breaks a rule ends the launch with a message; the rules of each function are listed by
 * `softtpu api`. */
#ifndef _TPU_KERNEL_H_
#define _TPU_KERNEL_H_

/* The published header brings these, and kernels rely on it. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "softtpu/tpu_bdc_elementwise.h"
#include "softtpu/tpu_bdc_matrix.h"
#include "softtpu/tpu_bdc_move.h"
#include "softtpu/tpu_bdc_special.h"
#include "softtpu/tpu_bdc_tensor.h"
#include "softtpu/tpu_bdc_window.h"
#include "softtpu/tpu_dma.h"
#include "softtpu/tpu_hau.h"
#include "softtpu/tpu_newer.h"
#include "softtpu/tpu_sdma.h"
#include "tpu_defs.h"
#ifdef SOFTTPU_NEWER_INTERFACE
#include "softtpu/chip_variants.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Registration and failure: TPUKERNEL_FUNC_REGISTER and TPUKERNEL_ASSERT use these ---- */

#ifndef SOFTTPU_NEWER_INTERFACE
/** Makes a kernel known by name; TPUKERNEL_FUNC_REGISTER calls it when a module is loaded.
 * name: name of the kernel, at most 63 characters
 * func: the kernel: it gets the address of a copy of the launch's arguments */
void tpu_register_kernel_func(const char* name, tpu_kernel_func_t func);
#endif
/** Prints the names of all registered kernels. */
void tpu_dump_registered_kernel_funcs(void);
/** Prints the kernel's call stack; TPUKERNEL_ASSERT uses it. */
void __print_trace(void);
/** Whether a failed TPUKERNEL_ASSERT ends the program. */
int get_atomic_cmodel_assert_enable(void);

/* ---- Command counters (id nodes), waiting, parallel sections ---- */

/** Sets the command counters to a node that tpu_get_id_node filled.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * node: 12 bytes */
void tpu_set_id_node(void* node);
/** Copies the command counters.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * node: 12 bytes */
void tpu_get_id_node(void* node);
/** Sets the counters of both engines in a parallel section.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * bd_node: 12 bytes, the counters of BDC in a parallel section
 * gdma_node: 12 bytes, the counters of GDMA in a parallel section */
void tpu_set_parallel_id_node(void* bd_node, void* gdma_node);
/** Copies the counters of both engines in a parallel section.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * bd_node: 12 bytes, the counters of BDC in a parallel section
 * gdma_node: 12 bytes, the counters of GDMA in a parallel section */
void tpu_get_parallel_id_node(void* bd_node, void* gdma_node);
/** Lets the counters start again at 0 when they pass 60000 (the default).
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused. */
void tpu_enable_check_id_node(void);
/** Lets the counters go on beyond 60000.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused. */
void tpu_disable_check_id_node(void);
/** Begins a kernel: resets the command counters and leaves a parallel section. */
void tpu_initialize(void);
/** Begins a kernel on a chip with several cores; here the same as tpu_initialize. */
void tpu_initialize_parallel(void);
/** Waits until BDC and GDMA have finished all commands; the last call of a kernel. */
void tpu_poll(void);
/** Waits until the command queues are empty. */
void tpu_poll_empty(void);
/** Waits for all engines of a chip with several cores; here as tpu_poll_empty. */
void tpu_poll_parallel(void);
/** Waits until the HAU has finished; may be called in a parallel section. */
void tpu_hau_poll(void);
/** Begins a section in which BDC and GDMA do not wait for each other. */
void tpu_parallel_start(void);
/** Ends a parallel section: both engines wait for each other. */
void tpu_parallel_end(void);
/** Whether a parallel section is open. */
bool tpu_is_parallel_state(void);

/* ---- The chip: number of NPUs, sizes, start addresses, pointers for the kernel's own loads and stores ---- */

/** Number of NPUs. */
int tpu_npu_num(void);
/** Number of banks of an NPU's local memory. */
int tpu_bank_num(void);
/** Elements of a type that an NPU works on at once; rows of the aligned layout begin at multiples of it.
 * Types: any data_type_t that has a size in bytes; tpu_eu_num also 4-bit integers */
int tpu_eu_num(data_type_t dtype);
/** Input channels that weights keep side by side.
 * dtype: data type of the weights
 * Types: fp32, fp16, bfp16, int8 or uint8 */
int tpu_get_ic_parallel(data_type_t dtype);
/** Bytes of local memory of each NPU. */
int tpu_local_mem_size_per_npu(void);
/** Bytes of L2 SRAM. */
int tpu_l2_sram_size(void);
/** First system address of L2 SRAM. */
unsigned long long tpu_l2_sram_get_start_addr(void);
/** First system address of global memory. */
unsigned long long tpu_global_mem_get_start_addr(void);
/** First system address of the window onto local memory. */
unsigned long long tpu_local_mem_get_start_addr(void);
/** First system address of static memory. */
unsigned long long tpu_static_mem_get_start_addr(void);
/** Pointer to global memory for the kernel's own loads and stores.
 * addr: address in global memory; it is not checked */
void* tpu_global_mem_addr(global_addr_t addr);
/** Pointer to local memory of one NPU.
 * start_idx: number of the NPU
 * addr: offset in the NPU, or a unified local address */
void* tpu_local_mem_addr(int start_idx, local_addr_t addr);
/** Pointer to local memory by its unified address (NPU * size + offset).
 * addr: offset in the NPU, or a unified local address */
void* tpu_local_mem_addr_unified(local_addr_t addr);
/** Pointer to L2 SRAM.
 * addr: full address in L2 SRAM */
void* tpu_l2_sram_addr(l2_sram_addr_t addr);
/** Largest extent of a dimension that one GDMA transfer moves.
 * dim: dimension: 0 n, 1 c, 2 h, 3 w */
int tpu_gdma_shape_limit(int dim);
/** Largest distance in bytes between neighbours of a row that GDMA moves. */
int tpu_gdma_move_max_wstride_byte_len(void);

/* ---- Layouts: where a tensor's elements lie in local memory ---- */

/** NPU of a unified local address.
 * addr: unified local address */
int tpu_npu_index(local_addr_t addr);
/** Bank of an address.
 * addr: unified local address */
int tpu_bank_index(local_addr_t addr);
/** Channels that the busiest NPU holds (the published name has this spelling).
 * start_idx: NPU of channel 0, 0..63
 * num_channels: number of channels */
int tpu_channle_num_per_npu(int start_idx, int num_channels);
#ifndef SOFTTPU_NEWER_INTERFACE
/** Bytes of one channel in the aligned layout.
 * h: extent h
 * w: extent w
 * Types: any data_type_t that has a size in bytes */
int tpu_aligned_feature_size(int h, int w, data_type_t dtype);
#endif
/** Bytes of the weights of one output channel.
 * ic: input channels
 * ker: h and w of the kernel
 * dtype: data type of the weights
 * Types: fp32, fp16, bfp16, int8 or uint8 */
int tpu_conv_kernel_size_per_oc(int ic, const dim2* ker, data_type_t dtype);
/** Bytes that weights take in each NPU.
 * oc: output channels
 * ic: input channels
 * ker: h and w of the kernel
 * dtype: data type of the weights
 * Types: fp32, fp16, bfp16, int8 or uint8 */
int tpu_conv_kernel_size(int oc, int ic, const dim2* ker, data_type_t dtype);
/** Strides of the aligned layout: channels begin at multiples of 64 bytes.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor
 * Types: any data_type_t that has a size in bytes */
void tpu_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype);
/** Strides of the compact layout: channels without gaps.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor */
void tpu_compact_stride(dim4* stride, int start_idx, const dim4* shape);
/** Strides of the line-aligned layout: rows begin at multiples of 64 bytes.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor
 * Types: any data_type_t that has a size in bytes */
void tpu_line_aligned_stride(dim4* stride, int start_idx, const dim4* shape, data_type_t dtype);
/** Strides of plain NCHW, as in system memory.
 * stride: receives the strides in elements
 * shape: n, c, h, w of the tensor */
void tpu_continuous_stride(dim4* stride, const dim4* shape);
/** Channel stride of the aligned or compact layout.
 * h: extent h
 * w: extent w
 * Types: any data_type_t that has a size in bytes */
int tpu_get_local_cstride(int h, int w, bool align, data_type_t dtype);
/** Batch stride from the channel stride.
 * c_stride: elements from channel to channel on one NPU
 * c: channels
 * start_idx: NPU of channel 0, 0..63 */
int tpu_get_local_nstride(int c_stride, int c, int start_idx);
/** Bytes that a tensor takes in each NPU.
 * shape: n, c, h, w of the tensor
 * start_idx: NPU of channel 0, 0..63
 * Types: any data_type_t that has a size in bytes */
int tpu_get_local_size(const dim4* shape, data_type_t dtype, int start_idx, bool align);
/** Shape of a five-dimensional tensor in local memory: the depth joins the batch.
 * shape_5d: n, c, d, h, w
 * shape_4d: receives (n * d, c, h, w) */
void tpu_local_shape_5d_to_4d(const dim5* shape_5d, dim4* shape_4d);
/** First and last bank that a block of bytes touches.
 * addr: unified local address
 * size: bytes, at least 1 */
range_t tpu_bank_range(local_addr_t addr, int size);
/** Whether two ranges share a value.
 * r0: first and last value, both included
 * r1: first and last value, both included */
bool tpu_range_overlapped(const range_t* r0, const range_t* r1);
/** Whether any two of several ranges share a value.
 * ranges: num ranges
 * num: number of ranges */
bool tpu_any_range_overlapped(const range_t* ranges, int num);
/** Offset of a channel inside its NPU.
 * c: number of the channel, counted from one on NPU 0
 * c_stride: elements from channel to channel on one NPU
 * Types: any data_type_t that has a size in bytes */
int tpu_npu_c_offset(int c, int c_stride, data_type_t dtype);
/** Unified local address of a channel of a tensor at address 0.
 * c: number of the channel, counted from one on NPU 0
 * c_stride: elements from channel to channel on one NPU
 * Types: any data_type_t that has a size in bytes */
int tpu_unified_c_offset(int c, int c_stride, data_type_t dtype);
/** First message number of this core. */
int tpu_get_local_msg_id(void);

/* ---- Data types and conversion of single values ---- */

/** Whether a type has signed values: floats and signed integers.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_signed(data_type_t dtype);
/** Whether a type is an integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_int(data_type_t dtype);
/** Whether a type is a 4-bit integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_int4(data_type_t dtype);
/** Whether a type is an 8-bit integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_int8(data_type_t dtype);
/** Whether a type is a 16-bit integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_int16(data_type_t dtype);
/** Whether a type is a 32-bit integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_int32(data_type_t dtype);
/** Whether a type is a signed integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_signed_int(data_type_t dtype);
/** Whether a type is an unsigned integer.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_unsigned_int(data_type_t dtype);
/** Whether a type is fp32, fp16 or bfp16.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_fp(data_type_t dtype);
/** Whether a type is an 8-bit float; answered on every chip.
 * Types: any data_type_t, 4-bit integers included */
bool tpu_is_data_type_fp8(data_type_t dtype);
/** Bytes of an element.
 * Types: any data_type_t, 4-bit integers included */
int tpu_data_type_size(data_type_t dtype);
/** Bits of an element.
 * Types: any data_type_t, 4-bit integers included */
int tpu_data_type_bits(data_type_t dtype);
/** Converts an integer to another integer type; it is clamped.
 * Types: integers */
scalar_t tpu_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype);
/** Converts a float to another float type.
 * Types: src_dtype and dst_dtype fp32, fp16 or bfp16 */
scalar_t tpu_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
/** Converts a float to an integer; it is rounded and clamped.
 * Types: src_dtype a float, dst_dtype an integer */
scalar_t tpu_fp_to_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
/** Converts an integer to a float; it is rounded.
 * Types: src_dtype an integer, dst_dtype a float */
scalar_t tpu_int_to_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);
/** Converts one value to another data type.
 * Types: any two types, but not fp16 and bfp16 into each other */
scalar_t tpu_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode);

/* ---- Caches, memory helpers, printing ---- */

/** Drops what the kernel's processor has cached of a range, before it reads what an engine wrote.
 * address: first byte of the range, in global memory or L2 SRAM
 * size: bytes */
void tpu_invalidate_cache(system_addr_t address, unsigned long long size);
/** Writes back what the kernel's processor has cached of a range, before an engine reads it.
 * address: first byte of the range, in global memory or L2 SRAM
 * size: bytes */
void tpu_flush_cache(system_addr_t address, unsigned long long size);
/** Bytes of a cache line of the kernel's processor. */
int tpu_cache_line_size(void);
/** Copies bytes on the kernel's processor.
 * dst: destination, a pointer of the kernel
 * src: source, a pointer of the kernel
 * n: number of bytes */
void* tpu_kernel_memcpy(void* dst, const void* src, size_t n);
/** Fills bytes on the kernel's processor.
 * dst: destination, a pointer of the kernel
 * c: the byte
 * n: number of bytes */
void* tpu_kernel_memset(void* dst, int c, size_t n);
/** Prints a tensor in local memory, a line for each row.
 * local_offset: offset in each NPU
 * start_idx: NPU of channel 0
 * stride: strides in elements; NULL: aligned
 * Types: any data_type_t that has a size in bytes */
void tpu_print_local_mem_data(
    local_addr_t local_offset, int start_idx, const dim4* shape, const dim4* stride, data_type_t dtype);
/** Writes a tensor in global memory to a text file.
 * filename: file to write, one element a line
 * addr: address in global memory
 * shape: the extents
 * dims: number of extents
 * Types: any data_type_t that has a size in bytes */
void tpu_dump_global_layer_data(
    const char* filename, global_addr_t addr, const int* shape, int dims, data_type_t dtype);

/* ---- Cores, work items, chips ---- */

/** Number of cores that run this launch. */
int tpu_core_num(void);
/** Number of the core that runs this copy of the kernel. */
int tpu_core_index(void);
/** Number of work items of this launch. */
int tpu_workitem_num(void);
/** Number of this work item. */
int tpu_workitem_index(void);
/** Whether this work item is the last of its launch. */
int tpu_is_last_workitem(void);
/** Number of groups of this launch. */
int tpu_group_num(void);
/** Number of this work item's group. */
int tpu_group_index(void);
/** Number on the chip of the launch's first core. */
int tpu_start_physical_core_id(void);
/** Whether the kernel runs under the tpuv7 runtime. */
int tpu_tpuv7_env(void);
/** Number of this core on the chip. */
int tpu_physical_core_id(void);
/** Number of cores of the chip. */
int tpu_physical_core_num(void);
/** Largest number of cores that a launch can have on this chip. */
int tpu_max_core_num(void);
/** Number of this chip among those of the launch. */
int tpu_chip_id(void);
/** Number of chips of the launch. */
int tpu_chip_num(void);
/** Number of this chip in its group. */
int tpu_rank(void);
/** Chip numbers of the group by rank.
 * BM1684X has no links to other chips: the call is refused. */
int* tpu_chip_map(void);
#ifndef SOFTTPU_NEWER_INTERFACE
/** Makes a group of chips for collective operations.
 * BM1684X has no links to other chips: the call is refused. */
void tpu_sccl_init(int chip_num, int rank, int* chip_map);
#endif

/* ---- State of the engines ---- */

/** Whether BDC is at work. */
int tpu_bdc_busy(void);
/** Whether GDMA is at work. */
int tpu_gdma_busy(void);
/** Whether SDMA is at work.
 * BM1684X has no SDMA engine: the call is refused. */
int tpu_sdma_busy(void);
/** Whether the HAU is sorting. */
int tpu_hau_sort_busy(void);
/** Whether the queue of GDMA commands overflowed. */
int tpu_gdma_cmd_overflow(void);
/** Whether the queue of SDMA commands overflowed.
 * BM1684X has no SDMA engine: the call is refused. */
int tpu_sdma_cmd_overflow(void);
/** Whether the queue of the HAU overflowed. */
int tpu_hau_sort_cmd_overflow(void);

/* ---- Synchronisation and messages between engines and cores ---- */

/** Waits for the engines of this core. */
void tpu_sync_core(void);
/** Waits until every engine of every core has finished: a barrier of all cores. */
void tpu_sync_all(void);
/** Waits for BDC of all cores. */
void tpu_sync_all_bdc(void);
/** Waits for GDMA of all cores. */
void tpu_sync_all_gdma(void);
/** Waits for SDMA of all cores.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sync_all_sdma(void);
/** Waits for the HAU of all cores. */
void tpu_sync_all_hau(void);
/** Waits for the engines of this core (the published name has this spelling). */
void tpu_sync_core_innner(void);
/* A meeting of all cores of the launch, or of core_num of them, that is apart from those with another number. */
/** Waits until every engine of every core has finished, by the message number that is given.
 * msg_id: number of the message slot */
void tpu_sync_all_with_msg_id(int msg_id);
/** Waits until all cores of the launch have come to this call.
 * msg_id: number of the message slot
 * core_num: cores that meet */
int tpu_core_barrier(int msg_id, int core_num);
/* One core at a time holds a lock. */
/** Takes a lock that the cores share, waiting until it is free.
 * lock_id: number of the lock */
void tpu_acquire_lock(int lock_id);
/** Gives a lock back.
 * lock_id: number of the lock */
void tpu_release_lock(int lock_id);
/** Ends a launch of several cores. */
void tpu_sync_finish(void);
/** Gives a message number that this kernel has not used. */
int tpu_next_msg_id(void);
/** Sets the first number that tpu_next_msg_id gives.
 * base_msg_id: first number that tpu_next_msg_id gives */
void tpu_set_base_msg_id(int base_msg_id);
/** Tells a kernel thread which core it is.
 * core_idx: number of this core
 * core_num: cores of the launch
 * core_msg_id: first message number of the launch */
void tpu_core_context_setup(int core_idx, int core_num, int core_msg_id);
/** BDC sends a message when its earlier commands are finished. */
void tpu_bdc_send_msg(int msg_id, int wait_cnt);
/** BDC waits for messages before its next command. */
void tpu_bdc_wait_msg(int msg_id, int send_cnt);
/** GDMA sends a message when its earlier commands are finished. */
void tpu_gdma_send_msg(int msg_id, int wait_cnt);
/** GDMA waits for messages before its next command. */
void tpu_gdma_wait_msg(int msg_id, int send_cnt);
/** The HAU sends a message when its earlier commands are finished. */
void tpu_hau_send_msg(int msg_id, int wait_cnt);
/** The HAU waits for messages before its next command. */
void tpu_hau_wait_msg(int msg_id, int send_cnt);
/** SDMA sends a message when its earlier commands are finished.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_send_msg(int msg_id, int wait_cnt);
/** A port sends a message when its earlier commands are finished.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_send_msg(int msg_id, int wait_cnt, int port_id);
/** SDMA waits for messages before its next command.
 * BM1684X has no SDMA engine: the call is refused. */
void tpu_sdma_wait_msg(int msg_id, int send_cnt);
/** A port waits for messages before its next command.
 * BM1684X has no VSDMA engine: the call is refused. */
void tpu_vsdma_wait_msg(int msg_id, int send_cnt, int port_id);
/** A port sends a message.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_send_msg(int port, int msg_id, int wait_cnt);
/** A port waits for messages.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_wait_msg(int port, int msg_id, int send_cnt);
/** The sending half of a port sends a message.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_tx_send_msg(int port, int msg_id, int wait_cnt);
/** The sending half of a port waits for messages.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_tx_wait_msg(int port, int msg_id, int send_cnt);
/** The receiving half of a port sends a message.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_rx_send_msg(int port, int msg_id, int wait_cnt);
/** The receiving half of a port waits for messages.
 * BM1684X has no CDMA engine: the call is refused. */
void tpu_cdma_rx_wait_msg(int port, int msg_id, int send_cnt);
/** First message number that all cores share. */
int tpu_get_global_msg_id(void);
/** First message number of collective operations.
 * BM1684X has no links to other chips: the call is refused. */
int tpu_get_ccl_msg_id(void);
/** Message number that tpu_sync_core uses. */
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

/* void func(const void* args), and void func(void* args, int bytes), which is told the size of its arguments. */
#define TPUKERNEL_FUNC_REGISTER(func) SOFTTPU_REGISTER(func, softtpu_kernel_argument_t, softtpu_register_1)
#define TPUKERNEL_FUNC2_REGISTER(func) SOFTTPU_REGISTER(func, softtpu_kernel_argument_t, softtpu_register_2)

/* The newest headers give the function's form as a third argument. Calls with two and with three are taken, whichever
 * prototype is in force; the form needs no telling, since every kernel is called with both arguments. */
#ifdef SOFTTPU_NEWER_INTERFACE
typedef void* softtpu_kernel_argument_t;
#define softtpu_register_1(name, func) (tpu_register_kernel_func)(name, (void*)(func), FUNC_TYPE_1)
#define softtpu_register_2(name, func) (tpu_register_kernel_func)(name, (void*)(func), FUNC_TYPE_2)
#define softtpu_register_3(name, func, type) (tpu_register_kernel_func)(name, (void*)(func), type)
#else
typedef tpu_kernel_func_t softtpu_kernel_argument_t;
#define softtpu_register_1(name, func) (tpu_register_kernel_func)(name, func)
#define softtpu_register_2(name, func) (tpu_register_kernel_func)(name, func)
#define softtpu_register_3(name, func, type) (tpu_register_kernel_func)(name, (tpu_kernel_func_t)(func))
#endif
#define softtpu_third(first, second, third, name, ...) name
#define tpu_register_kernel_func(...) \
  softtpu_third(__VA_ARGS__, softtpu_register_3, softtpu_register_1, none)(__VA_ARGS__)

/* ---- The vendor's checks of memory ---- */

#define tpu_mem_check_ddr_nan(buffer, ...) _tpu_mem_check_ddr_nan(buffer, __VA_ARGS__)
#define tpu_mem_check_local_nan(buffer, ...) _tpu_mem_check_local_nan(buffer, __VA_ARGS__)

/* ---- Messages and assertions ---- */

#define TPUKERNEL_LOG(...) printf(__VA_ARGS__)
#define TPUKERNEL_ERR(...) (printf("[ERR] %s:%d: %s: ", __FILE__, __LINE__, __func__), printf(__VA_ARGS__))
/* Printed when the kernel is compiled with DEBUG; its format is checked always. */
#ifdef DEBUG
#define SOFTTPU_DEBUG_BUILD 1
#else
#define SOFTTPU_DEBUG_BUILD 0
#endif
#define TPUKERNEL_DBG(...)                         \
  do {                                             \
    if (SOFTTPU_DEBUG_BUILD) {                     \
      printf("[DBG] %s:%d: ", __FILE__, __LINE__); \
      printf(__VA_ARGS__);                         \
    }                                              \
  } while (0)

#define TPUKERNEL_ASSERT(assertion) SOFTTPU_ASSERT(assertion)
/* As TPUKERNEL_ASSERT, with a message in printf style. */
#define TPUKERNEL_ASSERT_INFO(assertion, ...)                               \
  do {                                                                      \
    if (!(assertion)) {                                                     \
      TPUKERNEL_ERR(__VA_ARGS__);                                           \
      printf("\n");                                                         \
      softtpu_kernel_assert_fail(#assertion, __FILE__, __LINE__, __func__); \
    }                                                                       \
  } while (0)

#endif
