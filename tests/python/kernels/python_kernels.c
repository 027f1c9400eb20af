// Kernels of the Python package's tests.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, a, b;
  int count;
} add_args_t;

void add(const void* raw) {
  const add_args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, args->count / tpu_npu_num()};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->a, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(0x4000, args->b, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(0x8000, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add)

// Reads what was never written.
void forgetful(const void* raw) {
  const add_args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, args->count / tpu_npu_num()};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->a, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(0x8000, 0x0000, 0x20000, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(forgetful)

void crash(const void* raw) {
  const add_args_t* args = raw;
  *(volatile int*)(unsigned long)args->count = 1;
}
TPUKERNEL_FUNC_REGISTER(crash)

void spin(const void* raw) {
  UNUSED(raw);
  for (volatile int i = 0;; ++i) {
  }
}
TPUKERNEL_FUNC_REGISTER(spin)

void misaligned(const void* raw) {
  const add_args_t* args = raw;
  const dim4 shape = {1, 1, 1, args->count};
  tpu_bdc_fp_add(0x8000, 0x0000, 0x4003, &shape, NULL, NULL, NULL, DT_FP32);
}
TPUKERNEL_FUNC_REGISTER(misaligned)

// What waits needs a clock, which the constraint check does not like.
#ifndef WITHOUT_CLOCK
#include <unistd.h>

// Waits, then appends `value` at words[++words[0]].
typedef struct {
  unsigned long long words;
  int milliseconds, value;
} append_args_t;

void append(const void* raw) {
  const append_args_t* args = raw;
  usleep((unsigned)args->milliseconds * 1000U);
  int* words = tpu_global_mem_addr(args->words);
  words[++words[0]] = args->value;
}
TPUKERNEL_FUNC_REGISTER(append)
#endif

// Copies its own arguments out, so that a test can compare every byte with what C makes of the struct.
typedef enum { FIRST = 0, SECOND = 1 } kind_t;
typedef struct {
  unsigned long long out;
  float scale;
  double wide;
  signed char small;
  unsigned short middle;
  bool flag;
  kind_t kind;
  const void* pointer;
  dim4 shape;
  short table[2][3];
  char name[8];
  union {
    int as_int;
    float as_float;
  } either;
} mixed_args_t;

void mixed(const void* raw) {
  const mixed_args_t* args = raw;
  char* out = tpu_global_mem_addr(args->out);
  for (unsigned i = 0; i < sizeof *args; ++i) out[i] = ((const char*)raw)[i];
}
TPUKERNEL_FUNC_REGISTER(mixed)
