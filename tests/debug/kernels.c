// Kernels that hold one variable of each type that gdb prints, and tensors in several layouts.
#include <tpu_kernel.h>

#include "args.h"
#include "tests/bugs/args.h"

int typed(const void* raw) {
  const debug_args_t* args = raw;
  const dim2 pair = {3, 4};
  const dim4 shape = {1, 64, 4, 16};
  const dim4* where = &shape;
  scalar_t scalar;
  scalar.f32 = 1.5f;
  const data_type_t half = DT_FP16;
  const data_type_t none = (data_type_t)44;
  const rounding_mode_t rounding = RM_TOWARDS_ZERO;
  const variable_t vector = {VECTOR, {.addr = 64}};
  const variable_t constant = {SCALAR, {.scalar = scalar}};
  float16 small;
  small.bits = 0x3e00;
  bfloat16 brain;
  brain.bits = 0xbfc0;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->data, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add_C(0x4000, 0x0000, scalar, &shape, NULL, NULL, DT_FP32);
  tpu_poll(); /* all is in place */
  tpu_gdma_cpy_L2S(args->data, 0x4000, where, NULL, NULL, DT_FP32);
  tpu_poll();
  return pair.h + (int)half + (int)none + (int)rounding + (int)vector.type + (int)constant.type + small.bits +
         brain.bits;
}
TPUKERNEL_FUNC_REGISTER(typed)

int second(const void* raw) {
  int count = raw != NULL;
  tpu_initialize();
  tpu_poll();
  return count;
}
TPUKERNEL_FUNC_REGISTER(second)

int spins(const void* raw) {
  volatile int spinning = raw != NULL;
  tpu_initialize();
  while (spinning) continue;
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(spins)

/* The compiler puts this into its caller at every level of optimisation. */
__attribute__((always_inline)) static inline void add_at(local_addr_t out, const dim4* shape) {
  tpu_bdc_fp_add(out, 0x0000, 0x4000, shape, NULL, NULL, NULL, DT_FP32); /* in the helper */
}

int inlines(const void* raw) {
  const dim4 shape = {1, 64, 4, 16};
  tpu_initialize();
  if (raw != NULL) add_at(4, &shape); /* in the kernel */
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(inlines)

/* A helper twice in one kernel, and a function that issues the commands of others. */
__attribute__((always_inline)) static inline void load_to(local_addr_t to, unsigned long long from, const dim4* shape) {
  tpu_gdma_cpy_S2L(to, from, shape, NULL, NULL, DT_FP32); /* loads in the helper */
}
__attribute__((always_inline)) static inline void activate(local_addr_t to, local_addr_t from, const dim4* shape) {
  tpu_bdc_fp_hswish(to, from, 0x10000, shape, DT_FP32); /* activates in the helper */
}

int helped(const void* raw) {
  const bug_args_t* args = raw;
  const dim4 shape = {1, 64, 4, 16};
  tpu_initialize();
  load_to(0x0000, args->scratch, &shape); /* first in the kernel */
  load_to(0x4000, args->scratch, &shape); /* second in the kernel */
  activate(0x8000, 0xc000, &shape);       /* third in the kernel */
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(helped)

int crashes(const void* raw) {
  volatile int* nowhere = NULL;
  tpu_initialize();
  if (raw != NULL) *nowhere = 1;
  return 0;
}
TPUKERNEL_FUNC_REGISTER(crashes)

int crashes_after_steps(const void* raw) {
  const dim4 shape = {1, 64, 4, 16};
  tpu_bdc_fp_hswish(0x8000, 0xc000, 0x10000, &shape, DT_FP32);
  return crashes(raw);
}
TPUKERNEL_FUNC_REGISTER(crashes_after_steps)
