/* Needs a function of the RISC-V mode, which is not emulated. */
#include "tpu_kernel.h"

void rvt_abs(void);
void e2e_needs_rvt(const void* args) {
  (void)args;
  rvt_abs();
}
TPUKERNEL_FUNC_REGISTER(e2e_needs_rvt)
