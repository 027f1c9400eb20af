// Kernels of the tests of libtpuv7_rt, libtpudnn and libtpu_runtime_api.
#include <stdlib.h>
#include <unistd.h>

#include "tests/tpuv7/kernels/rt_param.h"
#include "tpu_kernel.h"

static int* words_of(const void* args) { return (int*)tpu_global_mem_addr(((const rt_param_t*)args)->address); }
static int value_of(const void* args) { return ((const rt_param_t*)args)->value; }

// Appends `value` at words[++words[0]], so that the order of launches shows.
void append(const void* args) {
  int* words = words_of(args);
  words[++words[0]] = value_of(args);
}
TPUKERNEL_FUNC_REGISTER(append)

// Waits `value` milliseconds, then appends.
void slow_append(const void* args) {
  usleep((unsigned)value_of(args) * 1000U);
  append(args);
}
TPUKERNEL_FUNC_REGISTER(slow_append)

// How often it has run since its module was loaded.
void count_runs(const void* args) {
  static int runs = 0;
  words_of(args)[0] = ++runs;
}
TPUKERNEL_FUNC_REGISTER(count_runs)

// The last word of a block of `value` bytes.
void last_word(const void* args) { words_of(args)[0] = ((const int*)args)[value_of(args) / 4 - 1]; }
TPUKERNEL_FUNC_REGISTER(last_word)

void add_tensors(const void* args) {
  const rt_param_t* param = (const rt_param_t*)args;
  const dim4 shape = {1, tpu_npu_num(), 1, param->value};
  const unsigned long long bytes = (unsigned long long)(tpu_npu_num() * param->value) * 4;
  const unsigned size = (unsigned)param->value * 4;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, param->address, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(size, param->address + bytes, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(2 * size, 0, size, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(param->address + 2 * bytes, 2 * size, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add_tensors)

void nothing(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(nothing)

void assertion(const void* args) {
  UNUSED(args);
  TPUKERNEL_ASSERT(1 + 1 == 3);
}
TPUKERNEL_FUNC_REGISTER(assertion)

void bad_argument(const void* args) {
  const dim4 shape = {1, 0, 1, 1};
  UNUSED(args);
  tpu_bdc_fp_add(0, 64, 128, &shape, NULL, NULL, NULL, DT_FP32);
}
TPUKERNEL_FUNC_REGISTER(bad_argument)

void leave(const void* args) { exit(value_of(args)); }
TPUKERNEL_FUNC_REGISTER(leave)

void crash(const void* args) {
  volatile int* volatile nowhere = NULL;
  UNUSED(args);
  *nowhere = 1;
}
TPUKERNEL_FUNC_REGISTER(crash)

// Found by its C name alone.
void not_registered(const void* args) { words_of(args)[0] = value_of(args); }
