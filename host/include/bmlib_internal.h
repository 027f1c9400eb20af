/* Functions of libbmlib that are not in bmlib_runtime.h but that tools use: the trace of a thread's calls, sizes of descriptors, and
 * what belongs to a real card, which is refused by name. */
#ifndef BM_INTERNAL_H_
#define BM_INTERNAL_H_

#include "bmlib_runtime.h"
#include "bmlib_type.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

/* The calling thread's trace. What has been recorded stays until it is fetched; the oldest of more than 1024 items is given up. */
bm_status_t bm_trace_enable(bm_handle_t handle);
bm_status_t bm_trace_disable(bm_handle_t handle);
bm_status_t bm_traceitem_number(bm_handle_t handle, long long* number);
/* Takes the oldest item, or all of them (bm_traceitem_number says how many). BM_ERR_FAILURE when there is none. */
bm_status_t bm_trace_dump(bm_handle_t handle, struct bm_trace_item_data* trace_data);
bm_status_t bm_trace_dump_all(bm_handle_t handle, struct bm_trace_item_data* trace_data);

/* ---- Sizes of descriptors in bytes ---- */

u32 bm_mem_get_size(struct bm_mem_desc mem);
u64 sg_mem_get_size(struct sg_mem_desc mem);
u64 bm_mem_get_size_u64(struct bm_mem_desc_u64 mem);

/* ---- The IOMMU of a real host: copies need none here, and nothing changes ---- */

void bm_enable_iommu(bm_handle_t handle);
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

bm_status_t bm_get_reg(bm_handle_t handle, struct bm_reg* p_reg);
bm_status_t bm_set_reg(bm_handle_t handle, struct bm_reg* p_reg);
bm_status_t bm_rw_host(bm_handle_t handle, struct bm_rw* p_rw);
bm_status_t bm_rw_mix(bm_handle_t handle, struct bm_rw* p_rw);

/* ---- The recorder behind the SDK's profile of a network: `softtpu run --trace` and `--time` show more ---- */

typedef enum { ALLOC = 0, FREE = 1, INVALIDATE = 2, FLUSH = 3 } bm_mem_op_type_t;

void bm_profile_record_send_api(bm_handle_t handle, u32 api_id, const void* param, int core_id);
void bm_profile_record_sync_begin(bm_handle_t handle, int core_id);
void bm_profile_record_sync_end(bm_handle_t handle, int core_id);
void bm_profile_record_memcpy_begin(bm_handle_t handle);
void bm_profile_record_memcpy_end(bm_handle_t handle, u64 src_addr, u64 dst_addr, u32 size, u32 dir);
void bm_profile_record_mem_begin(bm_handle_t handle);
void bm_profile_record_mem_end(bm_handle_t handle, bm_mem_op_type_t type, u64 device_addr, u32 size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
