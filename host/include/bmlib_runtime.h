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
#define BM_CHECK_RET(call)                                                                                      \
  do {                                                                                                          \
    bm_status_t softtpu_status = (bm_status_t)(call);                                                           \
    if (softtpu_status != BM_SUCCESS) {                                                                         \
      fprintf(stderr, "%s:%d: %s: %s returned %d\n", __FILE__, __LINE__, __func__, #call, (int)softtpu_status); \
      return softtpu_status;                                                                                    \
    }                                                                                                           \
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

/** Number of devices.
 * count: receives how many devices there are */
bm_status_t bm_dev_getcount(int* count);
/** Whether a device of this number exists.
 * devid: number of the device, from 0 */
bm_status_t bm_dev_query(int devid);
/** Opens a device; the first call of a program starts an emulated one.
 * handle: receives the handle
 * devid: number of the device, from 0 */
bm_status_t bm_dev_request(bm_handle_t* handle, int devid);
/** Number of the device that a handle belongs to. */
int bm_get_devid(bm_handle_t handle);
/** Gives a handle back. */
void bm_dev_free(bm_handle_t handle);

/* ---- Memory descriptors: reading and filling a descriptor touches no device ---- */

/** Kind of memory: device, host or system.
 * mem: the descriptor */
bm_mem_type_t bm_mem_get_type(struct bm_mem_desc mem);
/** Kind of memory of an sg descriptor.
 * mem: the descriptor */
bm_mem_type_t sg_mem_get_type(struct sg_mem_desc mem);
/** Kind of memory of a 64-bit descriptor.
 * mem: the descriptor */
bm_mem_type_t bm_mem_get_type_u64(struct bm_mem_desc_u64 mem);
/** Device address of a descriptor, to pass to a kernel.
 * mem: the descriptor */
unsigned long long bm_mem_get_device_addr(struct bm_mem_desc mem);
/** Device address of an sg descriptor.
 * mem: the descriptor */
unsigned long long sg_mem_get_device_addr(struct sg_mem_desc mem);
/** Device address of a 64-bit descriptor.
 * mem: the descriptor */
unsigned long long bm_mem_get_device_addr_u64(struct bm_mem_desc_u64 mem);
/** Writes a device address into a descriptor.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void bm_mem_set_device_addr(struct bm_mem_desc* pmem, unsigned long long addr);
/** Writes a device address into an sg descriptor.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void sg_mem_set_device_addr(struct sg_mem_desc* pmem, unsigned long long addr);
/** Writes a device address into a 64-bit descriptor.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void bm_mem_set_device_addr_u64(struct bm_mem_desc_u64* pmem, unsigned long long addr);
/** Size of a descriptor.
 * mem: the descriptor */
unsigned int bm_mem_get_device_size(struct bm_mem_desc mem);
/** Size of an sg descriptor.
 * mem: the descriptor */
unsigned long long sg_mem_get_device_size(struct sg_mem_desc mem);
/** Size of a 64-bit descriptor.
 * mem: the descriptor */
unsigned long long bm_mem_get_device_size_u64(struct bm_mem_desc_u64 mem);
/** Writes a size into a descriptor.
 * pmem: the descriptor to fill
 * size: bytes */
void bm_mem_set_device_size(struct bm_mem_desc* pmem, unsigned int size);
/** Writes a size into an sg descriptor.
 * pmem: the descriptor to fill
 * size: bytes */
void sg_mem_set_device_size(struct sg_mem_desc* pmem, unsigned long long size);
/** Writes a size into a 64-bit descriptor.
 * pmem: the descriptor to fill
 * size: bytes */
void bm_mem_set_device_size_u64(struct bm_mem_desc_u64* pmem, unsigned long long size);
/** Fills a descriptor of device memory.
 * pmem: the descriptor to fill
 * size: bytes
 * addr: device address, or pointer for a system address */
void bm_set_device_mem(bm_device_mem_t* pmem, unsigned int size, unsigned long long addr);
/** Fills an sg descriptor of device memory.
 * pmem: the descriptor to fill
 * size: bytes
 * addr: device address, or pointer for a system address */
void sg_set_device_mem(sg_device_mem_t* pmem, unsigned long long size, unsigned long long addr);
/** Fills a 64-bit descriptor of device memory.
 * pmem: the descriptor to fill
 * size: bytes
 * addr: device address, or pointer for a system address */
void bm_set_device_mem_u64(bm_device_mem_u64_t* pmem, unsigned long long size, unsigned long long addr);
/** Makes a descriptor from a device address and a size.
 * device_addr: device address
 * len: bytes */
bm_device_mem_t bm_mem_from_device(unsigned long long device_addr, unsigned int len);
/** Makes an sg descriptor from a device address and a size.
 * device_addr: device address
 * len: bytes */
sg_device_mem_t sg_mem_from_device(unsigned long long device_addr, unsigned long long len);
/** Makes a 64-bit descriptor from a device address and a size.
 * device_addr: device address
 * len: bytes */
bm_device_mem_u64_t bm_mem_from_device_u64(unsigned long long device_addr, unsigned long long len);
/** Pointer of a descriptor of host memory.
 * mem: the descriptor */
void* bm_mem_get_system_addr(struct bm_mem_desc mem);
/** Pointer of an sg descriptor of host memory.
 * mem: the descriptor */
void* sg_mem_get_system_addr(struct sg_mem_desc mem);
/** Pointer of a 64-bit descriptor of host memory.
 * mem: the descriptor */
void* bm_mem_get_system_addr_u64(struct bm_mem_desc_u64 mem);
/** Writes a pointer into a descriptor of host memory.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void bm_mem_set_system_addr(struct bm_mem_desc* pmem, void* addr);
/** Writes a pointer into an sg descriptor of host memory.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void sg_mem_set_system_addr(struct sg_mem_desc* pmem, void* addr);
/** Writes a pointer into a 64-bit descriptor of host memory.
 * pmem: the descriptor to fill
 * addr: device address, or pointer for a system address */
void bm_mem_set_system_addr_u64(struct bm_mem_desc_u64* pmem, void* addr);
/** Makes a descriptor from a pointer of the host.
 * system_addr: pointer of the host */
bm_system_mem_t bm_mem_from_system(void* system_addr);
/** A descriptor that names no memory. */
bm_device_mem_t bm_mem_null(void);

/* ---- Device memory: sizes in bytes, in 4-byte words, or as n x c x h x w words ---- */

/** Allocates n * c * h * w words of 4 bytes.
 * pmem: receives the descriptor
 * n: extent n
 * c: extent c
 * h: extent h
 * w: extent w */
bm_status_t bm_malloc_neuron_device(bm_handle_t handle, bm_device_mem_t* pmem, int n, int c, int h, int w);
/** Allocates n * c * h * w words of 4 bytes, sg descriptor.
 * pmem: receives the descriptor
 * n: extent n
 * c: extent c
 * h: extent h
 * w: extent w */
bm_status_t sg_malloc_neuron_device(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long n,
                                    unsigned long long c, unsigned long long h, unsigned long long w);
/** Allocates n * c * h * w words of 4 bytes, 64-bit descriptor.
 * pmem: receives the descriptor
 * n: extent n
 * c: extent c
 * h: extent h
 * w: extent w */
bm_status_t bm_malloc_neuron_device_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long n,
                                        unsigned long long c, unsigned long long h, unsigned long long w);
/** Allocates count words of 4 bytes.
 * pmem: receives the descriptor
 * count: number of 4-byte words */
bm_status_t bm_malloc_device_dword(bm_handle_t handle, bm_device_mem_t* pmem, int count);
/** Allocates count words of 4 bytes, sg descriptor.
 * pmem: receives the descriptor
 * count: number of 4-byte words */
bm_status_t sg_malloc_device_dword(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long count);
/** Allocates count words of 4 bytes, 64-bit descriptor.
 * pmem: receives the descriptor
 * count: number of 4-byte words */
bm_status_t bm_malloc_device_dword_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long count);
/** Allocates device memory of size bytes.
 * pmem: receives the descriptor
 * size: bytes */
bm_status_t bm_malloc_device_byte(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int size);
/** Allocates device memory and gives only its address.
 * paddr: receives the device address
 * heap_id: number of the heap, 0..3
 * size: bytes */
bm_status_t bm_malloc_device_mem(bm_handle_t handle, unsigned long long* paddr, int heap_id, unsigned long long size);
/** Allocates device memory on one of several heaps and gives only its address.
 * paddr: receives the device address
 * heap_id_mask: bit i allows heap i; not 0
 * size: bytes */
bm_status_t bm_malloc_device_mem_mask(bm_handle_t handle, unsigned long long* paddr, int heap_id_mask,
                                      unsigned long long size);
/** Allocates device memory, sg descriptor.
 * pmem: receives the descriptor
 * size: bytes */
bm_status_t sg_malloc_device_byte(bm_handle_t handle, sg_device_mem_t* pmem, unsigned long long size);
/** Allocates device memory, 64-bit descriptor.
 * pmem: receives the descriptor
 * size: bytes */
bm_status_t bm_malloc_device_byte_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned long long size);
/** Allocates device memory on a heap.
 * pmem: receives the descriptor
 * heap_id: number of the heap, 0..3
 * size: bytes */
bm_status_t bm_malloc_device_byte_heap(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id, unsigned int size);
/** Allocates device memory on a heap, sg descriptor.
 * pmem: receives the descriptor
 * heap_id: number of the heap, 0..3
 * size: bytes */
bm_status_t sg_malloc_device_byte_heap(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id, unsigned long long size);
/** Allocates device memory on a heap, 64-bit descriptor.
 * pmem: receives the descriptor
 * heap_id: number of the heap, 0..3
 * size: bytes */
bm_status_t bm_malloc_device_byte_heap_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id,
                                           unsigned long long size);
/** Allocates device memory on one of several heaps.
 * pmem: receives the descriptor
 * heap_id_mask: bit i allows heap i; not 0
 * size: bytes */
bm_status_t bm_malloc_device_byte_heap_mask(bm_handle_t handle, bm_device_mem_t* pmem, int heap_id_mask,
                                            unsigned int size);
/** Allocates device memory on one of several heaps, sg descriptor.
 * pmem: receives the descriptor
 * heap_id_mask: bit i allows heap i; not 0
 * size: bytes */
bm_status_t sg_malloc_device_byte_heap_mask(bm_handle_t handle, sg_device_mem_t* pmem, int heap_id_mask,
                                            unsigned long long size);
/** Allocates device memory on one of several heaps, 64-bit descriptor.
 * pmem: receives the descriptor
 * heap_id_mask: bit i allows heap i; not 0
 * size: bytes */
bm_status_t bm_malloc_device_byte_heap_mask_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, int heap_id_mask,
                                                unsigned long long size);
/** Gives device memory back by its address.
 * ctx: the device, from bm_dev_request
 * paddr: what bm_malloc_device_mem gave */
void bm_free_device_mem(bm_handle_t ctx, unsigned long long paddr);
/** Gives device memory back.
 * mem: what an allocation filled */
void bm_free_device(bm_handle_t handle, bm_device_mem_t mem);
/** Gives device memory of an sg descriptor back.
 * mem: what an allocation filled */
void sg_free_device(bm_handle_t handle, sg_device_mem_t mem);
/** Gives device memory of a 64-bit descriptor back.
 * mem: what an allocation filled */
void bm_free_device_u64(bm_handle_t handle, bm_device_mem_u64_t mem);
/** Address of the device memory that is reserved for the chip's processor. */
unsigned long long bm_gmem_arm_reserved_request(bm_handle_t handle);
/** Ends the use of that memory. */
void bm_gmem_arm_reserved_release(bm_handle_t handle);

/* ---- Copies between host and device; offsets are bytes into the device memory ---- */

/** Copies the whole descriptor from the host to the device.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_s2d(bm_handle_t handle, bm_device_mem_t dst, void* src);
/** Copies several pieces of host memory one after the other into device memory.
 * dst: destination
 * argc: number of arguments that follow: pairs of pointer and size */
bm_status_t bm_memcpy_s2d_gather(bm_handle_t handle, bm_device_mem_t dst, int argc, ...);
/** Copies device memory to several pieces of host memory one after the other.
 * src: source
 * argc: number of arguments that follow: pairs of pointer and size */
bm_status_t bm_memcpy_d2s_scatter(bm_handle_t handle, bm_device_mem_t src, int argc, ...);
/** Copies the whole sg descriptor from the host to the device.
 * dst: destination
 * src: source */
bm_status_t sg_memcpy_s2d(bm_handle_t handle, sg_device_mem_t dst, void* src);
/** Copies the whole 64-bit descriptor from the host to the device.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_s2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src);
/** Copies size bytes from the host to an offset in device memory.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t bm_memcpy_s2d_partial_offset(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size,
                                         unsigned int offset);
/** Copies size bytes from the host to an offset in device memory, sg descriptor.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t sg_memcpy_s2d_partial_offset(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size,
                                         unsigned long long offset);
/** Copies size bytes from the host to an offset in device memory, 64-bit descriptor.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t bm_memcpy_s2d_partial_offset_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src,
                                             unsigned long long size, unsigned long long offset);
/** Copies the first size bytes from the host to the device.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_s2d_partial(bm_handle_t handle, bm_device_mem_t dst, void* src, unsigned int size);
/** Copies the first size bytes from the host to the device, sg descriptor.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t sg_memcpy_s2d_partial(bm_handle_t handle, sg_device_mem_t dst, void* src, unsigned long long size);
/** Copies the first size bytes from the host to the device, 64-bit descriptor.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_s2d_partial_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src, unsigned long long size);
/** Copies the whole descriptor from the device to the host.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_d2s(bm_handle_t handle, void* dst, bm_device_mem_t src);
/** Copies the whole sg descriptor from the device to the host.
 * dst: destination
 * src: source */
bm_status_t sg_memcpy_d2s(bm_handle_t handle, void* dst, sg_device_mem_t src);
/** Copies the whole 64-bit descriptor from the device to the host.
 * dst: destination
 * src: source */
bm_status_t bm_memcpy_d2s_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src);
/** Copies size bytes from an offset in device memory to the host.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t bm_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size,
                                         unsigned int offset);
/** Copies size bytes from an offset in device memory to the host, sg descriptor.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t sg_memcpy_d2s_partial_offset(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size,
                                         unsigned long long offset);
/** Copies size bytes from an offset in device memory to the host, 64-bit descriptor.
 * dst: destination
 * src: source
 * size: bytes
 * offset: bytes into the device memory */
bm_status_t bm_memcpy_d2s_partial_offset_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src,
                                             unsigned long long size, unsigned long long offset);
/** Copies the first size bytes from the device to the host.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_d2s_partial(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size);
/** Copies the first size bytes from the device to the host, sg descriptor.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t sg_memcpy_d2s_partial(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size);
/** Copies the first size bytes from the device to the host, 64-bit descriptor.
 * dst: destination
 * src: source
 * size: bytes */
bm_status_t bm_memcpy_d2s_partial_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src, unsigned long long size);

/* ---- Copies inside a device (offset and length of bm_memcpy_d2d are 4-byte words), copies between devices ---- */

/** Copies memory of one device to another device.
 * handle_src: device of the source
 * src: source
 * handle_dst: device of the destination
 * dst: destination */
bm_status_t bm_memcpy_p2p(bm_handle_t handle_src, bm_device_mem_t src, bm_handle_t handle_dst, bm_device_mem_t dst);
/** Copies words inside device memory.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * len: length in words */
bm_status_t bm_memcpy_d2d(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src, int src_offset,
                          int len);
/** Copies words inside device memory on a given core.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * len: length in words */
bm_status_t bm_memcpy_d2d_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_offset, bm_device_mem_t src,
                                    int src_offset, int len, int core_id);
/** Copies bytes inside device memory.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * size: length in bytes */
bm_status_t bm_memcpy_d2d_byte(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset, bm_device_mem_t src,
                               size_t src_offset, size_t size);
/** Copies bytes inside device memory on a given core.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * size: length in bytes */
bm_status_t bm_memcpy_d2d_byte_with_core(bm_handle_t handle, bm_device_mem_t dst, size_t dst_offset,
                                         bm_device_mem_t src, size_t src_offset, size_t size, int core_id);
/** Copies elements with strides inside device memory.
 * dst: destination
 * dst_stride: elements from one to the next in the destination
 * src: source
 * src_stride: elements from one to the next in the source
 * count: number of elements
 * format_size: bytes of an element: 1, 2 or 4 */
bm_status_t bm_memcpy_d2d_stride(bm_handle_t handle, bm_device_mem_t dst, int dst_stride, bm_device_mem_t src,
                                 int src_stride, int count, int format_size);
/** Copies elements with strides inside device memory on a given core.
 * dst: destination
 * dst_stride: elements from one to the next in the destination
 * src: source
 * src_stride: elements from one to the next in the source
 * count: number of elements
 * format_size: bytes of an element: 1, 2 or 4 */
bm_status_t bm_memcpy_d2d_stride_with_core(bm_handle_t handle, bm_device_mem_t dst, int dst_stride, bm_device_mem_t src,
                                           int src_stride, int count, int format_size, int core_id);
/** Copies words inside device memory, 64-bit descriptors.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * len: length in words */
bm_status_t bm_memcpy_d2d_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
                              bm_device_mem_u64_t src, unsigned long long src_offset, unsigned long long len);
/** Copies bytes inside device memory, 64-bit descriptors.
 * dst: destination
 * dst_offset: offset into the destination, in words (d2d) or bytes (d2d_byte)
 * src: source
 * src_offset: offset into the source, in words (d2d) or bytes (d2d_byte)
 * size: length in bytes */
bm_status_t bm_memcpy_d2d_byte_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_offset,
                                   bm_device_mem_u64_t src, unsigned long long src_offset, unsigned long long size);
/** Copies elements with strides inside device memory, 64-bit descriptors.
 * dst: destination
 * dst_stride: elements from one to the next in the destination
 * src: source
 * src_stride: elements from one to the next in the source
 * count: number of elements
 * format_size: bytes of an element: 1, 2 or 4 */
bm_status_t bm_memcpy_d2d_stride_u64(bm_handle_t handle, bm_device_mem_u64_t dst, unsigned long long dst_stride,
                                     bm_device_mem_u64_t src, unsigned long long src_stride, unsigned long long count,
                                     int format_size);
/** Copies memory of one chip to another chip.
 * src_handle: device of the source
 * dst_handle: device of the destination
 * src: source
 * dst: destination
 * force_dst_cdma: true: the engine of the destination copies */
bm_status_t bm_memcpy_c2c(bm_handle_t src_handle, bm_handle_t dst_handle, bm_device_mem_t src, bm_device_mem_t dst,
                          bool force_dst_cdma);

/* ---- Filling device memory: with a word, or with a pattern of `mode` bytes ---- */

/** Fills device memory with a 4-byte word.
 * value: the word, or pointer to the pattern
 * mem: what is filled */
bm_status_t bm_memset_device(bm_handle_t handle, const int value, bm_device_mem_t mem);
/** Fills device memory with a pattern of 1 to 4 bytes.
 * value: the word, or pointer to the pattern
 * mode: bytes of the pattern: 1, 2, 3 or 4
 * mem: what is filled */
bm_status_t bm_memset_device_ext(bm_handle_t handle, void* value, int mode, bm_device_mem_t mem);
/** Fills device memory of a 64-bit descriptor with a pattern of 1 to 4 bytes.
 * value: the word, or pointer to the pattern
 * mode: bytes of the pattern: 1, 2, 3 or 4
 * mem: what is filled */
bm_status_t bm_memset_device_ext_u64(bm_handle_t handle, void* value, int mode, bm_device_mem_u64_t mem);

/* ---- Moving host data that a descriptor names into device memory ---- */

/** Makes device memory of n * c * h * w words from host data.
 * dev_mem: receives the descriptor of the device memory
 * sys_mem: the host's data (bm_mem_from_system)
 * need_copy: whether the data is copied
 * n: extent n
 * c: extent c
 * h: extent h
 * w: extent w */
bm_status_t bm_mem_convert_system_to_device_neuron(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                   struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h,
                                                   int w);
/** Makes device memory of n * c * h * w bytes from host data.
 * dev_mem: receives the descriptor of the device memory
 * sys_mem: the host's data (bm_mem_from_system)
 * need_copy: whether the data is copied
 * n: extent n
 * c: extent c
 * h: extent h
 * w: extent w */
bm_status_t bm_mem_convert_system_to_device_neuron_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                        struct bm_mem_desc sys_mem, bool need_copy, int n, int c, int h,
                                                        int w);
/** Makes device memory of coeff_count words from host data.
 * dev_mem: receives the descriptor of the device memory
 * sys_mem: the host's data (bm_mem_from_system)
 * need_copy: whether the data is copied
 * coeff_count: number of elements */
bm_status_t bm_mem_convert_system_to_device_coeff(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                  struct bm_mem_desc sys_mem, bool need_copy, int coeff_count);
/** Makes device memory of coeff_count bytes from host data.
 * dev_mem: receives the descriptor of the device memory
 * sys_mem: the host's data (bm_mem_from_system)
 * need_copy: whether the data is copied
 * coeff_count: number of elements */
bm_status_t bm_mem_convert_system_to_device_coeff_byte(bm_handle_t handle, struct bm_mem_desc* dev_mem,
                                                       struct bm_mem_desc sys_mem, bool need_copy, int coeff_count);

/* ---- Device memory in the host's address space (SoC mode) ---- */

/** Maps device memory into the host's address space.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t bm_mem_mmap_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned long long* vmem);
/** Maps device memory of an sg descriptor.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t sg_mem_mmap_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long* vmem);
/** Maps device memory of a 64-bit descriptor.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t bm_mem_mmap_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem, unsigned long long* vmem);
/** Maps device memory without the host's cache.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t bm_mem_mmap_device_mem_no_cache(bm_handle_t handle, bm_device_mem_t* dmem, unsigned long long* vmem);
/** Maps device memory of an sg descriptor without the host's cache.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t sg_mem_mmap_device_mem_no_cache(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long* vmem);
/** Maps device memory of a 64-bit descriptor without the host's cache.
 * dmem: the device memory
 * vmem: receives the host's address, or is it */
bm_status_t bm_mem_mmap_device_mem_no_cache_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
                                                unsigned long long* vmem);
/** Device address of a mapped pointer.
 * vmem: receives the host's address, or is it
 * device_mem: receives the device address */
bm_status_t bm_mem_vir_to_phy(bm_handle_t handle, unsigned long long vmem, unsigned long long* device_mem);
/** Drops what the host has cached of device memory.
 * dmem: the device memory */
bm_status_t bm_mem_invalidate_device_mem(bm_handle_t handle, bm_device_mem_t* dmem);
/** Drops what the host has cached of an sg descriptor's memory.
 * dmem: the device memory */
bm_status_t sg_mem_invalidate_device_mem(bm_handle_t handle, sg_device_mem_t* dmem);
/** Drops what the host has cached of a 64-bit descriptor's memory.
 * dmem: the device memory */
bm_status_t bm_mem_invalidate_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem);
/** Drops what the host has cached of a part.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t bm_mem_invalidate_partial_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned int offset,
                                                 unsigned int len);
/** Drops what the host has cached of a part, sg descriptor.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t sg_mem_invalidate_partial_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long offset,
                                                 unsigned long long len);
/** Drops what the host has cached of a part, 64-bit descriptor.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t bm_mem_invalidate_partial_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
                                                     unsigned long long offset, unsigned long long len);
/** Writes back what the host has cached of device memory.
 * dmem: the device memory */
bm_status_t bm_mem_flush_device_mem(bm_handle_t handle, bm_device_mem_t* dmem);
/** Writes back what the host has cached of an sg descriptor's memory.
 * dmem: the device memory */
bm_status_t sg_mem_flush_device_mem(bm_handle_t handle, sg_device_mem_t* dmem);
/** Writes back what the host has cached of a 64-bit descriptor's memory.
 * dmem: the device memory */
bm_status_t bm_mem_flush_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem);
/** Writes back what the host has cached of a part.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t bm_mem_flush_partial_device_mem(bm_handle_t handle, bm_device_mem_t* dmem, unsigned int offset,
                                            unsigned int len);
/** Writes back what the host has cached of a part, sg descriptor.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t sg_mem_flush_partial_device_mem(bm_handle_t handle, sg_device_mem_t* dmem, unsigned long long offset,
                                            unsigned long long len);
/** Writes back what the host has cached of a part, 64-bit descriptor.
 * dmem: the device memory
 * offset: first byte
 * len: bytes */
bm_status_t bm_mem_flush_partial_device_mem_u64(bm_handle_t handle, bm_device_mem_u64_t* dmem,
                                                unsigned long long offset, unsigned long long len);
/** Ends a mapping.
 * vmem: the host's address
 * size: bytes that were mapped */
bm_status_t bm_mem_unmap_device_mem(bm_handle_t handle, void* vmem, int size);
/** Ends a mapping of an sg descriptor.
 * vmem: the host's address
 * size: bytes that were mapped */
bm_status_t sg_mem_unmap_device_mem(bm_handle_t handle, void* vmem, unsigned long long size);
/** Ends a mapping of a 64-bit descriptor.
 * vmem: the host's address
 * size: bytes that were mapped */
bm_status_t bm_mem_unmap_device_mem_u64(bm_handle_t handle, void* vmem, unsigned long long size);
/** Writes back everything that the host has cached. */
void bm_flush(bm_handle_t handle);

/* ---- Waiting ---- */

/** Waits for everything that was launched on the device. */
bm_status_t bm_device_sync(bm_handle_t handle);
/** Waits for everything that was launched on the handle. */
bm_status_t bm_handle_sync(bm_handle_t handle);
/** Waits for everything that was launched on the handle for a core. */
bm_status_t bm_handle_sync_from_core(bm_handle_t handle, int core_id);
/** Waits for what this thread has launched on the handle. */
bm_status_t bm_thread_sync(bm_handle_t handle);
/** Sets how long waiting may take.
 * timeout: milliseconds */
bm_status_t bm_set_sync_timeout(bm_handle_t handle, int timeout);
/** Waits for what this thread has launched on the handle for a core. */
bm_status_t bm_thread_sync_from_core(bm_handle_t handle, int core_id);

/* ---- Kernels: modules and their functions ---- */

/** Loads a module of kernels from a file.
 * module_file: path of the module, a shared object */
tpu_kernel_module_t tpu_kernel_load_module_file(bm_handle_t handle, const char* module_file);
/** Loads a module of kernels from a file for a core.
 * module_file: path of the module, a shared object */
tpu_kernel_module_t tpu_kernel_load_module_file_to_core(bm_handle_t handle, const char* module_file, int core_id);
/** Loads an encrypted module; only a board has the keys.
 * module_file: path of the module, a shared object
 * key: key of an encrypted module
 * size: bytes of the key */
tpu_kernel_module_t tpu_kernel_load_module_file_key(bm_handle_t handle, const char* module_file, const char* key,
                                                    int size);
/** Takes a module off the device.
 * p_module: the module */
bm_status_t tpu_kernel_unload_module(bm_handle_t handle, tpu_kernel_module_t p_module);
/** Takes a module off a core.
 * p_module: the module */
bm_status_t tpu_kernel_unload_module_from_core(bm_handle_t handle, tpu_kernel_module_t p_module, int core_id);
/** Takes a module off the device and frees its descriptor.
 * p_module: the module */
bm_status_t tpu_kernel_free_module(bm_handle_t handle, tpu_kernel_module_t p_module);
/** Loads a module of kernels from memory.
 * data: the module's bytes
 * length: number of bytes */
tpu_kernel_module_t tpu_kernel_load_module(bm_handle_t handle, const char* data, size_t length);
/** Loads a module of kernels from memory for a core.
 * data: the module's bytes
 * length: number of bytes */
tpu_kernel_module_t tpu_kernel_load_module_to_core(bm_handle_t handle, const char* data, size_t length, int core_id);
/** Number of a kernel of a module, to launch it.
 * module: the module
 * function: name of the kernel */
tpu_kernel_function_t tpu_kernel_get_function(bm_handle_t handle, tpu_kernel_module_t module, const char* function);
/** Number of a kernel of a module on a core.
 * module: the module
 * function: name of the kernel */
tpu_kernel_function_t tpu_kernel_get_function_from_core(bm_handle_t handle, tpu_kernel_module_t module,
                                                        const char* function, int core_id);
/** Runs a kernel and waits for it.
 * function: the kernel's number, from tpu_kernel_get_function
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t tpu_kernel_launch(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size);
/** Runs a kernel on a core and waits for it.
 * function: the kernel's number, from tpu_kernel_get_function
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t tpu_kernel_launch_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size,
                                        int core_id);
/** Queues a kernel, by number or (older sources) by name.
 * function: the kernel's number, from tpu_kernel_get_function
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t tpu_kernel_launch_async(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size);
/* The same with a kernel's name, for sources that call tpu_kernel_launch_async in the older form (below). */
bm_status_t softtpu_kernel_launch_async_by_name(bm_handle_t handle, const char* func_name, const void* args,
                                                unsigned int size);
/** Queues a kernel on a core.
 * function: the kernel's number, from tpu_kernel_get_function
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t tpu_kernel_launch_async_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                              size_t size, int core_id);
/** Waits for the kernels of a handle. */
bm_status_t tpu_kernel_sync(bm_handle_t handle);
/** Queues a list of kernels, each with a core and parameters of its own.
 * param_list: one launch for each entry
 * param_num: number of entries */
bm_status_t tpu_kernel_launch_async_multicores(bm_handle_t handle, tpu_launch_param_t* param_list, int param_num);

/* ---- Kernels: launched by name ---- */

/** Queues a kernel by name on several cores.
 * func_name: the kernel's name
 * api_param: parameter block
 * api_size: bytes of the parameter block
 * core_list: numbers of cores
 * core_num: how many cores */
bm_status_t tpu_kernel_launch_async_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                                size_t api_size, const int* core_list, const int core_num);
/** Runs a kernel by name on several cores and waits.
 * func_name: the kernel's name
 * api_param: parameter block
 * api_size: bytes of the parameter block
 * core_list: numbers of cores
 * core_num: how many cores */
bm_status_t tpu_kernel_launch_sync_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                               size_t api_size, const int* core_list, const int core_num);
/** Queues a kernel by name.
 * func_name: the kernel's name
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t okkernel_launch_async(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
/** Runs a kernel by name and waits for it.
 * func_name: the kernel's name
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t okkernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
/** Runs a kernel by name and waits for it.
 * func_name: the kernel's name
 * args: parameter block
 * size: bytes of the parameter block */
bm_status_t tpu_kernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size);
/** Waits for the kernels of a handle. */
bm_status_t okkernel_sync(bm_handle_t handle);
/** Runs the one entry of a BMKernel firmware.
 * args: parameter block
 * size: bytes */
bm_status_t bmkernel_launch(bm_handle_t handle, const void* args, unsigned int size);
/** Loads the lookup table of a BMKernel firmware.
 * table: the table
 * size: bytes */
bm_status_t bmkernel_load_lookup_table(bm_handle_t handle, const void* table, unsigned int size);

/* ---- Firmware ---- */

/** Loads a firmware file; a module of kernels can be given.
 * firmware_tcm: file for the processor's own memory; not needed
 * firmware_ddr: file for device memory: a module of kernels */
bm_status_t bm_load_firmware(bm_handle_t handle, const char* firmware_tcm, const char* firmware_ddr);
/** Loads an OKKernel firmware file; emulated programs hold their kernels themselves.
 * firmware_tcm: file for the processor's own memory; not needed
 * firmware_ddr: file for device memory: a module of kernels */
bm_status_t okkernel_load_firmware(bm_handle_t handle, const char* firmware_tcm, const char* firmware_ddr);

/* ---- Information about the device ---- */

/** Times and counts of copies and launches so far.
 * profile: receives times and counts of copies and launches */
bm_status_t bm_get_profile(bm_handle_t handle, bm_profile_t* profile);
/** Versions of the boot loader.
 * version: receives the versions */
bm_status_t bm_get_boot_loader_version(bm_handle_t handle, boot_loader_version* version);
/** Use of the video unit.
 * vpu_usage: receives percent */
bm_status_t bm_get_vpu_instant_usage(bm_handle_t handle, int* vpu_usage);
/** Use of the picture unit.
 * jpu_usage: receives percent */
bm_status_t bm_get_jpu_core_usage(bm_handle_t handle, int* jpu_usage);
/** Use of the scaler.
 * vpp_usage: receives percent */
bm_status_t bm_get_vpp_instant_usage(bm_handle_t handle, int* vpp_usage);
/** How long the last launch took.
 * time_us: receives microseconds */
bm_status_t bm_get_last_api_process_time_us(bm_handle_t handle, unsigned long* time_us);
/** Sets the clock of the chip.
 * freq: MHz, or receives MHz */
bm_status_t bm_set_clk_tpu_freq(bm_handle_t handle, int freq);
/** Clock of the chip.
 * freq: MHz, or receives MHz */
bm_status_t bm_get_clk_tpu_freq(bm_handle_t handle, int* freq);
/** Mode, memory sizes and chip of a device.
 * pmisc_info: receives mode, memory sizes, chip */
bm_status_t bm_get_misc_info(bm_handle_t handle, struct bm_misc_info* pmisc_info);
/** Number of the chip.
 * p_chipid: receives 0x1686 (BM1684X) or 0x1684 (BM1684) */
bm_status_t bm_get_chipid(bm_handle_t handle, unsigned int* p_chipid);
/** Use of memory and engines.
 * stat: receives memory in MiB and use in percent */
bm_status_t bm_get_stat(bm_handle_t handle, bm_dev_stat_t* stat);
/** Heap that memory lies on.
 * pmem: the memory
 * heapid: receives the number of the heap */
bm_status_t bm_get_gmem_heap_id(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int* heapid);
/** Heap that memory of an sg descriptor lies on.
 * pmem: the memory
 * heapid: receives the number of the heap */
bm_status_t sg_get_gmem_heap_id(bm_handle_t handle, sg_device_mem_t* pmem, unsigned int* heapid);
/** Heap that memory of a 64-bit descriptor lies on.
 * pmem: the memory
 * heapid: receives the number of the heap */
bm_status_t bm_get_gmem_heap_id_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned int* heapid);
/** Number of heaps.
 * heap_num: receives the number of heaps */
bm_status_t bm_get_gmem_total_heap_num(bm_handle_t handle, unsigned int* heap_num);
/** Start, size and use of a heap in bytes.
 * pheap_byte: receives start, size and use of the heap
 * heap_id: number of the heap */
bm_status_t bm_get_gmem_heap_stat_byte_by_id(bm_handle_t handle, bm_heap_stat_byte_t* pheap_byte, unsigned int heap_id);
/** Whether the device is well.
 * status: receives 0 when the device is well */
bm_status_t bm_get_status(bm_handle_t handle, int* status);
/** Number of cores.
 * core_num: receives the number of cores */
bm_status_t bm_get_tpu_scalar_num(bm_handle_t handle, unsigned int* core_num);

/* ---- Sensors and identity of the board ---- */

/** Current of the chip.
 * tpuc: receives milliampere */
bm_status_t bm_get_tpu_current(bm_handle_t handle, unsigned int* tpuc);
/** Largest power of the board.
 * maxp: receives watt */
bm_status_t bm_get_board_max_power(bm_handle_t handle, unsigned int* maxp);
/** Power of the board.
 * boardp: receives watt */
bm_status_t bm_get_board_power(bm_handle_t handle, unsigned int* boardp);
/** Speed of the fan.
 * fan: receives turns per minute */
bm_status_t bm_get_fan_speed(bm_handle_t handle, unsigned int* fan);
/** Corrected memory errors.
 * ecc_correct_num: receives the number of corrected errors */
bm_status_t bm_get_ecc_correct_num(bm_handle_t handle, unsigned long* ecc_correct_num);
/** Current of the 12 V supply.
 * atx_12v: receives milliampere */
bm_status_t bm_get_12v_atx(bm_handle_t handle, int* atx_12v);
/** Serial number of the product.
 * product_sn: receives the number, 32 bytes */
bm_status_t bm_get_product_sn(char* product_sn);
/** Serial number of the board.
 * sn: receives the number, 32 bytes */
bm_status_t bm_get_sn(bm_handle_t handle, char* sn);
/** Highest clock of the chip.
 * tpu_maxclk: receives MHz */
bm_status_t bm_get_tpu_maxclk(bm_handle_t handle, unsigned int* tpu_maxclk);
/** Lowest clock of the chip.
 * tpu_minclk: receives MHz */
bm_status_t bm_get_tpu_minclk(bm_handle_t handle, unsigned int* tpu_minclk);
/** Version of the driver.
 * driver_version: receives the version */
bm_status_t bm_get_driver_version(bm_handle_t handle, int* driver_version);
/** Name of the board.
 * name: receives the name, at least 32 bytes */
bm_status_t bm_get_board_name(bm_handle_t handle, char* name);
/** Temperature of the board.
 * board_temp: receives degrees Celsius */
bm_status_t bm_get_board_temp(bm_handle_t handle, unsigned int* board_temp);
/** Temperature of the chip.
 * chip_temp: receives degrees Celsius */
bm_status_t bm_get_chip_temp(bm_handle_t handle, unsigned int* chip_temp);
/** Power of the chip.
 * tpu_power: receives watt */
bm_status_t bm_get_tpu_power(bm_handle_t handle, float* tpu_power);
/** Voltage of the chip.
 * tpu_volt: receives millivolt */
bm_status_t bm_get_tpu_volt(bm_handle_t handle, unsigned int* tpu_volt);
/** Number of the card that holds the device.
 * card_id: the number of the card */
bm_status_t bm_get_card_id(bm_handle_t handle, unsigned int* card_id);
/** Number of cards.
 * card_num: receives the number of cards */
bm_status_t bm_get_card_num(unsigned int* card_num);
/** Number of chips of a card, and the number of its first device.
 * card_id: the number of the card
 * chip_num: receives the number of chips of the card
 * dev_start_index: receives the device number of its first chip */
bm_status_t bm_get_chip_num_from_card(unsigned int card_id, unsigned int* chip_num, unsigned int* dev_start_index);
/** Whether the clock follows the load.
 * dynfreq_status: receives 0 or 1 */
bm_status_t bm_get_dynfreq_status(bm_handle_t handle, int* dynfreq_status);
/** Lets the clock follow the load, or not.
 * new_status: 0 or 1 */
bm_status_t bm_change_dynfreq_status(bm_handle_t handle, int new_status);

/* ---- Log ---- */

/** Prints a module's checksum.
 * md5: 16 bytes */
void show_md5(unsigned char* md5);
/** Writes a line to the log of libbmlib.
 * tag: who speaks
 * level: one of BMLIB_LOG_QUIET ... BMLIB_LOG_TRACE; larger tells more
 * fmt: format as for printf */
void bmlib_log(const char* tag, int level, const char* fmt, ...);
/** Level of the log. */
int bmlib_log_get_level(void);
/** Sets how much the log tells.
 * level: one of BMLIB_LOG_QUIET ... BMLIB_LOG_TRACE; larger tells more */
void bmlib_log_set_level(int level);
/** Sends the log to a function of the program.
 * callback: gets every line instead of standard error */
void bmlib_log_set_callback(void (*callback)(const char*, int, const char*, va_list));
/** Switches the debug log of the chip's firmware; an emulated device has none.
 * mode: 0 or 1 */
void bm_set_debug_mode(bm_handle_t handle, int mode);
/** Sends the debug log of the chip's firmware to a function; an emulated device has none.
 * callback: gets every message */
void bmlib_set_api_dbg_callback(bmlib_api_dbg_callback callback);

/* ---- Performance monitors ---- */

/** Starts a performance monitor of the chip.
 * perf_monitor: buffer and kind of the monitor */
bm_status_t bm_enable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* perf_monitor);
/** Stops a performance monitor of the chip.
 * perf_monitor: buffer and kind of the monitor */
bm_status_t bm_disable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* perf_monitor);

/* ---- bmcpu: programs on the processor of the board ---- */

/** State of the processor. */
bm_cpu_status_t bmcpu_get_cpu_status(bm_handle_t handle);
/** Boots the processor.
 * boot_file: boot file
 * core_file: system image */
bm_status_t bmcpu_start_cpu(bm_handle_t handle, char* boot_file, char* core_file);
/** Starts a process.
 * flags: options
 * timeout: milliseconds; -1: no limit */
int bmcpu_open_process(bm_handle_t handle, unsigned int flags, int timeout);
/** Loads a library into a process.
 * process_handle: the process, from bmcpu_open_process
 * library_file: path of a library
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_load_library(bm_handle_t handle, int process_handle, char* library_file, int timeout);
/** Takes a library out of a process.
 * process_handle: the process, from bmcpu_open_process
 * library_file: path of a library
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_unload_library(bm_handle_t handle, int process_handle, char* library_file, int timeout);
/** Calls a function of a process.
 * process_handle: the process, from bmcpu_open_process
 * function_name: name of the function
 * function_param: its parameters
 * param_size: bytes of the parameters
 * timeout: milliseconds; -1: no limit */
int bmcpu_exec_function(bm_handle_t handle, int process_handle, char* function_name, void* function_param,
                        unsigned int param_size, int timeout);
/** Calls a function of a process with options.
 * process_handle: the process, from bmcpu_open_process
 * function_name: name of the function
 * function_param: its parameters
 * param_size: bytes of the parameters
 * opt: options; 1 (BMCPU_EXEC_OPT_NO_FLUSH_CACHE) leaves the cache
 * timeout: milliseconds; -1: no limit */
int bmcpu_exec_function_ext(bm_handle_t handle, int process_handle, char* function_name, void* function_param,
                            unsigned int param_size, unsigned int opt, int timeout);
/** Calls a function of a process without waiting.
 * process_handle: the process, from bmcpu_open_process
 * function_name: name of the function
 * function_param: its parameters
 * param_size: bytes of the parameters
 * api_handle: the call, from bmcpu_exec_function_async, or receives it */
bm_status_t bmcpu_exec_function_async(bm_handle_t handle, int process_handle, char* function_name, void* function_param,
                                      unsigned int param_size, unsigned long long* api_handle);
/** Calls a function of a process with options, without waiting.
 * process_handle: the process, from bmcpu_open_process
 * function_name: name of the function
 * function_param: its parameters
 * param_size: bytes of the parameters
 * opt: options; 1 (BMCPU_EXEC_OPT_NO_FLUSH_CACHE) leaves the cache
 * api_handle: the call, from bmcpu_exec_function_async, or receives it */
bm_status_t bmcpu_exec_function_async_ext(bm_handle_t handle, int process_handle, char* function_name,
                                          void* function_param, unsigned int param_size, unsigned int opt,
                                          unsigned long long* api_handle);
/** Result of a call without waiting.
 * api_handle: the call, from bmcpu_exec_function_async, or receives it
 * timeout: milliseconds; -1: no limit */
int bmcpu_query_exec_function_result(bm_handle_t handle, unsigned long long api_handle, int timeout);
/** Maps device memory into a process.
 * process_handle: the process, from bmcpu_open_process
 * phys_addr: device address
 * size: bytes
 * timeout: milliseconds; -1: no limit */
void* bmcpu_map_phys_addr(bm_handle_t handle, int process_handle, void* phys_addr, unsigned int size, int timeout);
/** Ends a mapping.
 * process_handle: the process, from bmcpu_open_process
 * phys_addr: device address
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_unmap_phys_addr(bm_handle_t handle, int process_handle, void* phys_addr, int timeout);
/** Ends a process.
 * process_handle: the process, from bmcpu_open_process
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_close_process(bm_handle_t handle, int process_handle, int timeout);
/** Resets the processor. */
bm_status_t bmcpu_reset_cpu(bm_handle_t handle);
/** Sets the log of the processor.
 * log_level: level of the log
 * log_to_console: not 0: to the console
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_set_log(bm_handle_t handle, unsigned int log_level, unsigned int log_to_console, int timeout);
/** Writes the log of a process to a file.
 * process_handle: the process, from bmcpu_open_process
 * log_file: file for the log
 * timeout: milliseconds; -1: no limit */
bm_status_t bmcpu_get_log(bm_handle_t handle, int process_handle, char* log_file, int timeout);
/** Sets the processor's clock to the host's. */
bm_status_t bmcpu_sync_time(bm_handle_t handle);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

/* tpu_kernel_launch_async takes a function id; the manuals up to 23.x let it take a kernel's name. Both kinds of source
 * compile: C chooses by the type of the second argument, C++ by overload. */
#ifdef __cplusplus
inline bm_status_t tpu_kernel_launch_async(bm_handle_t handle, const char* func_name, const void* args,
                                           unsigned int size) {
  return softtpu_kernel_launch_async_by_name(handle, func_name, args, size);
}
#else
#define tpu_kernel_launch_async(handle, function, args, size) \
  __extension__(_Generic((function),                                      \
      char*: softtpu_kernel_launch_async_by_name,                         \
      const char*: softtpu_kernel_launch_async_by_name,                   \
      default: tpu_kernel_launch_async)((handle), (function), (args), (size)))
#endif

#endif
