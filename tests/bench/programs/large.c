/* A kernel of commands that are large enough for all threads: half a million elements each. */
#include <tpu_kernel.h>

enum { kCommands = 20, kNpuBytes = 256 * 1024 / 8 };

void bench_large(const void* args) {
  const dim4 shape = {1, 64, 64, 128};
  (void)args;
  tpu_initialize();
  for (int i = 0; i < kCommands; ++i) tpu_bdc_fp_add(0, kNpuBytes, 2 * kNpuBytes, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(bench_large)
