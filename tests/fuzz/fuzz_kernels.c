// A kernel that any arguments may be passed to.
#include "tpu_kernel.h"

void nothing(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(nothing)
