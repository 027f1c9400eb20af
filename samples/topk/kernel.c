// The k largest values of each row and where they stand. Sorting is the work of the HAU, which reads and writes global
// memory: local memory is not touched.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

int topk(const void* raw) {
  const topk_args_t* args = raw;
  TPUKERNEL_ASSERT(args->rows > 0 && args->k > 0 && args->k <= args->columns);
  tpu_initialize();
  for (int row = 0; row < args->rows; ++row) {
    const address_t first = 4 * (address_t)row * (unsigned)args->k;
    tpu_hau_sort_natural_index(args->values + first, args->places + first,
                               args->in + 4 * (address_t)row * (unsigned)args->columns, args->columns, args->k, true,
                               DT_FP32);
  }
  tpu_hau_poll();  // tpu_poll waits for the two other engines only
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(topk)
