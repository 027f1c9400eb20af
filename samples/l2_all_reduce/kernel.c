// The sum of arrays, one of each core, for every core: each core adds up its part of all of them in L2 SRAM, which is
// one for all cores, then takes the whole sum from there.
#include <tpu_kernel.h>

#include "args.h"

int l2_all_reduce(const void* raw) {
  const all_reduce_args_t* args = raw;
  const int cores = tpu_core_num(), core = tpu_core_index();
  const int part = (args->count + cores - 1) / cores, first = core * part;
  const int length = args->count - first < part ? args->count - first : part;
  const unsigned long long l2 = tpu_l2_sram_get_start_addr();
  TPUKERNEL_ASSERT(args->count > 0 && args->count * (int)sizeof(float) <= tpu_l2_sram_size());
  tpu_initialize();
  if (length > 0) {
    const dim4 shape = {1, 1, 1, length};
    for (int other = 0; other < cores; ++other) {
      const unsigned long long from =
          args->in + ((unsigned long long)other * (unsigned)args->count + (unsigned)first) * 4;
      // The first array overwrites what L2 held, the others are added.
      tpu_sdma_cpy_reduce_S2L2(l2 + (unsigned)first * 4, from, &shape, NULL, NULL, DT_FP32,
                               other == 0 ? ALL_REDUCE_PSUM_WO : ALL_REDUCE_PSUM_WR, ALL_REDUCE_ADD);
    }
  }
  tpu_sdma_poll();
  tpu_sync_all();
  const dim4 whole = {1, 1, 1, args->count};
  tpu_sdma_cpy_S2S(args->out + (unsigned long long)core * (unsigned)args->count * 4, l2, &whole, NULL, NULL, DT_FP32);
  tpu_sdma_poll();
  tpu_poll();
  tpu_sync_all();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(l2_all_reduce)
