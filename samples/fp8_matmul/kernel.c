// A product of FP8 matrices whose results are rescaled column by column.
#include <tpu_kernel.h>

#include "args.h"

int fp8_matmul(const void* raw) {
  const fp8_matmul_args_t* args = raw;
  const dim4 left_shape = {1, args->rows, 1, args->inner}, right_shape = {1, args->inner, 1, args->columns};
  const dim4 out_shape = {1, args->rows, 1, args->columns}, factor_shape = {1, tpu_npu_num(), 1, args->columns};
  // Rows are channels; so many of them lie on each NPU.
  const int left_rows = tpu_channle_num_per_npu(0, args->rows), right_rows = tpu_channle_num_per_npu(0, args->inner);
  const local_addr_t left = 0;
  const local_addr_t right = left + (local_addr_t)(tpu_aligned_feature_size(1, args->inner, DT_FP8E4M3) * left_rows);
  const local_addr_t factors =
      right + (local_addr_t)(tpu_aligned_feature_size(1, args->columns, DT_FP8E4M3) * right_rows);
  const local_addr_t out = factors + (local_addr_t)tpu_aligned_feature_size(1, args->columns, DT_FP32);
  const local_addr_t end = out + (local_addr_t)(tpu_aligned_feature_size(1, args->columns, DT_FP32) * left_rows);
  TPUKERNEL_ASSERT(end <= (local_addr_t)tpu_local_mem_size_per_npu());
  tpu_initialize();
  tpu_gdma_cpy_S2L(left, args->left, &left_shape, NULL, NULL, DT_FP8E4M3);
  tpu_gdma_cpy_S2L(right, args->right, &right_shape, NULL, NULL, DT_FP8E4M3);
  // Each NPU reads the factors for its own rows.
  tpu_gdma_channel_bcast_S2L(factors, args->factors, &factor_shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp8_mm(out, left, right, args->rows, args->inner, args->columns, DT_FP32, DT_FP8E4M3, DT_FP8E4M3, false, true,
                 false, (var_context_t){.addr = factors});
  tpu_gdma_cpy_L2S(args->out, out, &out_shape, NULL, NULL, DT_FP32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(fp8_matmul)
