#include <tpu_kernel.h>

typedef struct {
  unsigned long long input, output;
  int count;
} __attribute__((packed)) param_t;

// output = input + input, through local memory.
static void add_to_itself(const void* args) {
  const param_t* param = (const param_t*)args;
  const dim4 shape = {1, NPU_NUM, 1, DIV_UP(param->count, NPU_NUM)};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, param->input, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_add(0x4000, 0, 0, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(param->output, 0x4000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add_to_itself)
