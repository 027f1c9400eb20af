/* A second module, for a launch that mixes programs. */
#include "tpu_kernel.h"

static void elsewhere(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(elsewhere)
