// Calls whose results the vendor's emulators compute otherwise, in every revision that was recorded.
#include "bugs.h"

static const dim2 kOne = {1, 1};
static const padding_t kNoPadding = {0, 0, 0, 0};

#define FILL(dst, bits) tpu_bdc_set_C(dst, (scalar_t){.u32 = (bits)}, &kWhole, NULL, DT_FP32)

// The emulator multiplies all elements before it selects.
KERNEL(bug_deviation_prelu_in_place) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_prelu(BANK(0), BANK(0), (scalar_t){.f32 = 0.5f}, &kWhole, DT_FP32);  // finds constraint/deviation
  STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_deviation_prelu_in_place) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_prelu(BANK(1), BANK(0), (scalar_t){.f32 = 0.5f}, &kWhole, DT_FP32);
  STORE(args->out, BANK(1), kWhole);
}

// It refuses the index that marks an exception.
#define GATHER                                                                                                 \
  tpu_bdc_batch_bcast_h_gather_exception(BANK(2), BANK(0), BANK(1), (scalar_t){.f32 = 1}, &kWhole, 4, DT_FP32, \
                                         DT_UINT8, false, true)
#define GATHER_ROWS(index)            \
  const dim4 indices = {1, 64, 1, 4}; \
  LOAD(BANK(0), args->a, kWhole);     \
  tpu_bdc_set_C(BANK(1), (scalar_t){.u8 = (index)}, &indices, NULL, DT_UINT8)
KERNEL(bug_deviation_exceptional_index) {
  GATHER_ROWS(255);
  GATHER;  // finds constraint/deviation
  STORE(args->out, BANK(2), kWhole);
}
KERNEL(ok_deviation_exceptional_index) {
  GATHER_ROWS(3);
  GATHER;
  STORE(args->out, BANK(2), kWhole);
}

// Zeros of both signs are equal keys.
#define FILL_KEYS(bits)                                                             \
  const dim4 half = {1, 1, 1, 16};                                                  \
  tpu_gdma_set_C_system(args->scratch, (scalar_t){.u32 = 0}, &half, NULL, DT_FP32); \
  tpu_gdma_set_C_system(args->scratch + 64, (scalar_t){.u32 = (bits)}, &half, NULL, DT_FP32)
KERNEL(bug_deviation_both_zeros) {
  FILL_KEYS(0x80000000);
  tpu_hau_sort(args->out, args->scratch, 32, 32, false, DT_FP32);  // finds constraint/deviation
}
KERNEL(ok_deviation_both_zeros) {
  FILL_KEYS(0x80000001);
  tpu_hau_sort(args->out, args->scratch, 32, 32, false, DT_FP32);
}
#define SORT tpu_hau_sort_natural_index(args->out, args->out + 128, args->scratch, 32, 32, true, DT_FP32)
KERNEL(bug_deviation_both_zeros_with_index) {
  FILL_KEYS(0x80000000);
  SORT;  // finds constraint/deviation
}
KERNEL(ok_deviation_both_zeros_with_index) {
  FILL_KEYS(0);
  SORT;
}

// NaNs have the sign and payload of the processor that the emulator runs on.
#define AVERAGE \
  tpu_bdc_fp_avg_pool2d(BANK(1), BANK(0), &kWhole, &kOne, &kNoPadding, &kOne, &kOne, DT_FP32, (scalar_t){.f32 = 1})
KERNEL(bug_deviation_pooled_nan) {
  FILL(BANK(0), 0x7FC00000);
  AVERAGE;  // finds constraint/deviation
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_deviation_pooled_nan) {
  FILL(BANK(0), 0x7F800000);
  AVERAGE;
  STORE(args->out, BANK(1), kWhole);
}

// Only the emulator of 2023 knows no type of a weighted sum of regions.
KERNEL(right_summed_regions) {
  const dim4 image = {1, 4, 4, 4}, result = {1, 4, 1, 1}, corners = {1, 1, 1, 4};
  tpu_bdc_set_C(BANK(0), (scalar_t){.s8 = 1}, &image, NULL, DT_INT8);
  tpu_bdc_set_C(BANK(1), (scalar_t){.s8 = 1}, &image, NULL, DT_INT8);
  tpu_bdc_set_C(BANK(3), (scalar_t){.s16 = 0}, &corners, NULL, DT_INT16);
  tpu_bdc_int8_roi_depthwise2d(BANK(4), BANK(0), BANK(1), BANK(3), &image, 1, &kOne, DT_INT32, DT_INT8, DT_INT8,
                               (scalar_t){.s8 = 0});
  tpu_gdma_cpy_L2S(args->out, BANK(4), &result, NULL, NULL, DT_INT32);
}
