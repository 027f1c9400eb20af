/* A kernel that includes the header that came before okk.h, as older projects do, and one that calls a function of it.
 */
#include "bm_atomic.h"

static void atomic_included(const void* args) {
  (void)args;
  okk_initialize();
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(atomic_included)

static void atomic_called(const void* args) {
  PoolParam param = {0};
  (void)args;
  param.kernel_h = param.kernel_w = 2;
  bm_atomic_max_pool(&param);
}
OKKERNEL_FUNC_REGISTER(atomic_called)
