/* Needs a function that is not defined. */
#include "tpu_kernel.h"

void e2e_nobody_has_this(void);
void e2e_unresolved(const void* args) {
  (void)args;
  e2e_nobody_has_this();
}
TPUKERNEL_FUNC_REGISTER(e2e_unresolved)
