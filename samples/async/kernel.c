// data = data * factor + summand: a step whose order matters.
#include <tpu_kernel.h>

#include "args.h"

int step(const void* raw) {
  const step_args_t* args = raw;
  const dim4 shape = {1, args->channels, 1, args->per_channel};
  const unsigned bytes =
      tpu_aligned_feature_size(1, args->per_channel, DT_FP32) * (unsigned)DIV_UP(args->channels, tpu_npu_num());
  TPUKERNEL_ASSERT(args->channels > 0 && args->per_channel > 0 && bytes <= (unsigned)tpu_local_mem_size_per_npu());
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, args->data, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_mul_C(0, 0, (scalar_t){.f32 = args->factor}, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add_C(0, 0, (scalar_t){.f32 = args->summand}, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(args->data, 0, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(step)
