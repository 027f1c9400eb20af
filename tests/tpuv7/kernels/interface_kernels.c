// Kernels that need nothing of the system, for programs under checks.
#include "tests/tpuv7/kernels/rt_param.h"
#include "tpu_kernel.h"

void add_tensors(const void* args) {
  const rt_param_t* param = (const rt_param_t*)args;
  const dim4 shape = {1, tpu_npu_num(), 1, param->value};
  const unsigned long long bytes = (unsigned long long)(tpu_npu_num() * param->value) * 4;
  const unsigned size = (unsigned)param->value * 4;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, param->address, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(size, param->address + bytes, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(2 * size, 0, size, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(param->address + 2 * bytes, 2 * size, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add_tensors)

void crash(const void* args) {
  volatile int* volatile nowhere = NULL;
  UNUSED(args);
  *nowhere = 1;
}
TPUKERNEL_FUNC_REGISTER(crash)
