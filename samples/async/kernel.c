// data = data * factor + summand: a step whose order matters.
#include <tpu_kernel.h>

#include "args.h"

int step(const void* raw) {
  const step_args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, args->per_npu};
  TPUKERNEL_ASSERT(args->per_npu > 0 && args->per_npu <= 16384);
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->data, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_mul_C(0, 0, (scalar_t){.f32 = args->factor}, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add_C(0, 0, (scalar_t){.f32 = args->summand}, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->data, 0, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(step)
