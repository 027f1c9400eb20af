/* Functions of libbmlib that are not in bmlib_runtime.h but that tools use: the trace of a thread's calls, sizes of
 * descriptors, and what belongs to a real card, which is refused by name. */
#ifndef BM_INTERNAL_H_
#define BM_INTERNAL_H_

#include "bmlib_runtime.h"
#include "bmlib_type.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Device memory, as tools such as bm-smi ask for it ---- */

/** Bytes of device memory that programs share.
 * total: receives the bytes */
bm_status_t bm_total_gmem(bm_handle_t handle, unsigned long long* total);
/** Bytes of device memory that are free.
 * avail: receives the bytes */
bm_status_t bm_avail_gmem(bm_handle_t handle, unsigned long long* avail);
/** Finds the heaps of device memory; softtpu has one. */
bm_status_t bm_get_carveout_heap_id(bm_handle_t handle);

/* ---- Trace: the copies and launches that a thread makes on a handle, oldest first ---- */

/* Times in microseconds since the machine was started. An asynchronous launch ends when it is queued. */
struct bm_trace_item_data {
  int trace_type; /* 0: a copy, 1: a launch */
  unsigned long sent_time;
  unsigned long start_time;
  unsigned long end_time;
  int api_id;   /* the function's number; 0 for a launch by name */
  int cdma_dir; /* 0: to the device, 1: to the host, 2: inside the device or to another */
};

/* The calling thread's trace. What has been recorded stays until it is fetched; the oldest of more than 1024 items is
 * given up. */
/** Begins to record this thread's copies and launches. */
bm_status_t bm_trace_enable(bm_handle_t handle);
/** Ends the recording; what was recorded stays. */
bm_status_t bm_trace_disable(bm_handle_t handle);
/** Number of recorded items.
 * number: receives the number of items */
bm_status_t bm_traceitem_number(bm_handle_t handle, long long* number);
/* Takes the oldest item, or all of them (bm_traceitem_number says how many). BM_ERR_FAILURE when there is none. */
/** Takes the oldest item.
 * trace_data: receives the item, or all items */
bm_status_t bm_trace_dump(bm_handle_t handle, struct bm_trace_item_data* trace_data);
/** Takes all items.
 * trace_data: receives the item, or all items */
bm_status_t bm_trace_dump_all(bm_handle_t handle, struct bm_trace_item_data* trace_data);

/* ---- Sizes of descriptors in bytes ---- */

/** Size of a descriptor, as bm_mem_get_device_size.
 * mem: the descriptor */
u32 bm_mem_get_size(struct bm_mem_desc mem);
/** Size of an sg descriptor, as sg_mem_get_device_size.
 * mem: the descriptor */
u64 sg_mem_get_size(struct sg_mem_desc mem);
/** Size of a 64-bit descriptor.
 * mem: the descriptor */
u64 bm_mem_get_size_u64(struct bm_mem_desc_u64 mem);

/* ---- The IOMMU of a real host: copies need none here, and nothing changes ---- */

/** Switches the host's IOMMU on; nothing changes here. */
void bm_enable_iommu(bm_handle_t handle);
/** Switches the host's IOMMU off; nothing changes here. */
void bm_disable_iommu(bm_handle_t handle);

/* ---- Registers of the chip and memory of the host by address: only a real card has them ---- */

struct bm_reg {
  int reg_addr;
  int reg_value;
};

enum bm_rw_op { BM_READ, BM_WRITE, BM_MALLOC, BM_FREE };

struct bm_rw {
  enum bm_rw_op op;
  u32 value;
  u64 paddr;
};

/** Reads a register of the chip.
 * p_reg: address and value of the register */
bm_status_t bm_get_reg(bm_handle_t handle, struct bm_reg* p_reg);
/** Writes a register of the chip.
 * p_reg: address and value of the register */
bm_status_t bm_set_reg(bm_handle_t handle, struct bm_reg* p_reg);
/** Reads or writes memory of the host by its physical address.
 * p_rw: what is read or written */
bm_status_t bm_rw_host(bm_handle_t handle, struct bm_rw* p_rw);
/** Reads or writes memory by its physical address.
 * p_rw: what is read or written */
bm_status_t bm_rw_mix(bm_handle_t handle, struct bm_rw* p_rw);

/* ---- The recorder behind the SDK's profile of a network: `softtpu run --trace` and `--time` show more ---- */

typedef enum { ALLOC = 0, FREE = 1, INVALIDATE = 2, FLUSH = 3 } bm_mem_op_type_t;

/** Tells the profile of a launch.
 * api_id: number of the call
 * param: parameters of the call */
void bm_profile_record_send_api(bm_handle_t handle, u32 api_id, const void* param, int core_id);
/** Tells the profile that waiting begins. */
void bm_profile_record_sync_begin(bm_handle_t handle, int core_id);
/** Tells the profile that waiting ends. */
void bm_profile_record_sync_end(bm_handle_t handle, int core_id);
/** Tells the profile that a copy begins. */
void bm_profile_record_memcpy_begin(bm_handle_t handle);
/** Tells the profile that a copy ends.
 * src_addr: address of the source
 * dst_addr: address of the destination
 * size: bytes
 * dir: direction of the copy */
void bm_profile_record_memcpy_end(bm_handle_t handle, u64 src_addr, u64 dst_addr, u32 size, u32 dir);
/** Tells the profile that an allocation begins. */
void bm_profile_record_mem_begin(bm_handle_t handle);
/** Tells the profile that an allocation ends.
 * type: what is done with the memory
 * device_addr: device address
 * size: bytes */
void bm_profile_record_mem_end(bm_handle_t handle, bm_mem_op_type_t type, u64 device_addr, u32 size);

/* ---- Messages to the chip's firmware: none are sent, kernels and networks are launched by their own functions ---- */

/** Sends a message to the chip's firmware; refused.
 * api_id: number of the message
 * api: bytes of the message
 * size: bytes */
bm_status_t bm_send_api(bm_handle_t handle, int api_id, const u8* api, u32 size);
/** The same with a number for the message; refused.
 * api_id: number of the message
 * api: bytes of the message
 * size: bytes
 * api_handle: receives a number of the message */
bm_status_t bm_send_api_ext(bm_handle_t handle, int api_id, const u8* api, u32 size, u64* api_handle);
/** The same for one core; refused.
 * api_id: number of the message
 * api: bytes of the message
 * size: bytes
 * core_id: number of the core, from 0 */
bm_status_t bm_send_api_to_core(bm_handle_t handle, int api_id, const u8* api, u32 size, int core_id);
/** Waits for this thread's launches, as bm_thread_sync. */
bm_status_t bm_sync_api(bm_handle_t handle);
/** The same for one core.
 * core_id: number of the core, from 0 */
bm_status_t bm_sync_api_from_core(bm_handle_t handle, int core_id);

/* ---- Kernels: on several cores, for networks of BM1684X2 ---- */

/** Runs a kernel on the first cores and waits; groups and blocks as tpuRtKernelLaunch has them.
 * function: the kernel's number, from tpu_kernel_get_function
 * args: parameter block
 * size: bytes of the parameter block
 * group_num: how many groups, one after the other
 * block_num: cores of a group */
bm_status_t tpu_kernel_launch_from_multi_cores(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                               size_t size, int group_num, int block_num);

/* ---- The driver, the device's clock and memory ---- */

/** Version of the driver: softtpu's own, one byte each. */
u64 bm_get_version(bm_handle_t handle);
/** Time of the device's clock, which is the host's.
 * time_us: receives microseconds */
bm_status_t bm_get_device_time_us(bm_handle_t handle, unsigned long* time_us);

/* ---- Copies that poll for their end on a board: the ordinary ones ---- */

/** Copies to the device, as bm_memcpy_s2d.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_s2d_poll(bm_handle_t handle, bm_device_mem_t dst, void* src);
/** Copies to the device, as sg_memcpy_s2d.
 * dst: destination
 * src: source */
bm_status_t sg_memcpy_s2d_poll(bm_handle_t handle, sg_device_mem_t dst, void* src);
/** Copies to the device, as bm_memcpy_s2d_u64.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_s2d_poll_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src);
/** Copies to the host, as bm_memcpy_d2s_partial.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_d2s_poll(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size);
/** Copies to the host, as sg_memcpy_d2s_partial.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t sg_memcpy_d2s_poll(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size);
/** Copies to the host, as bm_memcpy_d2s_partial_u64.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_d2s_poll_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src, unsigned long long size);

/* ---- Units of a board ---- */

/** Resets a unit of the chip.
 * module: the unit */
bm_status_t bm_set_module_reset(bm_handle_t handle, MODULE_ID module);
/** Sets the divider of the chip's clock.
 * divider: divider of the clock */
bm_status_t bm_set_clk_tpu_divider(bm_handle_t handle, int divider);
/** Whether the chip holds a key.
 * is_valid: receives whether there is one */
bm_status_t bm_is_seckey_valid(bm_handle_t handle, int* is_valid);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
