// What the chip refuses, and what it lacks.
#include "bugs.h"

KERNEL(bug_misaligned) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_add(BANK(1) + 32, BANK(0), BANK(0), &kWhole, NULL, NULL, NULL, DT_FP32);  // finds constraint/alignment
}
KERNEL(ok_misaligned) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_add(BANK(1) + 64, BANK(0), BANK(0), &kWhole, NULL, NULL, NULL, DT_FP32);
}

KERNEL(bug_half_an_element) {
  LOAD(BANK(0), args->a + 2, kWhole);  // finds constraint/alignment
}
KERNEL(ok_half_an_element) {
  const dim4 shape = {1, 64, 2, 16};
  LOAD(BANK(0), args->a + 4, shape);
}

KERNEL(bug_other_npu) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1) + 262144, args->b, kWhole);
  ADD(BANK(2), BANK(0), BANK(1) + 262144, kWhole);  // finds constraint/start-npu
}
KERNEL(ok_other_npu) {
  LOAD(BANK(0) + 262144, args->a, kWhole);
  LOAD(BANK(1) + 262144, args->b, kWhole);
  ADD(BANK(2) + 262144, BANK(0) + 262144, BANK(1) + 262144, kWhole);
}

KERNEL(bug_too_wide) {
  const dim4 wide = {1, 1, 1, 65536};
  tpu_gdma_cpy_S2S(args->out, args->a, &kWhole, NULL, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 0}, &wide, NULL, DT_UINT8);  // finds constraint/shape
}
KERNEL(ok_too_wide) {
  const dim4 wide = {1, 1, 1, 65535};
  tpu_gdma_cpy_S2S(args->out, args->a, &kWhole, NULL, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 0}, &wide, NULL, DT_UINT8);
}

KERNEL(bug_empty_shape) {
  const dim4 none = {1, 64, 0, 16};
  LOAD(BANK(0), args->a, none);  // finds constraint/shape
}
KERNEL(ok_empty_shape) {
  const dim4 some = {1, 64, 1, 16};
  LOAD(BANK(0), args->a, some);
}

KERNEL(bug_far_stride) {
  const dim4 two = {2, 64, 1, 1};
  const dim4 stride = {70000, 1, 1, 1};
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 0}, &two, &stride, DT_UINT8);  // finds constraint/stride
}
KERNEL(ok_far_stride) {
  const dim4 two = {2, 64, 1, 1};
  const dim4 stride = {60000, 1, 1, 1};
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 0}, &two, &stride, DT_UINT8);
}

KERNEL(bug_dma_columns_apart) {
  const dim4 column = {1, 64, 1, 2};
  const dim4 stride = {0, 64, 0, 33};
  tpu_gdma_cpy_S2L(BANK(0), args->a, &column, NULL, &stride, DT_FP32);  // finds constraint/stride
}
KERNEL(ok_dma_columns_apart) {
  const dim4 column = {1, 64, 1, 2};
  const dim4 stride = {0, 60, 0, 32};
  tpu_gdma_cpy_S2L(BANK(0), args->a, &column, NULL, &stride, DT_FP32);
}

KERNEL(bug_integer_as_float) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_add(BANK(1), BANK(0), BANK(0), &kWhole, NULL, NULL, NULL, DT_INT32);  // finds constraint/data-type
}
KERNEL(ok_integer_as_float) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_add(BANK(1), BANK(0), BANK(0), &kWhole, NULL, NULL, NULL, DT_FP32);
}

KERNEL(bug_rounding_mode) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_round(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP32, RM_HALF_UP);  // finds constraint/argument
}
KERNEL(ok_rounding_mode) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_round(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP32, RM_HALF_TO_EVEN);
}

KERNEL(bug_no_shape) {
  tpu_gdma_cpy_S2L(BANK(0), args->a, NULL, NULL, NULL, DT_FP32);  // finds constraint/argument
}
KERNEL(ok_no_shape) { tpu_gdma_cpy_S2L(BANK(0), args->a, &kWhole, NULL, NULL, DT_FP32); }

KERNEL(bug_widened_in_place) {
  LOAD(BANK(0), args->a, kWhole);
  const rounding_mode_t even = RM_HALF_TO_EVEN;
  tpu_bdc_cast(BANK(0), BANK(0), &kWhole, NULL, NULL, DT_FP16, DT_FP32, even);
  tpu_bdc_cast(BANK(0), BANK(0), &kWhole, NULL, NULL, DT_FP32, DT_FP16, even);  // finds constraint/overlap
}
KERNEL(ok_widened_in_place) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_cast(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
  tpu_bdc_cast(BANK(0), BANK(1), &kWhole, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
}

KERNEL(bug_one_row_further) {
  const dim4 rows = {1, 64, 3, 16};
  const dim4 stride = {64, 64, 16, 1};
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_cpy(BANK(0) + 64, BANK(0), &rows, &stride, &stride, DT_FP32);  // finds constraint/overlap-order
}
KERNEL(ok_one_row_further) {
  const dim4 rows = {1, 64, 3, 16};
  const dim4 stride = {64, 64, 16, 1};
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_cpy(BANK(1) + 64, BANK(0), &rows, &stride, &stride, DT_FP32);
}

KERNEL(bug_poll_in_section) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  tpu_poll();  // finds constraint/argument
  tpu_parallel_end();
}
KERNEL(ok_poll_in_section) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_end();
  tpu_poll();
}

KERNEL(bug_large_local_array) {
  volatile char table[65536];
  table[0] = table[65535] = 0;
  LOAD(BANK(0) + (local_addr_t)table[0], args->a, kWhole);  // finds constraint/stack
}
KERNEL(ok_large_local_array) {
  static volatile char table[65536];
  table[0] = table[65535] = 0;
  LOAD(BANK(0) + (local_addr_t)table[0], args->a, kWhole);
}

KERNEL_WITHOUT_POLL(bug_no_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);  // finds constraint/unpolled
}
KERNEL_WITHOUT_POLL(ok_no_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
  tpu_poll();
}

// options --portable-to={bugs}/small_chip.json
KERNEL(bug_more_local_memory) {
  LOAD(BANK(8), args->a, kWhole);  // finds constraint/portable-memory
}
// options --portable-to={bugs}/small_chip.json
KERNEL(ok_more_local_memory) { LOAD(BANK(7), args->a, kWhole); }

KERNEL_WITHOUT_INITIALIZE(bug_no_initialize) {
  LOAD(BANK(0), args->a, kWhole);  // finds constraint/uninitialized
  STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_no_initialize) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL_WITHOUT_INITIALIZE(bug_initialize_too_late) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);  // finds constraint/uninitialized
  tpu_parallel_end();
  tpu_poll();
  tpu_initialize();
  STORE(args->out, BANK(0), kWhole);
}
KERNEL_WITHOUT_INITIALIZE(ok_initialize_too_late) {
  tpu_initialize();
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

// The bias of a convolution is fp32 whatever its other operands are.
static void half_convolution(void) {
  const dim4 image = {1, 32, 4, 4}, weight = {1, 32, 1, 32};
  const dim2 one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  tpu_bdc_set_C(BANK(0), (scalar_t){.u16 = 0x3c00}, &image, NULL, DT_FP16);
  tpu_bdc_set_C(BANK(1), (scalar_t){.u16 = 0x3c00}, &weight, NULL, DT_FP16);
  tpu_bdc_fp_conv2d(BANK(3), BANK(0), BANK(1), BANK(2), &image, NULL, 32, &one, &none, &one, &one, DT_FP16, DT_FP16,
                    true, false);
}
static const dim4 kBias = {1, 32, 1, 1};
#define TO_INTEGER(dst, src) tpu_bdc_cast(dst, src, &kBias, NULL, NULL, DT_INT32, DT_FP32, RM_HALF_TO_EVEN)

KERNEL(bug_bias_of_other_type) {
  tpu_gdma_cpy_S2L(BANK(2), args->a, &kBias, NULL, NULL, DT_FP16);  // finds constraint/operand-type
  half_convolution();
}
KERNEL(ok_bias_of_other_type) {
  tpu_gdma_cpy_S2L(BANK(2), args->a, &kBias, NULL, NULL, DT_FP32);
  half_convolution();
}

KERNEL(bug_bias_of_other_kind) {
  LOAD(BANK(4), args->a, kBias);
  TO_INTEGER(BANK(2), BANK(4));  // finds constraint/operand-type
  half_convolution();
}
// The bytes alone may be moved as any type.
KERNEL(ok_bias_of_other_kind) {
  tpu_gdma_cpy_S2L(BANK(2), args->a, &kBias, NULL, NULL, DT_INT32);
  half_convolution();
}

// One of the two types is wrong: reads behind the columns that were loaded, and their NaNs, follow from it.
static const dim4 kOneRow = {1, 64, 1, 60};
#define SQUARE(dst, src, type) tpu_bdc_fp_mul(dst, src, src, &kOneRow, NULL, NULL, NULL, type)
KERNEL(bug_exchanged_types) {
  tpu_gdma_cpy_S2L(BANK(0), args->a, &kOneRow, NULL, NULL, DT_FP16);  // finds constraint/operand-type
  SQUARE(BANK(1), BANK(0), DT_FP32);
  SQUARE(BANK(2), BANK(1), DT_FP32);
  tpu_gdma_cpy_L2S(args->out, BANK(2), &kOneRow, NULL, NULL, DT_FP32);
}
KERNEL(ok_exchanged_types) {
  tpu_gdma_cpy_S2L(BANK(0), args->a, &kOneRow, NULL, NULL, DT_FP16);
  SQUARE(BANK(1), BANK(0), DT_FP16);
  SQUARE(BANK(2), BANK(1), DT_FP16);
  tpu_gdma_cpy_L2S(args->out, BANK(2), &kOneRow, NULL, NULL, DT_FP16);
}

KERNEL(bug_other_half) {
  tpu_gdma_cpy_S2L(BANK(0), args->a, &kOneRow, NULL, NULL, DT_FP16);
  SQUARE(BANK(1), BANK(0), DT_FP16);  // finds constraint/operand-type
  SQUARE(BANK(2), BANK(1), DT_BFP16);
  tpu_gdma_cpy_L2S(args->out, BANK(2), &kOneRow, NULL, NULL, DT_BFP16);
}
// A copy moves halves as whatever has their size.
KERNEL(ok_other_half) {
  tpu_gdma_cpy_S2L(BANK(0), args->a, &kOneRow, NULL, NULL, DT_BFP16);
  SQUARE(BANK(1), BANK(0), DT_FP16);
  tpu_bdc_cpy(BANK(2), BANK(1), &kOneRow, NULL, NULL, DT_UINT16);
  tpu_gdma_cpy_L2S(args->out, BANK(2), &kOneRow, NULL, NULL, DT_BFP16);
}
// The bits of floats as integers, and the low byte of a word in each row.
KERNEL(right_other_types_of_the_same_bytes) {
  const dim4 one = {1, 64, 1, 1};
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_bdc_and_C(BANK(2), BANK(1), (scalar_t){.u32 = 0x7FFFFFFF}, &kWhole, NULL, NULL, DT_UINT32);
  STORE(args->out, BANK(2), kWhole);
  tpu_gdma_cpy_S2L(BANK(3), args->a, &one, NULL, NULL, DT_INT32);
  tpu_bdc_cpy(BANK(4), BANK(3), &one, NULL, NULL, DT_INT8);
  tpu_gdma_cpy_L2S(args->out, BANK(4), &one, NULL, NULL, DT_INT8);
}

// Bytes above 127 are greater than 1 as uint8, and less than 1 as int8.
#define GREATER(result) \
  tpu_bdc_greater_C(BANK(1), BANK(0), (scalar_t){.u8 = 200}, (scalar_t){.u8 = 1}, &kWhole, NULL, NULL, result, DT_UINT8)
KERNEL(bug_compared_otherwise_by_the_emulator) {
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 201}, &kWhole, NULL, DT_UINT8);
  GREATER(DT_INT8);  // finds constraint/deviation
  tpu_gdma_cpy_L2S(args->out, BANK(1), &kWhole, NULL, NULL, DT_INT8);
}
KERNEL(ok_compared_otherwise_by_the_emulator) {
  tpu_bdc_set_C(BANK(0), (scalar_t){.u8 = 201}, &kWhole, NULL, DT_UINT8);
  GREATER(DT_UINT8);
  tpu_gdma_cpy_L2S(args->out, BANK(1), &kWhole, NULL, NULL, DT_INT8);
}

// Row 0 onto rows 0 to 3 of the same tensor: the only bytes of the source that are overwritten get what they hold.
#define SPREAD(first)                               \
  const dim4 row = {1, 64, 1, 16};                  \
  dim4 stride, repeated;                            \
  tpu_aligned_stride(&stride, 0, &kWhole, DT_FP32); \
  repeated = stride;                                \
  repeated.h = 0;                                   \
  tpu_gdma_cpy_S2L(BANK(0) + (first)*64, args->a, &row, &stride, NULL, DT_FP32)
KERNEL(ok_broadcast_in_place) {
  SPREAD(0);
  tpu_bdc_cpy(BANK(0), BANK(0), &kWhole, NULL, &repeated, DT_FP32);
}
KERNEL(bug_broadcast_in_place) {
  SPREAD(1);
  tpu_gdma_cpy_S2L(BANK(0), args->a, &row, &stride, NULL, DT_FP32);
  repeated.h = stride.h;
  const dim4 three = {1, 64, 3, 16};
  tpu_gdma_cpy_S2L(BANK(0) + 128, args->a, &row, &stride, NULL, DT_FP32);
  tpu_bdc_cpy(BANK(0) + 64, BANK(0), &three, &stride, &repeated, DT_FP32);  // finds constraint/overlap-order
}

KERNEL(bug_float_for_half) {
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0.01F}, &kWhole, NULL, DT_FP16);  // finds constraint/scalar-bits
}
KERNEL(ok_float_for_half) {
  scalar_t one;
  one.u16 = 0x3c00;  // the upper half was never set
  tpu_bdc_set_C(BANK(0), one, &kWhole, NULL, DT_FP16);
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0.01F}, &kWhole, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(1), (scalar_t){.s32 = -5}, &kWhole, NULL, DT_INT8);
  tpu_bdc_set_C(BANK(1), (scalar_t){.u32 = 0x12345678}, &kWhole, NULL, DT_UINT16);
}

KERNEL(bug_integer_for_float) {
  LOAD(BANK(0), args->a, kWhole);
  const scalar_t one = {.s32 = 1};
  tpu_bdc_fp_add_C(BANK(1), BANK(0), one, &kWhole, NULL, NULL, DT_FP32);  // finds constraint/scalar-bits
}
KERNEL(ok_integer_for_float) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_fp_add_C(BANK(1), BANK(0), (scalar_t){.f32 = 1}, &kWhole, NULL, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(2), (scalar_t){.s32 = 1}, &kWhole, NULL, DT_FP32);  // an integer, moved
}

// What a variable holds that is only set on another path.
KERNEL_WITHOUT_PARTS(bug_constant_never_set) {
  const bug_args_t* args = raw;
  volatile scalar_t factor;
  if (args->pass > 100) factor.f32 = 2;
  scalar_t given;
  tpu_initialize();
  given.u32 = factor.u32;
  tpu_bdc_set_C(BANK(0), given, &kWhole, NULL, DT_FP32);  // finds constraint/scalar-unset
  tpu_poll();
}
KERNEL_WITHOUT_PARTS(ok_constant_never_set) {
  const bug_args_t* args = raw;
  volatile scalar_t factor;
  if (args->pass <= 100) factor.f32 = 2;
  scalar_t given;
  tpu_initialize();
  given.u32 = factor.u32;
  tpu_bdc_set_C(BANK(0), given, &kWhole, NULL, DT_FP32);
  tpu_poll();
}
