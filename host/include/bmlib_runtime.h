/* libbmlib: how a host program uses a device. A call that fails returns a status and writes one line to the log. */
#ifndef BMLIB_RUNTIME_H_
#define BMLIB_RUNTIME_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifndef DECL_EXPORT
#define DECL_EXPORT __attribute__((visibility("default")))
#endif
#ifndef DECL_IMPORT
#define DECL_IMPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Status of a call ---- */

typedef enum {
  BM_SUCCESS = 0,
  BM_ERR_DEVNOTREADY = 1, /* no handle, or the device process has ended */
  BM_ERR_FAILURE = 2,
  BM_ERR_TIMEOUT = 3,
  BM_ERR_PARAM = 4,
  BM_ERR_NOMEM = 5,
  BM_ERR_DATA = 6,
  BM_ERR_BUSY = 7,
  BM_ERR_NOFEATURE = 8,
  BM_NOT_SUPPORTED = 9
} bm_status_t;

/* Returns from the calling function with the status of `call` if it failed. */
#define BM_CHECK_RET(call)                                                                    \
  do {                                                                                        \
    bm_status_t softtpu_status = (bm_status_t)(call);                                         \
    if (softtpu_status != BM_SUCCESS) {                                                       \
      fprintf(stderr, "%s:%d: %s: %s returned %d\n", __FILE__, __LINE__, __func__, #call, (int)softtpu_status); \
      return softtpu_status;                                                                  \
    }                                                                                         \
  } while (0)

/* ---- Memory descriptors ---- */

#define BM_MEM_ADDR_NULL (0xfffffffff)

#ifndef BM_MEM_DESC_T_
#define BM_MEM_DESC_T_

typedef enum {
  BM_MEM_TYPE_DEVICE = 0,
  BM_MEM_TYPE_HOST = 1,
  BM_MEM_TYPE_SYSTEM = 2,
  BM_MEM_TYPE_INT8_DEVICE = 3,
  BM_MEM_TYPE_INVALID = 4
} bm_mem_type_t;

typedef union {
  struct {
    __extension__ bm_mem_type_t mem_type : 3;
    unsigned int gmem_heapid : 3;
    unsigned int reserved : 26;
  } u;
  unsigned int rawflags;
} bm_mem_flags_t;

/* Device or host memory of up to 4 GiB. */
typedef struct bm_mem_desc {
  union {
    struct {
      unsigned long long device_addr;
      unsigned int reserved;
      int dmabuf_fd;
    } device;
    struct {
      void* system_addr;
      unsigned int reserved0;
      int reserved1;
    } system;
  } u;
  bm_mem_flags_t flags;
  unsigned int size;
} bm_mem_desc_t;

typedef struct bm_mem_desc bm_device_mem_t;
typedef struct bm_mem_desc bm_system_mem_t;

/* The same with a 64-bit size, under two names: the sg_ functions and the functions that end in _u64. */
typedef struct sg_mem_desc {
  union {
    struct {
      unsigned long long device_addr;
      unsigned int reserved;
      int dmabuf_fd;
    } device;
    struct {
      void* system_addr;
      unsigned int reserved0;
      int reserved1;
    } system;
  } u;
  bm_mem_flags_t flags;
  unsigned long long size;
} sg_mem_desc_t;

typedef struct sg_mem_desc sg_device_mem_t;
typedef struct sg_mem_desc sg_system_mem_t;

typedef struct bm_mem_desc_u64 {
  union {
    struct {
      unsigned long long device_addr;
      unsigned int reserved;
      int dmabuf_fd;
    } device;
    struct {
      void* system_addr;
      unsigned int reserved0;
      int reserved1;
    } system;
  } u;
  bm_mem_flags_t flags;
  unsigned long long size;
} bm_mem_desc_u64_t;

typedef struct bm_mem_desc_u64 bm_device_mem_u64_t;
typedef struct bm_mem_desc_u64 bm_system_mem_u64_t;

#endif

/* ---- Handles, modules, launches ---- */

typedef struct bm_context* bm_handle_t;

#define LIB_MAX_NAME_LEN 64
#define FUNC_MAX_NAME_LEN 64
#define MD5SUM_LEN 16

typedef struct bm_module {
  char lib_name[LIB_MAX_NAME_LEN];
  unsigned char md5[MD5SUM_LEN];
} bm_module;

typedef struct bm_module* tpu_kernel_module_t;
typedef int tpu_kernel_function_t;

typedef struct {
  int core_id;
  tpu_kernel_function_t func_id;
  void* param_data;
  unsigned int param_size;
} tpu_launch_param_t;

/* ---- What the information functions fill ---- */

#define BM1682_CHIPID_BIT_MASK (0x1 << 0)
#define BM1684_CHIPID_BIT_MASK (0x1 << 1)
#define BM1686_CHIPID_BIT_MASK (0x1 << 2)

typedef enum {
  MODULE_CDMA = 0,
  MODULE_GDMA = 1,
  MODULE_TPU = 2,
  MODULE_SMMU = 3,
  MODULE_SRAM = 4,
  MODULE_END = 5
} MODULE_ID;

typedef struct bm_profile {
  unsigned long cdma_in_time;
  unsigned long cdma_in_counter;
  unsigned long cdma_out_time;
  unsigned long cdma_out_counter;
  unsigned long tpu_process_time;
  unsigned long tpu1_process_time;
  unsigned long sent_api_counter;
  unsigned long completed_api_counter;
} bm_profile_t;

typedef struct bootloader_version {
  char* bl1_version;
  char* bl2_version;
  char* bl31_version;
  char* uboot_version;
} boot_loader_version;

struct bm_misc_info {
  int pcie_soc_mode; /* 0: PCIe, 1: SoC */
  int ddr_ecc_enable;
  long long ddr0a_size;
  long long ddr0b_size;
  long long ddr1_size;
  long long ddr2_size;
  unsigned int chipid;
  unsigned long chipid_bit_mask;
  unsigned int driver_version;
  int domain_bdf;
  int board_version;
  int a53_enable;
  int dyn_enable;
};

/* In MiB. */
struct bm_heap_stat {
  unsigned int mem_total;
  unsigned int mem_avail;
  unsigned int mem_used;
};

typedef struct bm_heap_stat_byte {
  unsigned int heap_id;
  unsigned long long mem_total;
  unsigned long long mem_avail;
  unsigned long long mem_used;
  unsigned long long mem_start_addr;
} bm_heap_stat_byte_t;

/* Memory in MiB, use in percent. */
typedef struct bm_dev_stat {
  int mem_total;
  int mem_used;
  int tpu_util;
  int heap_num;
  struct bm_heap_stat heap_stat[4];
} bm_dev_stat_t;

typedef enum { PERF_MONITOR_GDMA = 0, PERF_MONITOR_TPU = 1 } PERF_MONITOR_ID;

typedef struct bm_perf_monitor {
  long long buffer_start_addr;
  int buffer_size;
  PERF_MONITOR_ID monitor_id;
} bm_perf_monitor_t;

typedef enum { BMCPU_IDLE = 0, BMCPU_RUNNING = 1, BMCPU_FAULT = 2 } bm_cpu_status_t;

#define BMCPU_EXEC_OPT_NO_FLUSH_CACHE 1

/* ---- Log levels and callbacks ---- */

#define BMLIB_LOG_QUIET -8
#define BMLIB_LOG_PANIC 0
#define BMLIB_LOG_FATAL 8
#define BMLIB_LOG_ERROR 16
#define BMLIB_LOG_WARNING 24
#define BMLIB_LOG_INFO 32
#define BMLIB_LOG_VERBOSE 40
#define BMLIB_LOG_DEBUG 48
#define BMLIB_LOG_TRACE 56

typedef void (*bmlib_api_dbg_callback)(int, int, int, const char*);

/* ---- Names of older releases ---- */

#define BM_MEM_NULL (bm_mem_null())
#define bm_get_tpu_core_num bm_get_tpu_scalar_num
#define bmkernel_load_firmware okkernel_load_firmware

/* ---- Devices and handles ---- */

bm_status_t bm_dev_getcount(int* count);
bm_status_t bm_dev_query(int devid);
bm_status_t bm_dev_request(bm_handle_t* handle, int devid);
int bm_get_devid(bm_handle_t handle);
void bm_dev_free(bm_handle_t handle);

/* ---- Memory descriptors: reading and filling a descriptor touches no device ---- */

bm_mem_type_t bm_mem_get_type(struct bm_mem_desc mem);
bm_mem_type_t sg_mem_get_type(struct sg_mem_desc mem);
bm_mem_type_t bm_mem_get_type_u64(struct bm_mem_desc_u64 mem);
unsigned long long bm_mem_get_device_addr(struct bm_mem_desc mem);
unsigned long long sg_mem_get_device_addr(struct sg_mem_desc mem);
unsigned long long bm_mem_get_device_addr_u64(struct bm_mem_desc_u64 mem);
void bm_mem_set_device_addr(struct bm_mem_desc* pmem, unsigned long long addr);
void sg_mem_set_device_addr(struct sg_mem_desc* pmem, unsigned long long addr);
void bm_mem_set_device_addr_u64(struct bm_mem_desc_u64* pmem, unsigned long long addr);
unsigned int bm_mem_get_device_size(struct bm_mem_desc mem);
unsigned long long sg_mem_get_device_size(struct sg_mem_desc mem);
unsigned long long bm_mem_get_device_size_u64(struct bm_mem_desc_u64 mem);
void bm_mem_set_device_size(struct bm_mem_desc* pmem, unsigned int size);
void sg_mem_set_device_size(struct sg_mem_desc* pmem, unsigned long long size);
void bm_mem_set_device_size_u64(struct bm_mem_desc_u64* pmem, unsigned long long size);
void bm_set_device_mem(bm_device_mem_t* pmem, unsigned int size, unsigned long long addr);
void sg_set_device_mem(sg_device_mem_t* pmem, unsigned long long size, unsigned long long addr);
void bm_set_device_mem_u64(bm_device_mem_u64_t* pmem, unsigned long long size, unsigned long long addr);
bm_device_mem_t bm_mem_from_device(unsigned long long device_addr, unsigned int len);
sg_device_mem_t sg_mem_from_device(unsigned long long device_addr, unsigned long long len);
bm_device_mem_u64_t bm_mem_from_device_u64(unsigned long long device_addr, unsigned long long len);
void* bm_mem_get_system_addr(struct bm_mem_desc mem);
void* sg_mem_get_system_addr(struct sg_mem_desc mem);
void* bm_mem_get_system_addr_u64(struct bm_mem_desc_u64 mem);
void bm_mem_set_system_addr(struct bm_mem_desc* pmem, void* addr);
void sg_mem_set_system_addr(struct sg_mem_desc* pmem, void* addr);
void bm_mem_set_system_addr_u64(struct bm_mem_desc_u64* pmem, void* addr);
bm_system_mem_t bm_mem_from_system(void* system_addr);
bm_device_mem_t bm_mem_null(void);

/* ---- Device memory: sizes in bytes, in 4-byte words, or as n x c x h x w words ---- */

bm_status_t bm_malloc_neuron_device(bm_handle_t handle, bm_device_mem_t* pmem, int n, int c, int h, int w);
bm_status_t sg_malloc_neuron_device(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long n,
    unsigned long long c, unsigned long long h, unsigned long long w);
bm_status_t bm_malloc_neuron_device_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long n,
    unsigned long long c, unsigned long long h, unsigned long long w);
bm_status_t bm_malloc_device_dword(bm_handle_t handle, bm_device_mem_t* pmem, int count);
bm_status_t sg_malloc_device_dword(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long count);
bm_status_t bm_malloc_device_dword_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long count);
bm_status_t bm_malloc_device_byte(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int size);
bm_status_t bm_malloc_device_mem(bm_handle_t handle, unsigned long long* paddr, int heap_id, unsigned long long size);
bm_status_t bm_malloc_device_mem_mask(bm_handle_t handle, unsigned long long* paddr, int heap_id_mask,
    unsigned long long size);
bm_status_t sg_malloc_device_byte(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long size);
bm_status_t bm_malloc_device_byte_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long size);
bm_status_t bm_malloc_device_byte_heap(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id, unsigned int size);
bm_status_t sg_malloc_device_byte_heap(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id, unsigned long long size);
bm_status_t bm_malloc_device_byte_heap_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id,
    unsigned long long size);
bm_status_t bm_malloc_device_byte_heap_mask(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id_mask,
    unsigned int size);
bm_status_t sg_malloc_device_byte_heap_mask(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id_mask,
    unsigned long long size);
bm_status_t bm_malloc_device_byte_heap_mask_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id_mask,
    unsigned long long size);
void bm_free_device_mem(bm_handle_t ctx, unsigned long long paddr);
void bm_free_device(bm_handle_t handle, bm_device_mem_t mem);
void sg_free_device(bm_handle_t handle, sg_device_mem_t mem);
void bm_free_device_u64(bm_handle_t handle, bm_device_mem_u64_t mem);
unsigned long long bm_gmem_arm_reserved_request(bm_handle_t handle);
void bm_gmem_arm_reserved_release(bm_handle_t handle);

/* ---- Copies between host and device; offsets are bytes into the device memory ---- */

bm_status_t bm_memcpy_s2d(bm_handle_t handle, bm_device_mem_t dst, void* src);
bm_status_t bm_memcpy_s2d_gather(bm_handle_t handle, bm_device_mem_t dst, int argc, ...);
bm_status_t bm_memcpy_d2s_scatter(bm_handle_t handle, bm_device_mem_t src, int argc, ...);
bm_status_t sg_memcpy_s2d(bm_handle_t handle, sg_device_mem_t dst, void* src);
bm_status_t bm_memcpy_s2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src);
bm_status_t bm_memcpy_s2d_partial_offset(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size,
    unsigned int offset);
bm_status_t sg_memcpy_s2d_partial_offset(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size,
    unsigned long long offset);
bm_status_t bm_memcpy_s2d_partial_offset_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src,
    unsigned long long size, unsigned long long offset);
bm_status_t bm_memcpy_s2d_partial(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size);
bm_status_t sg_memcpy_s2d_partial(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size);
bm_status_t bm_memcpy_s2d_partial_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src, unsigned long long size);
bm_status_t bm_memcpy_d2s(bm_handle_t handle, void* dst, bm_device_mem_t src);
bm_status_t sg_memcpy_d2s(bm_handle_t handle, void* dst, sg_device_mem_t src);
bm_status_t bm_memcpy_d2s_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src);
bm_status_t bm_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size,
    unsigned int offset);
bm_status_t sg_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size,
    unsigned long long offset);
bm_status_t bm_memcpy_d2s_partial_offset_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src,
    unsigned long long size, unsigned long long offset);
bm_status_t bm_memcpy_d2s_partial(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size);
bm_status_t sg_memcpy_d2s_partial(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size);
bm_status_t bm_memcpy_d2s_partial_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src, unsigned long long size);

/* ---- Copies inside a device (offset and length of bm_memcpy_d2d are 4-byte words), copies between devices ---- */

bm_status_t bm_memcpy_p2p(bm_handle_t handle_src, bm_device_mem_t src, bm_handle_t handle_dst, bm_device_mem_t dst);
bm_status_t bm_memcpy_d2d(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src, int src_offset,
    int len);
bm_status_t bm_memcpy_d2d_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src,
    int src_offset, int len, int core_id);
bm_status_t bm_memcpy_d2d_byte(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset, bm_device_mem_t src,
    size_t src_offset, size_t size);
bm_status_t bm_memcpy_d2d_byte_with_core(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset,
    bm_device_mem_t src, size_t src_offset, size_t size, int core_id);
bm_status_t bm_memcpy_d2d_stride(bm_handle_t handle, bm_device_mem_t dst, int dst_stride, bm_device_mem_t src,
    int src_stride, int count, int format_size);
bm_status_t bm_memcpy_d2d_stride_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_stride,
    bm_device_mem_t src, int src_stride, int count, int format_size, int core_id);
bm_status_t bm_memcpy_d2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
    bm_device_mem_u64_t src, unsigned long long src_offset, unsigned long long len);
bm_status_t bm_memcpy_d2d_byte_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
    bm_device_mem_u64_t src, unsigned long long src_offset, unsigned long long size);
bm_status_t bm_memcpy_d2d_stride_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_stride,
    bm_device_mem_u64_t src, unsigned long long src_stride, unsigned long long count, int format_size);
bm_status_t bm_memcpy_c2c(bm_handle_t src_handle, bm_handle_t dst_handle, bm_device_mem_t src, bm_device_mem_t dst,
    bool force_dst_cdma);

/* ---- Filling device memory: with a word, or with a pattern of `mode` bytes ---- */

bm_status_t bm_memset_device(bm_handle_t handle, const int value, bm_device_mem_t mem);
bm_status_t bm_memset_device_ext(bm_handle_t handle, void* value, int mode, bm_device_mem_t mem);
bm_status_t bm_memset_device_ext_u64(bm_handle_t handle, void* value, int mode, bm_device_mem_u64_t mem);

/* ---- Moving host data that a descriptor names into device memory ---- */

bm_status_t bm_mem_convert_system_to_device_neuron(bm_handle_t handle, struct bm_mem_desc* dev_mem,
    struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h, int w);
bm_status_t bm_mem_convert_system_to_device_neuron_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
    struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h, int w);
bm_status_t bm_mem_convert_system_to_device_coeff(bm_handle_t handle, struct bm_mem_desc* dev_mem,
    struct bm_mem_desc sys_mem, bool need_copy, int coeff_count);
bm_status_t bm_mem_convert_system_to_device_coeff_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
    struct bm_mem_desc sys_mem, bool need_copy, int coeff_count);

/* ---- Device memory in the host's address space (SoC mode) ---- */

bm_status_t bm_mem_mmap_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned long long* vmem);
bm_status_t sg_mem_mmap_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long* vmem);
bm_status_t bm_mem_mmap_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem, unsigned long long* vmem);
bm_status_t bm_mem_mmap_device_mem_no_cache(bm_handle_t handle, bm_device_mem_t* dmem, unsigned long long* vmem);
bm_status_t sg_mem_mmap_device_mem_no_cache(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long* vmem);
bm_status_t bm_mem_mmap_device_mem_no_cache_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
    unsigned long long* vmem);
bm_status_t bm_mem_vir_to_phy(bm_handle_t handle, unsigned long long vmem, unsigned long long* device_mem);
bm_status_t bm_mem_invalidate_device_mem(bm_handle_t handle, bm_device_mem_t* dmem);
bm_status_t sg_mem_invalidate_device_mem(bm_handle_t handle, sg_device_mem_t* dmem);
bm_status_t bm_mem_invalidate_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem);
bm_status_t bm_mem_invalidate_partial_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned int offset,
    unsigned int len);
bm_status_t sg_mem_invalidate_partial_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long offset,
    unsigned long long len);
bm_status_t bm_mem_invalidate_partial_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
    unsigned long long offset, unsigned long long len);
bm_status_t bm_mem_flush_device_mem(bm_handle_t handle, bm_device_mem_t* dmem);
bm_status_t sg_mem_flush_device_mem(bm_handle_t handle, sg_device_mem_t* dmem);
bm_status_t bm_mem_flush_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem);
bm_status_t bm_mem_flush_partial_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned int offset,
    unsigned int len);
bm_status_t sg_mem_flush_partial_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long offset,
    unsigned long long len);
bm_status_t bm_mem_flush_partial_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
    unsigned long long offset, unsigned long long len);
bm_status_t bm_mem_unmap_device_mem(bm_handle_t handle, void* vmem, int size);
bm_status_t sg_mem_unmap_device_mem(bm_handle_t handle, void* vmem, unsigned long long size);
bm_status_t bm_mem_unmap_device_mem_u64(bm_handle_t handle, void* vmem, unsigned long long size);
void bm_flush(bm_handle_t handle);

/* ---- Waiting ---- */

bm_status_t bm_device_sync(bm_handle_t handle);
bm_status_t bm_handle_sync(bm_handle_t handle);
bm_status_t bm_handle_sync_from_core(bm_handle_t handle, int core_id);
bm_status_t bm_thread_sync(bm_handle_t handle);
bm_status_t bm_set_sync_timeout(bm_handle_t handle, int timeout);
bm_status_t bm_thread_sync_from_core(bm_handle_t handle, int core_id);

/* ---- Kernels: modules and their functions ---- */

tpu_kernel_module_t tpu_kernel_load_module_file(bm_handle_t handle, const char* module_file);
tpu_kernel_module_t tpu_kernel_load_module_file_to_core(bm_handle_t handle, const char* module_file, int core_id);
tpu_kernel_module_t tpu_kernel_load_module_file_key(bm_handle_t handle, const char* module_file, const char* key,
    int size);
bm_status_t tpu_kernel_unload_module(bm_handle_t handle, tpu_kernel_module_t p_module);
bm_status_t tpu_kernel_unload_module_from_core(bm_handle_t handle, tpu_kernel_module_t p_module, int core_id);
bm_status_t tpu_kernel_free_module(bm_handle_t handle, tpu_kernel_module_t p_module);
tpu_kernel_module_t tpu_kernel_load_module(bm_handle_t handle, const char* data, size_t length);
tpu_kernel_module_t tpu_kernel_load_module_to_core(bm_handle_t handle, const char* data, size_t length, int core_id);
tpu_kernel_function_t tpu_kernel_get_function(bm_handle_t handle, tpu_kernel_module_t module, const char* function);
tpu_kernel_function_t tpu_kernel_get_function_from_core(bm_handle_t handle, tpu_kernel_module_t module,
    const char* function, int core_id);
bm_status_t tpu_kernel_launch(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size);
bm_status_t tpu_kernel_launch_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size,
    int core_id);
bm_status_t tpu_kernel_launch_async(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size);
/* The same with a kernel's name, for sources that call tpu_kernel_launch_async in the older form (below). */
bm_status_t softtpu_kernel_launch_async_by_name(bm_handle_t handle, const char* func_name, const void* args,
    unsigned int size);
bm_status_t tpu_kernel_launch_async_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args,
    size_t size, int core_id);
bm_status_t tpu_kernel_sync(bm_handle_t handle);
bm_status_t tpu_kernel_launch_async_multicores(bm_handle_t handle, tpu_launch_param_t* param_list, int param_num);

/* ---- Kernels: launched by name ---- */

bm_status_t tpu_kernel_launch_async_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
    size_t api_size, const int* core_list, const int core_num);
bm_status_t tpu_kernel_launch_sync_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
    size_t api_size, const int* core_list, const int core_num);
bm_status_t okkernel_launch_async(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
bm_status_t okkernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
bm_status_t tpu_kernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
bm_status_t okkernel_sync(bm_handle_t handle);
bm_status_t bmkernel_launch(bm_handle_t handle, const void* args, unsigned int size);
bm_status_t bmkernel_load_lookup_table(bm_handle_t handle, const void* table, unsigned int size);

/* ---- Firmware ---- */

bm_status_t bm_load_firmware(bm_handle_t handle, const char* firmware_tcm, const char* firmware_ddr);
bm_status_t okkernel_load_firmware(bm_handle_t handle, const char* firmware_tcm, const char* firmware_ddr);

/* ---- Information about the device ---- */

bm_status_t bm_get_profile(bm_handle_t handle, bm_profile_t* profile);
bm_status_t bm_get_boot_loader_version(bm_handle_t handle, boot_loader_version* version);
bm_status_t bm_get_vpu_instant_usage(bm_handle_t handle, int* vpu_usage);
bm_status_t bm_get_jpu_core_usage(bm_handle_t handle, int* jpu_usage);
bm_status_t bm_get_vpp_instant_usage(bm_handle_t handle, int* vpp_usage);
bm_status_t bm_get_last_api_process_time_us(bm_handle_t handle, unsigned long* time_us);
bm_status_t bm_set_clk_tpu_freq(bm_handle_t handle, int freq);
bm_status_t bm_get_clk_tpu_freq(bm_handle_t handle, int* freq);
bm_status_t bm_get_misc_info(bm_handle_t handle, struct bm_misc_info* pmisc_info);
bm_status_t bm_get_chipid(bm_handle_t handle, unsigned int* p_chipid);
bm_status_t bm_get_stat(bm_handle_t handle, bm_dev_stat_t* stat);
bm_status_t bm_get_gmem_heap_id(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int* heapid);
bm_status_t sg_get_gmem_heap_id(bm_handle_t handle, sg_device_mem_t* pmem, unsigned int* heapid);
bm_status_t bm_get_gmem_heap_id_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned int* heapid);
bm_status_t bm_get_gmem_total_heap_num(bm_handle_t handle, unsigned int* heap_num);
bm_status_t bm_get_gmem_heap_stat_byte_by_id(bm_handle_t handle, bm_heap_stat_byte_t* pheap_byte, unsigned int heap_id);
bm_status_t bm_get_status(bm_handle_t handle, int* status);
bm_status_t bm_get_tpu_scalar_num(bm_handle_t handle, unsigned int* core_num);

/* ---- Sensors and identity of the board ---- */

bm_status_t bm_get_tpu_current(bm_handle_t handle, unsigned int* tpuc);
bm_status_t bm_get_board_max_power(bm_handle_t handle, unsigned int* maxp);
bm_status_t bm_get_board_power(bm_handle_t handle, unsigned int* boardp);
bm_status_t bm_get_fan_speed(bm_handle_t handle, unsigned int* fan);
bm_status_t bm_get_ecc_correct_num(bm_handle_t handle, unsigned long* ecc_correct_num);
bm_status_t bm_get_12v_atx(bm_handle_t handle, int* atx_12v);
bm_status_t bm_get_product_sn(char* product_sn);
bm_status_t bm_get_sn(bm_handle_t handle, char* sn);
bm_status_t bm_get_tpu_maxclk(bm_handle_t handle, unsigned int* tpu_maxclk);
bm_status_t bm_get_tpu_minclk(bm_handle_t handle, unsigned int* tpu_minclk);
bm_status_t bm_get_driver_version(bm_handle_t handle, int* driver_version);
bm_status_t bm_get_board_name(bm_handle_t handle, char* name);
bm_status_t bm_get_board_temp(bm_handle_t handle, unsigned int* board_temp);
bm_status_t bm_get_chip_temp(bm_handle_t handle, unsigned int* chip_temp);
bm_status_t bm_get_tpu_power(bm_handle_t handle, float* tpu_power);
bm_status_t bm_get_tpu_volt(bm_handle_t handle, unsigned int* tpu_volt);
bm_status_t bm_get_card_id(bm_handle_t handle, unsigned int* card_id);
bm_status_t bm_get_card_num(unsigned int* card_num);
bm_status_t bm_get_chip_num_from_card(unsigned int card_id, unsigned int* chip_num, unsigned int* dev_start_index);
bm_status_t bm_get_dynfreq_status(bm_handle_t handle, int* dynfreq_status);
bm_status_t bm_change_dynfreq_status(bm_handle_t handle, int new_status);

/* ---- Log ---- */

void show_md5(unsigned char* md5);
void bmlib_log(const char* tag, int level, const char* fmt, ...);
int bmlib_log_get_level(void);
void bmlib_log_set_level(int level);
void bmlib_log_set_callback(void (*callback)(const char*, int, const char*, va_list));
void bm_set_debug_mode(bm_handle_t handle, int mode);
void bmlib_set_api_dbg_callback(bmlib_api_dbg_callback callback);

/* ---- Performance monitors ---- */

bm_status_t bm_enable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* perf_monitor);
bm_status_t bm_disable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* perf_monitor);

/* ---- bmcpu: programs on the processor of the board ---- */

bm_cpu_status_t bmcpu_get_cpu_status(bm_handle_t handle);
bm_status_t bmcpu_start_cpu(bm_handle_t handle, char* boot_file, char* core_file);
int bmcpu_open_process(bm_handle_t handle, unsigned int flags, int timeout);
bm_status_t bmcpu_load_library(bm_handle_t handle, int process_handle, char* library_file, int timeout);
bm_status_t bmcpu_unload_library(bm_handle_t handle, int process_handle, char* library_file, int timeout);
int bmcpu_exec_function(bm_handle_t handle, int process_handle, char* function_name, void* function_param,
    unsigned int param_size, int timeout);
int bmcpu_exec_function_ext(bm_handle_t handle, int process_handle, char* function_name, void* function_param,
    unsigned int param_size, unsigned int opt, int timeout);
bm_status_t bmcpu_exec_function_async(bm_handle_t handle, int process_handle, char* function_name,
    void* function_param, unsigned int param_size, unsigned long long* api_handle);
bm_status_t bmcpu_exec_function_async_ext(bm_handle_t handle, int process_handle, char* function_name,
    void* function_param, unsigned int param_size, unsigned int opt, unsigned long long* api_handle);
int bmcpu_query_exec_function_result(bm_handle_t handle, unsigned long long api_handle, int timeout);
void* bmcpu_map_phys_addr(bm_handle_t handle, int process_handle, void* phys_addr, unsigned int size, int timeout);
bm_status_t bmcpu_unmap_phys_addr(bm_handle_t handle, int process_handle, void* phys_addr, int timeout);
bm_status_t bmcpu_close_process(bm_handle_t handle, int process_handle, int timeout);
bm_status_t bmcpu_reset_cpu(bm_handle_t handle);
bm_status_t bmcpu_set_log(bm_handle_t handle, unsigned int log_level, unsigned int log_to_console, int timeout);
bm_status_t bmcpu_get_log(bm_handle_t handle, int process_handle, char* log_file, int timeout);
bm_status_t bmcpu_sync_time(bm_handle_t handle);

#pragma GCC visibility pop
#ifdef __cplusplus
}  /* extern "C" */
#endif

/* tpu_kernel_launch_async takes a function id; the manuals up to 23.x let it take a kernel's name. Both kinds of source compile: C
 * chooses by the type of the second argument, C++ by overload. */
#ifdef __cplusplus
inline bm_status_t tpu_kernel_launch_async(bm_handle_t handle, const char* func_name, const void* args,
    unsigned int size) {
  return softtpu_kernel_launch_async_by_name(handle, func_name, args, size);
}
#else
#define tpu_kernel_launch_async(handle, function, args, size)             \
  __extension__(_Generic((function),                                      \
      char*: softtpu_kernel_launch_async_by_name,                         \
      const char*: softtpu_kernel_launch_async_by_name,                   \
      default: tpu_kernel_launch_async)((handle), (function), (args), (size)))
#endif

#endif
