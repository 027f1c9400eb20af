/* The smallest kernels: what a launch costs without work. */
#include <tpu_kernel.h>

void bench_nothing(const void* args) { (void)args; }
TPUKERNEL_FUNC_REGISTER(bench_nothing)
