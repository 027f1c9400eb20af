/* Types of libbmrt, the runtime of compiled networks. */
#ifndef __BMRUNTIME_DEFINE_H__
#define __BMRUNTIME_DEFINE_H__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bmlib_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. */
typedef enum bm_data_type_e {
  BM_FLOAT32 = 0,
  BM_FLOAT16 = 1,
  BM_INT8 = 2,
  BM_UINT8 = 3,
  BM_INT16 = 4,
  BM_UINT16 = 5,
  BM_INT32 = 6,
  BM_UINT32 = 7,
  BM_BFLOAT16 = 8,
  BM_INT4 = 9,
  BM_UINT4 = 10
} bm_data_type_t;

/* How the batches of a tensor are packed; BM1684X knows 1N alone. */
typedef enum bm_store_mode_e { BM_STORE_1N = 0, BM_STORE_2N = 1, BM_STORE_4N = 2 } bm_store_mode_t;

#define BM_MAX_DIMS_NUM 8

typedef struct bm_shape_s {
  int num_dims;
  int dims[BM_MAX_DIMS_NUM];
} bm_shape_t;

typedef struct bm_shape_ex_s {
  bm_shape_t shape;
  int elem_num;
} bm_shape_ex_t;

/* A tensor in device memory. */
typedef struct bm_tensor_s {
  bm_data_type_t dtype;
  bm_shape_t shape;
  bm_device_mem_t device_mem;
  bm_store_mode_t st_mode;
} bm_tensor_t;

/* A part of a network's constants that has a name in its file. */
typedef struct bm_coeff_info_s {
  char path[256];
  bm_device_mem_t device_mem;
} bm_coeff_info_t;

/* One set of shapes that a network was compiled for. The memories are the network's own. */
typedef struct bm_stage_info_s {
  bm_shape_t* input_shapes;
  bm_shape_t* output_shapes;
  bm_device_mem_t* input_mems;
  bm_device_mem_t* output_mems;
} bm_stage_info_t;

/* A network. An input is read as x * scale + zero_point, an output stands for (y - zero_point) * scale. */
typedef struct bm_net_info_s {
  const char* name;
  bool is_dynamic;
  int input_num;
  const char** input_names;
  bm_data_type_t* input_dtypes;
  float* input_scales;
  int output_num;
  const char** output_names;
  bm_data_type_t* output_dtypes;
  float* output_scales;
  int stage_num;
  bm_stage_info_t* stages;
  size_t* max_input_bytes; /* over all stages */
  size_t* max_output_bytes;
  int* input_zero_point;
  int* output_zero_point;
  int* input_loc_devices;
  int* output_loc_devices;
  int core_num;
  int32_t addr_mode;
} bm_net_info_t;

/* What a network's launch sends to the firmware of the chip; softtpu sends none. */
typedef struct api_info_s {
  uint32_t* api_id;
  size_t api_id_size;
  uint8_t** api_data;
  size_t api_data_size;
  size_t* api_data_subsize;
  uint32_t* input_addr_offset;
  size_t input_addr_offset_number;
  uint32_t* output_addr_offset;
  size_t output_addr_offset_number;
} api_info_c;

/* Flags of bmrt_set_flags. */
typedef enum bm_runtime_flag_e {
  BM_RUNTIME_AUTO = 0,
  BM_RUNTIME_SHARE_MEM = 1, /* all networks of the runtime work in the same memory */
  BM_RUNTIME_CHECK_MEM = 2,
  BM_RUNTIME_SHARE_DYNMEM = 4,   /* accepted; changes nothing */
  BM_RUNTIME_SOC_CMDBUF_MEM = 8, /* accepted; changes nothing */
  BM_RUNTIME_FREE_COEFF = 16     /* accepted: constants are freed with the last network that has them */
} bm_runtime_flag_t;

/* Where a network's inputs and outputs lie (bm_net_info_t.addr_mode). */
typedef enum {
  ADDR_MODE_BASIC = 0,       /* in the memory between layers */
  ADDR_MODE_IO_ALONE = 1,    /* in memory of their own */
  ADDR_MODE_IO_TAG = 2,      /* each in memory of its own */
  ADDR_MODE_IO_TAG_FUSE = 3, /* inputs together, outputs together */
  ADDR_MODE_IO_RELOC = 4     /* where a launch's tensors have them */
} addr_mode_t;

/* One kind of device memory that a file's networks need. `addr` -1: none is given. */
typedef struct {
  int64_t addr;
  uint64_t size;
  int type; /* 0: of the device, 1: of the host */
  int number;
  char reserved[124];
} memory_t;

/* What bmrt_get_bmodel_info says, and what the functions `..._with_mem` are given. */
typedef struct {
  memory_t instruction_mem;          /* TIU instructions, lists of layers */
  memory_t variable_instruction_mem; /* DMA and SDMA instructions */
  memory_t neuron_mem;               /* tensors between layers */
  memory_t coeff_mem;                /* constants */
  memory_t io_mem;                   /* inputs and outputs that lie alone */
  memory_t reserved[4];
} mem_info_t;

/* Makes the plain bytes of encrypted ones, in memory of malloc(), and stores how many there are; NULL when it cannot.
 */
typedef uint8_t* (*decrypt_func)(const uint8_t*, uint64_t, uint64_t*);

/* Levels of bmrt_set_current_log_level. */
typedef enum { BMRT_LOG_INFO = 0, BMRT_LOG_WARNING = 1, BMRT_LOG_WRONG = 2, BMRT_LOG_FATAL = 3 } BMRT_LogLevel;

#ifdef __cplusplus
}
#endif

#endif
