/* As a large module on a busy machine does. */
#include <unistd.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

__attribute__((constructor)) static void wait_a_moment(void) {
  static const char begins[] = "e2e_loads_slowly begins\n";
  if (write(2, begins, sizeof begins - 1) > 0) usleep(700000);
}

static int calls;
/* The core's own count of its calls, which begins anew in a new process. */
void e2e_slow_count(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  *(int*)tpu_global_mem_addr(param->address) = ++calls;
}
TPUKERNEL_FUNC_REGISTER(e2e_slow_count)
