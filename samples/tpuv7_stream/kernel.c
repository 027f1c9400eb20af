// out = a + factor * b. Every workitem sees the same arguments and takes its own share of them.
#include <tpu_kernel.h>

#include "args.h"

int axpy(const void* raw) {
  const axpy_args_t* args = raw;
  const int share = args->per_npu / tpu_workitem_num();
  const unsigned long long first = 4ull * (unsigned)(tpu_workitem_index() * share) * (unsigned)tpu_npu_num();
  const dim4 shape = {1, tpu_npu_num(), 1, share};
  const local_addr_t bytes = (local_addr_t)share * 4;
  TPUKERNEL_ASSERT(share > 0 && share <= 4096 && args->per_npu % tpu_workitem_num() == 0);
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->a + first, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(bytes, args->b + first, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_mul_C(bytes, bytes, (scalar_t){.f32 = (float)args->factor}, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(2 * bytes, 0, bytes, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->out + first, 2 * bytes, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(axpy)
