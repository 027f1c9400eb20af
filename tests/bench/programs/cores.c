/* What several cores cost and gain: `count` meetings, and as many products, shared among the cores of the launch. */
#include "tpu_kernel.h"

static void bench_meet(const void* args) {
  const int count = *(const int*)args;
  for (int i = 0; i < count; ++i) tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(bench_meet)

static void bench_products(const void* args) {
  const int count = *(const int*)args, cores = tpu_core_num();
  tpu_initialize();
  for (int i = tpu_core_index(); i < count; i += cores) {
    tpu_bdc_fp32_mm(0x20000, 0, 0x10000, 0, 128, 128, 128, 128, 128, false, false);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(bench_products)
