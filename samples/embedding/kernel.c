// out[t] = table[tokens[t]] + positions[t]. A token is a channel: a row of the table is gathered into each NPU at a
// time, and stays there for the addition.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

int embedding(const void* raw) {
  const embedding_args_t* args = raw;
  const int npus = tpu_npu_num(), size = args->size;
  const local_addr_t bytes = (local_addr_t)tpu_aligned_feature_size(1, size, DT_FP16);
  const local_addr_t words = 0, positions = words + bytes;
  TPUKERNEL_ASSERT(args->count > 0 && size > 0 && args->words > 0 && args->words <= 65535);
  TPUKERNEL_ASSERT(2 * bytes <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  // C stride 0: all channels share one table. The indices are (1, tokens, 1, 1): one for each channel.
  const dim4 shared = {0, 0, size, 1};
  const scalar_t unknown = {.u16 = 0};  // what a token beyond the table becomes
  for (int first = 0; first < args->count; first += npus) {
    const dim4 shape = {1, MIN(npus, args->count - first), 1, size};
    const address_t offset = 2 * (address_t)first * (unsigned)size;
    tpu_gdma_h_gather_S2L(words, args->table, args->tokens + 4 * (address_t)first, false, unknown, &shape, args->words,
                          NULL, &shared, NULL, DT_FP16);
    tpu_gdma_cpy_S2L(positions, args->positions + offset, &shape, NULL, NULL, DT_FP16);
    tpu_bdc_fp_add(words, words, positions, &shape, NULL, NULL, NULL, DT_FP16);
    tpu_gdma_cpy_L2S(args->out + offset, words, &shape, NULL, NULL, DT_FP16);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(embedding)
