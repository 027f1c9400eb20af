/* Types and constants of the TPUKernel interface. Values and layouts are those of the SDK; see tpu_kernel.h for the
 * functions. */
#ifndef _TPU_DEFS_
#define _TPU_DEFS_

#include "softtpu/kernel_common.h"

/* The newest headers choose by one of these what differs between chips; a kernel that defines none sees the older
 * interface, whose objects are called in the same way. SOFTTPU_NEWER_INTERFACE: any of them. SOFTTPU_LATER_CHIP: BM1690
 * and its relatives. */
#if defined(__sg2260__) || defined(__sg2260e__) || defined(__bm1690__) || defined(__bm1684x2__) || defined(__sg2262__)
#define SOFTTPU_LATER_CHIP 1
#endif
#if defined(SOFTTPU_LATER_CHIP) || defined(__bm1684x__) || defined(__bm1688__) || defined(__mars3__)
#define SOFTTPU_NEWER_INTERFACE 1
#endif
#if defined(__sg2260e__) || defined(__bm1684x2__) || defined(__sg2262__)
#define SOFTTPU_OTHER_CDMA 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

typedef unsigned int static_addr_t;        /* offset in static memory, or its full address */
typedef unsigned long long l2_sram_addr_t; /* full address in L2 SRAM */
typedef unsigned long long addr_t;         /* local or system address; another argument says which */

/* Positions of the dimensions in an array of four. */
#define TENSOR_N_DIM 0
#define TENSOR_C_DIM 1
#define TENSOR_H_DIM 2
#define TENSOR_W_DIM 3

/* Passed for an argument that the call ignores. */
#define NO_USE 0

/* ---- Data types: bit 0 is set for signed integers and floats ---- */

typedef enum {
  DT_INT8 = 1,
  DT_UINT8 = 0,
  DT_INT16 = 7,
  DT_UINT16 = 6,
#if defined(__bm1684x2__) || defined(__sg2262__)
  DT_F16 = 3, /* no type of tensors there: the older number of fp16 */
  DT_FP4 = 11,
  DT_FP16 = 21,
  DT_BFP16 = 23,
#else
  DT_FP16 = 3,
  DT_BFP16 = 11,
#endif
  DT_INT32 = 9,
  DT_UINT32 = 8,
  DT_FP32 = 5,
  DT_INT4 = 13,
  DT_UINT4 = 12,
  DT_FP8E5M2 = 15,
  DT_FP8E4M3 = 47,
  DT_FP20 = 17,
  DT_TF32 = 19
} data_type_t;

typedef enum {
  RM_HALF_TO_EVEN = 0,
  RM_HALF_AWAY_FROM_ZERO = 1,
  RM_TOWARDS_ZERO = 2,
  RM_DOWN = 3,
  RM_UP = 4,
  RM_HALF_UP = 5,
  RM_HALF_DOWN = 6
} rounding_mode_t;

typedef enum {
  REDUCE_MEAN = 0,
  REDUCE_SUM = 1,
  REDUCE_MAX = 2,
  REDUCE_MIN = 3,
  REDUCE_PROD = 4,
  REDUCE_L2 = 5,
  REDUCE_L1 = 6
} reduce_method_t;

/* ---- Shapes ---- */

typedef struct {
  int n;
  int c;
  int d;
  int h;
  int w;
} dim5;

typedef struct {
  int d;
  int h;
  int w;
} dim3;

typedef struct {
  int top;
  int bottom;
  int left;
  int right;
} padding_t;

typedef struct {
  int front;
  int back;
  int top;
  int bottom;
  int left;
  int right;
} padding3d_t;

/* First and last value, both included. */
typedef struct {
  int start;
  int end;
} range_t;

/* ---- Scalars: the bits of one element ---- */

#ifdef SOFTTPU_LATER_CHIP
typedef union {
  unsigned char bits;
  struct {
    __extension__ unsigned char frac : 2;
    __extension__ unsigned char exp : 5;
    __extension__ unsigned char sign : 1;
  } format;
} float8e5m2;

typedef union {
  unsigned char bits;
  struct {
    __extension__ unsigned char frac : 3;
    __extension__ unsigned char exp : 4;
    __extension__ unsigned char sign : 1;
  } format;
} float8e4m3;
#else
typedef union {
  unsigned short bits;
  __extension__ struct {
    __extension__ unsigned short frac : 2;
    __extension__ unsigned short exp : 5;
    __extension__ unsigned short sign : 1;
  };
} float8e5m2;

typedef union {
  unsigned short bits;
  struct {
    __extension__ unsigned short frac : 3;
    __extension__ unsigned short exp : 4;
    __extension__ unsigned short sign : 1;
  } format;
} float8e4m3;
#endif

typedef union {
  unsigned short bits;
  struct {
    __extension__ unsigned short frac : 10;
    __extension__ unsigned short exp : 5;
    __extension__ unsigned short sign : 1;
  } format;
} float16;

typedef union {
  unsigned short bits;
  struct {
    __extension__ unsigned short frac : 7;
    __extension__ unsigned short exp : 8;
    __extension__ unsigned short sign : 1;
  } format;
} bfloat16;

typedef union {
  unsigned short bits;
  struct {
    unsigned int frac : 11;
    unsigned int exp : 8;
    unsigned int sign : 1;
  } format;
} float20;

/* One element of any data type. */
typedef union {
  char s4;
  unsigned char u4;
  char s8;
  unsigned char u8;
  float8e5m2 f8e5m2;
  float8e4m3 f8e3m4;
  short s16;
  unsigned short u16;
  float16 f16;
  bfloat16 bf16;
  int s32;
  unsigned int u32;
  float f32;
  float20 f20;
} scalar_t;

/* ---- Operands that are a tensor, a vector (one value for each channel) or a constant ---- */

typedef enum { TENSOR = 0, SCALAR = 1, VECTOR = 2 } var_type_t;

typedef union {
  scalar_t scalar;
  local_addr_t addr;
} var_context_t;

typedef struct {
  var_type_t type;
  var_context_t context;
} variable_t;

/* Requantisation of the result of a quantised matrix multiplication; addr counts when is_perchannel. */
typedef struct {
  bool is_perchannel;
  bool do_sym_saturate;
  rounding_mode_t round_mode;
  local_addr_t addr;
#ifdef SOFTTPU_LATER_CHIP
  __extension__ union {
    int multiplier;
    float rescale;
  };
#else
  int multiplier;
#endif
  int shift;
  int yzp;
} requant_int_info_t;

/* An operand of a quantised matrix multiplication: an address, or a constant when is_const. */
typedef struct {
  int is_const;
  data_type_t dtype;
  __extension__ union {
    local_addr_t addr;
    scalar_t value;
  };
} optional_info_t;

/* ---- Types of chips with several cores ---- */

typedef enum { ALL_REDUCE_PSUM_WO = 0, ALL_REDUCE_PSUM_WR = 1 } all_reduce_psum_t;

typedef enum {
  ALL_REDUCE_NOP = 0,
  ALL_REDUCE_MUL = 1,
  ALL_REDUCE_MAX = 2,
  ALL_REDUCE_MIN = 3,
  ALL_REDUCE_ADD = 4
} all_reduce_opcode_t;

/* Who may touch a guarded range of memory (tpu_set_mem_guard). */
typedef enum {
  READABLE_WRITABLE = 0,
  NON_READABLE = 1,
  NON_WRITABLE = 2,
  NON_READABLE_NON_WRITABLE = 3
} mem_guard_attr_t;

typedef enum { ALIGN_STRIDE = 0, COMPACT_STRIDE = 1, ROW_ALIGN_STRIDE = 6 } stride_info_t;

/* Commands of one engine, as tpu_run_commands takes them. */
typedef struct {
  u32 engine_type;
  u32 command_num;
  u64 command_addr;
  u64 command_bytes;
} tpu_engine_command_info_t;

/* Counters of the memory's bandwidth. */
typedef struct {
  u32 clk;
  u32 read_cnt;
  u32 write_cnt;
  u32 write_bytes;
} bw_info_t;

typedef struct {
  int addr_num;
  int base_idx[30];
  u64 base_addr[30];
  u64 bdc_cmd_offset;
  u64 gdma_cmd_offset;
  u64 hau_cmd_addr;
  u64 sdma_cmd_addr;
  int bdc_cmd_num[8];
  int gdma_cmd_num[8];
  int hau_cmd_len;
  int sdma_cmd_len;
  u64 tiu_len[8];
  u64 gdma_len[8];
} launch_cache_multicore_t;

/* ---- Kernels: take the address of a copy of the launch's arguments ---- */

typedef void (*tpu_kernel_func_t)(const void* args);

/* The newest headers name two forms; the second is told how many bytes the arguments have. */
typedef enum { FUNC_TYPE_1 = 0, FUNC_TYPE_2 = 1 } func_type_t;
typedef void (*tpu_kernel_func_1_t)(const void* args);
typedef void (*tpu_kernel_func_2_t)(void* args, int bytes);

#ifdef __cplusplus
}
#endif

/* ---- Arithmetic ----
 *
 * A definition that the kernel made before wins. One that it makes afterwards has to agree with this one, or the
 * compiler warns: so these, and the sizes of the chip in tpu_kernel.h, are the published ones token by token. */

/* Blanks count too. */
/* clang-format off */
#ifndef DIV_UP
#define DIV_UP(a, b) ((a) == 0 ? 0 : ((a) - 1) / (b) + 1)
#endif
#ifndef ALIGN
#define ALIGN(x, a) (((x) + (a) - 1) / (a) * (a))
#endif
#ifndef ALIGN_DOWN
#define ALIGN_DOWN(x, a) ((x) / (a) * (a))
#endif
#ifndef MAX
#define MAX(x, y) (((x)) > ((y)) ? (x) : (y))
#endif
#ifndef MIN
#define MIN(x, y) (((x)) < ((y)) ? (x) : (y))
#endif
#ifndef UNUSED
#define UNUSED(x) (void)(x)
#endif

/* ---- Bits of special values of a float data type ---- */

#ifndef FP_ONE
#define FP_ONE(dtype) (dtype == DT_FP32 ? 0x3f800000 : (dtype == DT_FP16 ? 0x3c00 : 0x3f80))
#endif
#ifndef FP_NEG_ONE
#define FP_NEG_ONE(dtype) (dtype == DT_FP32 ? 0xbf800000 : (dtype == DT_FP16 ? 0xbc00 : 0xbf80))
#endif
#ifndef FP_MAX
#define FP_MAX(dtype) \
  (dtype == DT_FP8E4M3 ? 0x7e : (dtype == DT_FP8E5M2 ? 0x7b : (dtype == DT_FP32 ? 0x7f7fffff : (dtype == DT_FP16 ? 0x7bff : 0x7f7f))))
#endif
#ifndef FP_NEG_MAX
#define FP_NEG_MAX(dtype) \
  (dtype == DT_FP8E4M3 ? 0xfe : (dtype == DT_FP8E5M2 ? 0xfb : (dtype == DT_FP32 ? 0xff7fffff : (dtype == DT_FP16 ? 0xfbff : 0xff7f))))
#endif
/* clang-format on */

/* ---- Operands of tpu_bdc_quant_mm: OPTIONAL_ADDR(data type, address), OPTIONAL_VALUE(data type, scalar) ---- */

#ifdef __cplusplus
static inline optional_info_t softtpu_optional_addr(data_type_t dtype, local_addr_t addr) {
  optional_info_t info = optional_info_t();
  info.dtype = dtype;
  info.addr = addr;
  return info;
}
static inline optional_info_t softtpu_optional_value(data_type_t dtype, scalar_t value) {
  optional_info_t info = optional_info_t();
  info.is_const = 1;
  info.dtype = dtype;
  info.value = value;
  return info;
}
#define OPTIONAL_ADDR(d, a) softtpu_optional_addr(d, a)
#define OPTIONAL_VALUE(d, v) softtpu_optional_value(d, v)
#else
#define OPTIONAL_ADDR(d, a) ((optional_info_t){.is_const = 0, .dtype = (d), {.addr = (a)}})
#define OPTIONAL_VALUE(d, v) ((optional_info_t){.is_const = 1, .dtype = (d), {.value = (v)}})
#endif

#endif
