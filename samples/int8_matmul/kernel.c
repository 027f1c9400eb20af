// A fully connected layer in 8 bits: out = requantised(weights x (in - zero point) + bias), each output with a
// multiplier, a shift and an offset of its own. The weights stay in local memory, rows of the input pass through in
// tiles.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

enum { TILE = 128 };  // rows of the input

// The product is computed as outputs x rows: an output is a channel, which is what tpu_bdc_int_pc_requant scales.
int int8_matmul(const void* raw) {
  const int8_matmul_args_t* args = raw;
  const int k = args->inputs, n = args->outputs;
  const int channels = tpu_channle_num_per_npu(0, n);
  const dim4 matrix = {1, n, 1, k}, per_output = {1, n, 1, 1}, table = {1, n, 1, args->requant_words};
  const local_addr_t weights = 0;
  const local_addr_t bias = weights + (local_addr_t)(channels * tpu_aligned_feature_size(1, k, DT_INT8));
  const local_addr_t requant = bias + (local_addr_t)(channels * tpu_aligned_feature_size(1, 1, DT_INT32));
  const local_addr_t in = requant + (local_addr_t)(channels * tpu_aligned_feature_size(1, 3, DT_INT32));
  const local_addr_t sums =
      in + (local_addr_t)(tpu_channle_num_per_npu(0, TILE) * tpu_aligned_feature_size(1, k, DT_INT8));
  const local_addr_t out = sums + (local_addr_t)(channels * tpu_aligned_feature_size(1, TILE, DT_INT32));
  const local_addr_t end = out + (local_addr_t)(channels * tpu_aligned_feature_size(1, TILE, DT_UINT8));
  TPUKERNEL_ASSERT(args->rows > 0 && k > 0 && n > 0);
  TPUKERNEL_ASSERT(end <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  tpu_gdma_cpy_S2L(weights, args->weights, &matrix, NULL, NULL, DT_INT8);
  tpu_gdma_cpy_S2L(bias, args->bias, &per_output, NULL, NULL, DT_INT32);
  if (args->requant_words == 3) {
    tpu_gdma_cpy_S2L(requant, args->requant, &table, NULL, NULL, DT_INT32);
  } else {
    tpu_gdma_compact_S2L(requant, args->requant, &table, DT_INT32);
  }
  dim4 repeat;  // the bias of a channel serves its whole row: W stride 0
  tpu_aligned_stride(&repeat, 0, &per_output, DT_INT32);
  repeat.h = repeat.w = 0;
  const scalar_t zero = {.s8 = (signed char)args->in_zero};
  for (int row = 0; row < args->rows; row += TILE) {
    const int rows = MIN(TILE, args->rows - row);
    const dim4 in_shape = {1, rows, 1, k}, shape = {1, n, 1, rows}, stored = {1, rows, 1, n};
    tpu_gdma_cpy_S2L(in, args->in + (address_t)row * (unsigned)k, &in_shape, NULL, NULL, DT_INT8);
    tpu_bdc_int8_zp_mm_R_trans(sums, weights, in, zero, n, k, rows, DT_INT8, DT_INT8);
    tpu_bdc_int_add(sums, sums, bias, &shape, NULL, NULL, &repeat, DT_INT32, DT_INT32, DT_INT32, 0, RM_HALF_UP, false);
    tpu_bdc_int_pc_requant(out, sums, requant, &shape, DT_UINT8, DT_INT32, RM_HALF_UP);
    tpu_gdma_cpy_cw_trans_L2S(args->out + (address_t)row * (unsigned)n, out, &stored, NULL, NULL, DT_UINT8);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(int8_matmul)
