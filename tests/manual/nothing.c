/* The kernel of the examples of host functions. */
#include <tpu_kernel.h>

static void nothing(const void* args) { (void)args; }
TPUKERNEL_FUNC_REGISTER(nothing)
