// Made by a compiler from mm_bias.pl: out = left x right + bias, the rows shared among the workitems.
#include "tpu_kernel.h"

typedef struct {
  unsigned long long v1, v2, v3, v4;
  int v5, v6, v7;
  int pad;
} mm_bias_api_t;

#define V_BLOCK_M 32
#define V_COLUMNS 16

static local_addr_t v_matrix_bytes(int rows, int cols) {
  const int channels = DIV_UP(cols, V_COLUMNS);
  const int per_npu = DIV_UP(channels, tpu_npu_num());
  return (local_addr_t)(rows * per_npu * ALIGN(V_COLUMNS, tpu_eu_num(DT_FP32)) * 4);
}

static void mm_bias_kernel(unsigned long long v1, unsigned long long v2, unsigned long long v3, unsigned long long v4,
                           int v5, int v6, int v7) {
  const int v8 = DIV_UP(v5, tpu_workitem_num());
  const int v9 = v8 * tpu_workitem_index();
  const int v10 = MIN(v5, v9 + v8);
  const local_addr_t v11 = 0;
  const local_addr_t v12 = v11 + v_matrix_bytes(v6, v7);
  const local_addr_t v13 = v12 + v_matrix_bytes(1, v7);
  const local_addr_t v14 = v13 + v_matrix_bytes(V_BLOCK_M, v6);
  tpu_gdma_matrix_S2L(v11, v3, v6, v7, V_COLUMNS, v7, DT_FP32);
  tpu_gdma_matrix_S2L(v12, v4, 1, v7, V_COLUMNS, v7, DT_FP32);
  for (int v15 = v9; v15 < v10; v15 += V_BLOCK_M) {
    const int v16 = MIN(V_BLOCK_M, v10 - v15);
    tpu_gdma_matrix_S2L(v13, v2 + 4ull * (unsigned)v15 * (unsigned)v6, v16, v6, V_COLUMNS, v6, DT_FP32);
    tpu_bdc_fp32_mm(v14, v13, v11, v12, v16, v6, v7, V_COLUMNS, V_COLUMNS, true, false);
    tpu_gdma_matrix_L2S(v1 + 4ull * (unsigned)v15 * (unsigned)v7, v14, v16, v7, V_COLUMNS, v7, DT_FP32);
  }
}

void mm_bias(const void* args) {
  const mm_bias_api_t* api = (const mm_bias_api_t*)args;
  tpu_initialize();
  mm_bias_kernel(api->v1, api->v2, api->v3, api->v4, api->v5, api->v6, api->v7);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(mm_bias)
