// The same defects in BM1684's functions.
// chip bm1684
#include <okk.h>

#include "../args.h"

#define BANK(i) ((local_addr_t)((i)*65536))

#define KERNEL(name)                               \
  static void name##_work(const bug_args_t* args); \
  void name(const void* raw) {                     \
    okk_initialize();                              \
    name##_work(raw);                              \
    okk_poll();                                    \
  }                                                \
  OKKERNEL_FUNC_REGISTER(name)                     \
  static void name##_work(const bug_args_t* args)

#define LOAD(dst, src, shape) okk_gdma_32bit_cpy_S2L(dst, src, &(shape), NULL, NULL)
#define STORE(dst, src, shape) okk_gdma_32bit_cpy_L2S(dst, src, &(shape), NULL, NULL)
#define ADD(dst, x, y, shape) okk_bdc_add(dst, x, y, &(shape), NULL, NULL, NULL)

static const dim4 kWhole = {1, 64, 4, 16};
static const dim4 kTooTall = {1, 64, 5, 16};

// The emulator exchanges the two strides.
KERNEL(bug_okk_strides_exchanged) {
  const dim4 shape = {1, 64, 2, 16}, apart = {128, 128, 32, 1};
  LOAD(BANK(0), args->a, kWhole);
  okk_bdc_32bit_cpy(BANK(1), BANK(0), &shape, NULL, &apart);  // finds constraint/deviation
  STORE(args->out, BANK(1), shape);
}
KERNEL(ok_okk_strides_exchanged) {
  const dim4 shape = {1, 64, 2, 16};
  LOAD(BANK(0), args->a, kWhole);
  okk_bdc_32bit_cpy(BANK(1), BANK(0), &shape, NULL, NULL);
  STORE(args->out, BANK(1), shape);
}

KERNEL(bug_okk_past_end) {
  LOAD(BANK(0), args->a, kTooTall);  // finds memory/overrun
}
KERNEL(ok_okk_past_end) { LOAD(BANK(0), args->a, kWhole); }

KERNEL(bug_okk_not_loaded) {
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(2), BANK(0), BANK(1), kWhole);  // finds init/local
}
KERNEL(ok_okk_not_loaded) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  ADD(BANK(2), BANK(0), BANK(1), kWhole);
}

KERNEL(bug_okk_use_while_loading) {
  okk_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds race/raw
  okk_parallel_end();
}
KERNEL(ok_okk_use_while_loading) {
  LOAD(BANK(0), args->a, kWhole);
  okk_parallel_start();
  LOAD(BANK(2), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  okk_parallel_end();
}

KERNEL(bug_okk_past_npu) {
  LOAD(okk_local_mem_size_per_npu() - 128, args->a, kWhole);  // finds memory/local-range
}
KERNEL(ok_okk_past_npu) { LOAD(okk_local_mem_size_per_npu() - 512, args->a, kWhole); }

KERNEL(bug_okk_store_before_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);  // finds race/processor
  float* mine = (float*)okk_local_mem_addr(3, BANK(0));
  mine[5] = -1.0f;
}
KERNEL(ok_okk_store_before_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
  okk_poll();
  float* mine = (float*)okk_local_mem_addr(3, BANK(0));
  mine[5] = -1.0f;
}
