/* A kernel with a large array on its stack, and one that uses functions on which the SDK's own emulator dies. */
#include <string.h>

#include "okk.h"

typedef struct {
  unsigned long long output_addr;
} __attribute__((packed)) stack_param_t;

void stack(const void* args) {
  const stack_param_t* param = (const stack_param_t*)args;
  int values[512 * 1024];
  okk_initialize();
  for (int i = 0; i < 512 * 1024; ++i) values[i] = i * 3;
  x32 all;
  all.u32 = 0x00FF00FFu;
  const dim4 shape = {1, 1, 1, 16};
  okk_bdc_32bit_set_C(0, all, &shape, NULL);
  okk_bdc_32bit_and_C(0, 0, all, &shape, NULL, NULL);
  okk_gdma_32bit_cpy_L2S(param->output_addr, 0, &shape, NULL, NULL);
  okk_poll();
  int* out = (int*)okk_global_mem_addr(param->output_addr);
  memcpy(out + 16, values + 512 * 1024 - 16, 16 * sizeof(int));
}
OKKERNEL_FUNC_REGISTER(stack);
