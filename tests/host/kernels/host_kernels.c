// Kernels of the host library's tests.
#include <unistd.h>

#include "tpu_kernel.h"

typedef struct {
  unsigned long long address;
  int count;
  int value;
} param_t;

// Writes value, value + 1 ... as 32-bit words.
static void write_words(const param_t* param) {
  int* words = (int*)tpu_global_mem_addr(param->address);
  for (int i = 0; i < param->count; ++i) words[i] = param->value + i;
}

static void write_kernel(const void* args) { write_words((const param_t*)args); }
TPUKERNEL_FUNC_REGISTER(write_kernel)

static int write_kernel_int(const void* args) {
  write_words((const param_t*)args);
  return 0;
}
TPUKERNEL_FUNC_REGISTER(write_kernel_int)

// Appends `value` at words[++words[0]], so that the order of launches shows.
static void append_kernel(const void* args) {
  const param_t* param = (const param_t*)args;
  int* words = (int*)tpu_global_mem_addr(param->address);
  words[++words[0]] = param->value;
}
TPUKERNEL_FUNC_REGISTER(append_kernel)

// How often it ran.
static void count_kernel(const void* args) { ++*(int*)tpu_global_mem_addr(((const param_t*)args)->address); }
TPUKERNEL_FUNC_REGISTER(count_kernel)

// Waits `count` milliseconds, then appends.
static void slow_append_kernel(const void* args) {
  usleep((unsigned)((const param_t*)args)->count * 1000U);
  append_kernel(args);
}
TPUKERNEL_FUNC_REGISTER(slow_append_kernel)

static void without_args(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(without_args)

static void assert_kernel(const void* args) {
  UNUSED(args);
  TPUKERNEL_ASSERT(1 + 1 == 3);
}
TPUKERNEL_FUNC_REGISTER(assert_kernel)

static void fault_kernel(const void* args) {
  const dim4 shape = {1, 0, 1, 1};
  UNUSED(args);
  tpu_bdc_fp_add(0, 64, 128, &shape, NULL, NULL, NULL, DT_FP32);
}
TPUKERNEL_FUNC_REGISTER(fault_kernel)

static void unsupported_kernel(const void* args) {
  UNUSED(args);
  tpu_sync_all_sdma();
}
TPUKERNEL_FUNC_REGISTER(unsupported_kernel)

static void crash_kernel(const void* args) {
  volatile int* volatile nowhere = NULL;
  UNUSED(args);
  *nowhere = 1;
}
TPUKERNEL_FUNC_REGISTER(crash_kernel)

static void hang_kernel(const void* args) {
  UNUSED(args);
  for (;;) pause();
}
TPUKERNEL_FUNC_REGISTER(hang_kernel)

// Found by its C name only.
void exported_not_registered(const void* args);
void exported_not_registered(const void* args) { write_words((const param_t*)args); }

// A struct with a member of each kind, for softtpu_argument_layout().
typedef enum { FIRST_MODE, SECOND_MODE } mode_kind_t;
typedef unsigned long long u64_t;
typedef struct {
  u64_t address;
  float scale;
  signed char small;
  bool flag;
  mode_kind_t mode;
  const void* pointer;
  dim4 shape;
  short table[2][3];
  struct {
    double x;
    union {
      int as_int;
      float as_float;
    } either;
  } inner[2];
} many_args_t;

static void many_args(const void* raw) {
  const many_args_t* args = (const many_args_t*)raw;
  int* words = (int*)tpu_global_mem_addr(args->address);
  words[0] = args->shape.h + args->table[1][2] + args->inner[1].either.as_int;
}
TPUKERNEL_FUNC_REGISTER(many_args)

typedef struct {
  unsigned narrow : 3;
} bits_param_t;
static void bit_args(const void* raw) {
  const bits_param_t* param = (const bits_param_t*)raw;
  TPUKERNEL_ASSERT(param->narrow < 8);
}
TPUKERNEL_FUNC_REGISTER(bit_args)
