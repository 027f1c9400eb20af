// out = softmax(queries x keys^T * scale) x values for each head. Keys and values of a head stay in local memory; 64
// queries at a time, one for each NPU. Scores and softmax are fp32.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

typedef struct {
  local_addr_t keys, values, queries, scores, exponentials, work0, work1, weights, out, per_row, coeff, table, end;
} buffers_t;

static buffers_t place(int tokens, int size) {
  const int rows = tpu_channle_num_per_npu(0, tokens);
  const local_addr_t matrix = (local_addr_t)(rows * tpu_aligned_feature_size(1, size, DT_FP16));
  const local_addr_t query = (local_addr_t)tpu_aligned_feature_size(1, size, DT_FP16);
  const local_addr_t row = (local_addr_t)tpu_aligned_feature_size(1, tokens, DT_FP32);
  buffers_t at;
  at.keys = 0;
  at.values = at.keys + matrix;
  at.queries = at.values + matrix;
  at.scores = at.queries + query;
  at.exponentials = at.scores + row;
  at.work0 = at.exponentials + row;
  at.work1 = at.work0 + row;
  at.weights = at.work1 + row;
  at.out = at.weights + row;
  at.per_row = at.out + query;
  at.coeff = at.per_row + 64;
  at.table = at.coeff + 256;
  at.end = at.table + 1024;
  return at;
}

// at->weights = softmax of each row of at->scores, in fp16.
static void softmax(const buffers_t* at, const dim4* shape) {
  const dim4 one_per_row = {1, shape->c, 1, 1};
  const dim2 row = {1, shape->w}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const scalar_t scale = {.f32 = 1};
  dim4 repeat;  // one number of a row for all its columns: W stride 0
  tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
  repeat.h = repeat.w = 0;
  tpu_bdc_fp_max_pool2d(at->per_row, at->scores, shape, &row, &none, &one, &one, DT_FP32, scale);
  tpu_bdc_fp_sub(at->scores, at->scores, at->per_row, shape, NULL, NULL, &repeat, DT_FP32);
  tpu_bdc_fp32_exp(at->exponentials, at->scores, at->work0, at->work1, at->coeff, at->table, shape);
  tpu_bdc_fp_avg_pool2d(at->per_row, at->exponentials, shape, &row, &none, &one, &one, DT_FP32, scale);
  tpu_bdc_fp_div(at->exponentials, at->exponentials, at->per_row, shape, NULL, NULL, &repeat, DT_FP32);
  tpu_bdc_cast(at->weights, at->exponentials, shape, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
}

static void one_head(const attention_args_t* args, const buffers_t* at, int head) {
  const int tokens = args->tokens, size = args->size, width = args->heads * size;
  const dim4 matrix = {1, tokens, 1, size}, stride = {0, width, width, 1};
  const address_t first = 2 * (address_t)(head * size);
  tpu_gdma_cpy_S2L(at->keys, args->keys + first, &matrix, NULL, &stride, DT_FP16);
  tpu_gdma_cpy_S2L(at->values, args->values + first, &matrix, NULL, &stride, DT_FP16);
  for (int query = 0; query < tokens; query += tpu_npu_num()) {
    const int rows = MIN(tpu_npu_num(), tokens - query);
    const dim4 block = {1, rows, 1, size}, scores = {1, rows, 1, tokens};
    const address_t offset = first + 2 * (address_t)query * (unsigned)width;
    tpu_gdma_cpy_S2L(at->queries, args->queries + offset, &block, NULL, &stride, DT_FP16);
    tpu_bdc_fp_mm_R_trans(at->scores, at->queries, at->keys, rows, size, tokens, DT_FP32, DT_FP16);
    tpu_bdc_fp_mul_C(at->scores, at->scores, (scalar_t){.f32 = args->scale}, &scores, NULL, NULL, DT_FP32);
    softmax(at, &scores);
    tpu_bdc_fp_mm(at->out, at->weights, at->values, rows, tokens, size, DT_FP16, DT_FP16, false);
    tpu_gdma_cpy_L2S(args->out + offset, at->out, &block, &stride, NULL, DT_FP16);
  }
}

int attention(const void* raw) {
  const attention_args_t* args = raw;
  TPUKERNEL_ASSERT(args->tokens > 0 && args->heads > 0 && args->size > 0);
  const buffers_t at = place(args->tokens, args->size);
  TPUKERNEL_ASSERT(at.end <= (local_addr_t)tpu_local_mem_size_per_npu());
  tpu_initialize();
  tpu_bdc_load_fp32_exp_coeff(at.coeff);
  tpu_bdc_load_fp32_exp_table(at.table);
  for (int head = 0; head < args->heads; ++head) one_head(args, &at, head);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(attention)
