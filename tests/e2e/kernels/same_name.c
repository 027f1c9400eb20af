/* Built several times with different values of E2E_VALUE: equal names in several modules. */
#include "e2e_param.h"
#include "tpu_kernel.h"

void e2e_same(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  *(int*)tpu_global_mem_addr(param->address) = E2E_VALUE;
}
TPUKERNEL_FUNC_REGISTER(e2e_same)
