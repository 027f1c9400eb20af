// Reads of bytes that were never written.
#include "bugs.h"

#define GATHER(dst, param, index, fill, rows) \
  tpu_gdma_h_gather_S2L(dst, param, index, true, fill, &kWhole, rows, NULL, NULL, NULL, DT_FP32)

KERNEL(bug_unwritten_input) {
  LOAD(BANK(0), args->scratch, kWhole);  // finds init/global
}
KERNEL(ok_unwritten_input) { LOAD(BANK(0), args->a, kWhole); }

KERNEL(bug_operand_not_loaded) {
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(2), BANK(0), BANK(1), kWhole);  // finds init/local
  STORE(args->out, BANK(2), kWhole);
}
KERNEL(ok_operand_not_loaded) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  ADD(BANK(2), BANK(0), BANK(1), kWhole);
  STORE(args->out, BANK(2), kWhole);
}

KERNEL(bug_sum_not_cleared) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  tpu_bdc_fp32_mac(BANK(2), BANK(0), BANK(1), &kWhole, NULL, NULL, NULL);  // finds init/local
}
KERNEL(ok_sum_not_cleared) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  tpu_bdc_set_C(BANK(2), (scalar_t){.f32 = 0}, &kWhole, NULL, DT_FP32);
  tpu_bdc_fp32_mac(BANK(2), BANK(0), BANK(1), &kWhole, NULL, NULL, NULL);
}

KERNEL(bug_columns_behind_the_last) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 16};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);  // finds init/stale-tail
  STORE(args->out, BANK(1), computed);
}
KERNEL(ok_columns_behind_the_last) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &computed, NULL, DT_FP32);
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);
  STORE(args->out, BANK(1), computed);
}

KERNEL(bug_channels_behind_the_last) {
  const dim4 loaded = {1, 60, 4, 16};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  STORE(args->out, BANK(1), kWhole);  // finds init/stale-tail
}
KERNEL(ok_channels_behind_the_last) {
  const dim4 loaded = {1, 60, 4, 16};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), loaded);
  STORE(args->out, BANK(1), loaded);
}

KERNEL(bug_last_tile_is_smaller) {
  for (int tile = 0; tile < 2; ++tile) {
    const dim4 shape = {1, 64, 1, tile == 0 ? 16 : 8};
    const dim4 full = {1, 64, 1, 16};
    LOAD(BANK(0), args->a, shape);
    ADD(BANK(1), BANK(0), BANK(0), full);  // finds init/stale-tail
    STORE(args->out, BANK(1), full);
  }
}
KERNEL(ok_last_tile_is_smaller) {
  for (int tile = 0; tile < 2; ++tile) {
    const dim4 shape = {1, 64, 1, tile == 0 ? 16 : 8};
    LOAD(BANK(0), args->a, shape);
    ADD(BANK(1), BANK(0), BANK(0), shape);
    STORE(args->out, BANK(1), shape);
  }
}

// Harmless while only what was loaded is stored, but three of four rows of the units hold nothing else.
KERNEL(bug_tail_of_no_use) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 64};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);  // finds init/unused-tail
  ADD(BANK(2), BANK(1), BANK(1), computed);
  STORE(args->out, BANK(2), loaded);
}
KERNEL(ok_tail_of_no_use) {
  const dim4 loaded = {1, 64, 1, 10};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), loaded);
  ADD(BANK(2), BANK(1), BANK(1), loaded);
  STORE(args->out, BANK(2), loaded);
}

// Two steps later the tail is a part of what is added up.
static const dim2 kRow = {1, 16}, kOne = {1, 1};
static const padding_t kNone = {0, 0, 0, 0};
#define AVERAGE(dst, src, shape) \
  tpu_bdc_fp_avg_pool2d(dst, src, &(shape), &kRow, &kNone, &kOne, &kOne, DT_FP32, (scalar_t){.f32 = 1})

KERNEL(bug_tail_is_added_up) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 16};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);
  ADD(BANK(2), BANK(1), BANK(1), computed);
  AVERAGE(BANK(3), BANK(2), computed);  // finds init/stale-tail
}
KERNEL(ok_tail_is_added_up) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &computed, NULL, DT_FP32);
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);
  ADD(BANK(2), BANK(1), BANK(1), computed);
  AVERAGE(BANK(3), BANK(2), computed);
}

// Computing on the whole row of units is no slower: no finding.
KERNEL(right_tail_of_no_cost) {
  const dim4 loaded = {1, 64, 1, 10};
  const dim4 computed = {1, 64, 1, 16};
  LOAD(BANK(0), args->a, loaded);
  ADD(BANK(1), BANK(0), BANK(0), computed);
  STORE(args->out, BANK(1), loaded);
}

// A sum over blocks, of which the last one is smaller, is a sum all the same: it is no tail that the last block leaves.
KERNEL(right_accumulator_of_unlike_blocks) {
  const dim4 full = {1, 64, 1, 16}, part = {1, 53, 1, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &full, NULL, DT_FP32);
  for (int i = 0; i < 2; ++i) {
    const dim4 block = i == 0 ? full : part;
    LOAD(BANK(1), args->a, block);
    ADD(BANK(0), BANK(0), BANK(1), block);
  }
  AVERAGE(BANK(2), BANK(0), full);
}

// The tail of a product is set before the sum reads it.
static const dim2 kTwoRows = {2, 16};
#define SUM_OF_TWO_ROWS(dst, src, shape) \
  tpu_bdc_fp_avg_pool2d(dst, src, &(shape), &kTwoRows, &kNone, &kOne, &kOne, DT_FP32, (scalar_t){.f32 = 1})
KERNEL(ok_zeroed_after_multiply) {
  const dim4 loaded = {1, 64, 1, 20}, tile = {1, 64, 2, 16}, tail = {1, 64, 1, 12}, wide = {1, 64, 1, 32};
  dim4 stride;
  tpu_aligned_stride(&stride, 0, &wide, DT_FP32);
  tpu_gdma_cpy_S2L(BANK(0), args->a, &loaded, &stride, NULL, DT_FP32);
  tpu_bdc_fp_mul(BANK(1), BANK(0), BANK(0), &tile, NULL, NULL, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(1) + 20 * 4, (scalar_t){.f32 = 0}, &tail, &stride, DT_FP32);
  SUM_OF_TWO_ROWS(BANK(2), BANK(1), tile);
}
KERNEL(bug_zeroed_after_multiply) {
  const dim4 loaded = {1, 64, 1, 20}, tile = {1, 64, 2, 16}, wide = {1, 64, 1, 32};
  dim4 stride;
  tpu_aligned_stride(&stride, 0, &wide, DT_FP32);
  tpu_gdma_cpy_S2L(BANK(0), args->a, &loaded, &stride, NULL, DT_FP32);
  tpu_bdc_fp_mul(BANK(1), BANK(0), BANK(0), &tile, NULL, NULL, NULL, DT_FP32);
  SUM_OF_TWO_ROWS(BANK(2), BANK(1), tile);  // finds init/local
}

KERNEL(bug_l2_not_written) {
  LOAD(BANK(0), tpu_l2_sram_get_start_addr(), kWhole);  // finds init/l2
}
KERNEL(ok_l2_not_written) {
  tpu_gdma_system_cpy(tpu_l2_sram_get_start_addr(), args->a, BUFFER_ELEMENTS, DT_FP32);
  LOAD(BANK(0), tpu_l2_sram_get_start_addr(), kWhole);
}

// launches 2
KERNEL(bug_left_by_earlier_launch) {
  if (args->pass == 0) LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds init/earlier-launch
}
// launches 2
KERNEL(ok_left_by_earlier_launch) {
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
}

KERNEL(bug_index_not_loaded) {
  const scalar_t zero = {.f32 = 0};
  GATHER(BANK(1), args->b, BANK(2), zero, 4);  // finds init/local
}
KERNEL(ok_index_not_loaded) {
  const scalar_t zero = {.f32 = 0};
  const dim4 index = {1, 64, 4, 1};
  tpu_bdc_set_C(BANK(2), (scalar_t){.u32 = 1}, &index, NULL, DT_UINT32);
  GATHER(BANK(1), args->b, BANK(2), zero, 4);
}

KERNEL(bug_matrix_rows_missing) {
  tpu_gdma_matrix_S2L(BANK(0), args->a, 4, 20, 16, 20, DT_FP32);
  tpu_gdma_matrix_S2L(BANK(1), args->b, 16, 20, 16, 20, DT_FP32);
  tpu_bdc_fp32_mm(BANK(2), BANK(0), BANK(1), 0, 4, 20, 20, 16, 16, false, false);  // finds init/local
}
KERNEL(ok_matrix_rows_missing) {
  tpu_gdma_matrix_S2L(BANK(0), args->a, 4, 20, 16, 20, DT_FP32);
  tpu_gdma_matrix_S2L(BANK(1), args->b, 20, 20, 16, 20, DT_FP32);
  tpu_bdc_fp32_mm(BANK(2), BANK(0), BANK(1), 0, 4, 20, 20, 16, 16, false, false);
}

// The line is that of the host program's copy.
// options --check=all,output
KERNEL(bug_output_half_filled) {  // finds init/unfilled-output
  const dim4 half = {1, 64, 2, 16};
  LOAD(BANK(0), args->a, half);
  STORE(args->out, BANK(0), half);
}
// options --check=all,output
KERNEL(ok_output_half_filled) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

// A row of 41 numbers in channels of 4: the last channel has one.
KERNEL(bug_part_of_the_last_channel) {
  const dim4 shape = {1, 11, 1, 4};
  tpu_gdma_matrix_S2L(BANK(0), args->a, 1, 41, 4, 41, DT_FP32);
  tpu_bdc_abs(BANK(1), BANK(0), &shape, NULL, NULL, DT_FP32);  // finds init/stale-tail
  tpu_gdma_cpy_L2S(args->out, BANK(1), &shape, NULL, NULL, DT_FP32);
}
KERNEL(ok_part_of_the_last_channel) {
  const dim4 shape = {1, 11, 1, 4};
  tpu_gdma_matrix_S2L(BANK(0), args->a, 1, 44, 4, 44, DT_FP32);
  tpu_bdc_abs(BANK(1), BANK(0), &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out, BANK(1), &shape, NULL, NULL, DT_FP32);
}
