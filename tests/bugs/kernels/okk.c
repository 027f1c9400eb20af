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

// It reads the old result with the sign of the new one.
#define ACCUMULATE(old_signed)                                  \
  const dim4 bytes = {2, 64, 4, 16};                            \
  okk_bdc_32bit_set_C(BANK(0), (x32){.u32 = 0}, &kWhole, NULL); \
  okk_bdc_32bit_set_C(BANK(1), (x32){.u32 = 0}, &kWhole, NULL); \
  okk_bdc_fixed_point_packed_mac(BANK(1), BANK(0), BANK(0), &bytes, NULL, NULL, NULL, old_signed, S8_OP_S8_TO_S16, 0, 0)
KERNEL(bug_okk_old_result_unsigned) {
  ACCUMULATE(false);  // finds constraint/deviation
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_okk_old_result_unsigned) {
  ACCUMULATE(true);
  STORE(args->out, BANK(1), kWhole);
}

// It takes smaller elements for equal to a constant in front.
#define SELECT(first, second)                                                             \
  const fp32_or_addr_t constant = {.context.val = 3}, tensor = {true, .context.addr = 0}; \
  const x32_or_addr_t one = {.context.val.u32 = 1}, two = {.context.val.u32 = 2};         \
  LOAD(BANK(0), args->a, kWhole);                                                         \
  okk_bdc_equal_select(BANK(1), &(first), &(second), &one, &two, &kWhole)
KERNEL(bug_okk_constant_in_front) {
  SELECT(constant, tensor);  // finds constraint/deviation
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_okk_constant_in_front) {
  SELECT(tensor, constant);
  STORE(args->out, BANK(1), kWhole);
}

// The half word behind the last element keeps a byte of what was there.
#define MULTIPLY_HALVES(count)                                                                                      \
  const dim4 halves = {count, 64, 4, 16};                                                                           \
  okk_bdc_32bit_set_C(BANK(0), (x32){.u32 = 0}, &kWhole, NULL);                                                     \
  okk_bdc_32bit_set_C(BANK(1), (x32){.u32 = 0}, &kWhole, NULL);                                                     \
  okk_bdc_fixed_point_packed_s16_mul_u8_to_s16(BANK(2), BANK(0), BANK(1), BANK(3), BANK(4), BANK(5), &halves, NULL, \
                                               NULL, NULL, NULL, NULL, NULL, 0)
KERNEL(bug_okk_odd_batches) {
  MULTIPLY_HALVES(1);  // finds constraint/deviation
  STORE(args->out, BANK(2), kWhole);
}
KERNEL(ok_okk_odd_batches) {
  MULTIPLY_HALVES(2);
  STORE(args->out, BANK(2), kWhole);
}

// It cannot shift a constant by a tensor.
#define SHIFT_CONSTANT okk_bdc_fixed_point_packed_16bit_C_arithmetic_shift(BANK(1), BANK(0), 5, &halves, NULL, NULL)
KERNEL(bug_okk_shifted_constant) {
  const dim4 halves = {2, 64, 4, 16};
  okk_bdc_32bit_set_C(BANK(0), (x32){.u32 = 0}, &kWhole, NULL);
  SHIFT_CONSTANT;  // finds constraint/deviation
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_okk_shifted_constant) {
  const dim4 halves = {2, 64, 4, 16};
  okk_bdc_32bit_set_C(BANK(0), (x32){.u32 = 0}, &kWhole, NULL);
  okk_bdc_32bit_set_C(BANK(2), (x32){.u32 = 5}, &kWhole, NULL);
  okk_bdc_fixed_point_packed_16bit_arithmetic_shift(BANK(1), BANK(2), BANK(0), &halves, NULL, NULL, NULL);
  STORE(args->out, BANK(1), kWhole);
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
