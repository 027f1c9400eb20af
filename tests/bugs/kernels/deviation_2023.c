// Calls whose results the emulator of 2023 computes otherwise.
// chip bm1684x-23.05
#include "bugs.h"

// The index has no stride, another operand has one: the emulator takes the index's from the wrong extent.
#define SCATTER(param_stride)                                                                            \
  const dim4 shape = {1, 4, 3, 2}, indices = {1, 4, 1, 4}, all = {1, 4, 4, 16}, apart = {128, 32, 2, 1}; \
  (void)apart;                                                                                           \
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &all, NULL, DT_FP32);                                     \
  tpu_gdma_set_C_system(args->scratch, (scalar_t){.u32 = 1}, &indices, NULL, DT_UINT32);                 \
  tpu_gdma_h_scatter_S2L(BANK(0), args->a, args->scratch, false, &shape, 4, NULL, param_stride, NULL, DT_FP32)
KERNEL(bug_deviation_index_without_stride) {
  SCATTER(&apart);  // finds constraint/deviation
  tpu_gdma_cpy_L2S(args->out, BANK(0), &shape, NULL, NULL, DT_FP32);
}
KERNEL(ok_deviation_index_without_stride) {
  SCATTER(NULL);
  tpu_gdma_cpy_L2S(args->out, BANK(0), &shape, NULL, NULL, DT_FP32);
}

// It refuses types that its manual names.
static const dim4 kBytes = {1, 64, 4, 64}, kImage = {1, 4, 4, 4};
static const dim2 kOne = {1, 1}, kNone = {0, 0};
static const padding_t kNoPadding = {0, 0, 0, 0};
#define FILL(dst) tpu_bdc_set_C(dst, (scalar_t){.s8 = 1}, &kBytes, NULL, DT_INT8)
#define FILL_ALL FILL(BANK(0)), FILL(BANK(1)), FILL(BANK(2)), FILL(BANK(3))
#define CONVOLVE(type)                                                                                                 \
  tpu_bdc_int8_asym_pc_quant_conv2d(BANK(4), BANK(0), BANK(1), BANK(2), BANK(3), &kImage, NULL, 4, &kOne, &kNoPadding, \
                                    &kOne, &kOne, type, DT_INT8, DT_INT8, DT_INT8, false)
#define DECONVOLVE(type)                                                                                               \
  tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(BANK(4), BANK(0), BANK(1), BANK(2), BANK(3), &kImage, NULL, 4, &kOne, \
                                                 &kNone, &kNoPadding, &kOne, type, DT_INT8, DT_INT8, DT_INT8, false)
KERNEL(bug_deviation_unsigned_convolution) {
  FILL_ALL;
  CONVOLVE(DT_UINT32);  // finds constraint/deviation
  tpu_gdma_cpy_L2S(args->out, BANK(4), &kImage, NULL, NULL, DT_UINT32);
}
KERNEL(ok_deviation_unsigned_convolution) {
  FILL_ALL;
  CONVOLVE(DT_INT32);
  tpu_gdma_cpy_L2S(args->out, BANK(4), &kImage, NULL, NULL, DT_INT32);
}
KERNEL(bug_deviation_signed_deconvolution) {
  FILL_ALL;
  DECONVOLVE(DT_INT32);  // finds constraint/deviation
  tpu_gdma_cpy_L2S(args->out, BANK(4), &kImage, NULL, NULL, DT_INT32);
}
KERNEL(ok_deviation_signed_deconvolution) {
  FILL_ALL;
  DECONVOLVE(DT_UINT32);
  tpu_gdma_cpy_L2S(args->out, BANK(4), &kImage, NULL, NULL, DT_UINT32);
}

// It knows no type of a weighted sum of regions.
#define SUM_REGIONS                                                                                               \
  const dim4 result = {1, 4, 1, 1}, corners = {1, 1, 1, 4};                                                       \
  FILL_ALL;                                                                                                       \
  tpu_bdc_set_C(BANK(3), (scalar_t){.s16 = 0}, &corners, NULL, DT_INT16);                                         \
  tpu_bdc_int8_roi_depthwise2d(BANK(4), BANK(0), BANK(1), BANK(3), &kImage, 1, &kOne, DT_INT32, DT_INT8, DT_INT8, \
                               (scalar_t){.s8 = 0})
KERNEL(bug_deviation_summed_regions) {
  SUM_REGIONS;  // finds constraint/deviation
  tpu_gdma_cpy_L2S(args->out, BANK(4), &result, NULL, NULL, DT_INT32);
}
KERNEL(ok_deviation_summed_regions) {
  FILL_ALL;
  tpu_gdma_cpy_L2S(args->out, BANK(0), &kImage, NULL, NULL, DT_INT8);
}
