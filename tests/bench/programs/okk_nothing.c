/* The smallest kernel of a BM1684. */
#include <okk.h>

void bench_okk_nothing(const void* args) { (void)args; }
OKKERNEL_FUNC_REGISTER(bench_okk_nothing)
