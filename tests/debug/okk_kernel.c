// A kernel for BM1684 with the types of OKKernel.
#include <okk.h>

#include "args.h"

int okk_typed(const void* raw) {
  const debug_args_t* args = raw;
  const dim4 shape = {1, 64, 4, 16};
  x32 constant;
  constant.fp32 = -2.0f;
  okk_initialize();
  okk_gdma_32bit_cpy_S2L(0, args->data, &shape, NULL, NULL);
  okk_poll();
  return constant.s32;
}
OKKERNEL_FUNC_REGISTER(okk_typed)
