// A double-buffered copy with one buffer too few, so that the engines touch the same bytes; and a result that takes
// bytes of an operand which is read again.
#include "tpu_kernel.h"

#define PIECES 6
#define ROW 4096
#define BYTES (ROW * 4)

int racy(const void* raw);
int racy(const void* raw) {
  const unsigned long long memory = *(const unsigned long long*)raw;
  const dim4 shape = {1, tpu_npu_num(), 1, ROW};
  const local_addr_t in = 0, other = 4 * BYTES, out = 5 * BYTES + BYTES / 2;
  tpu_initialize();
  tpu_gdma_cpy_S2L(other, memory, &shape, NULL, NULL, DT_FP32);
  for (int i = 0; i < PIECES; ++i) {
    tpu_gdma_cpy_S2L(other + BYTES, memory, &shape, NULL, NULL, DT_FP32);
    tpu_parallel_start();
    tpu_gdma_cpy_S2L(in, memory, &shape, NULL, NULL, DT_FP32);
    tpu_bdc_fp_add(out, in, other, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_parallel_end();
    tpu_bdc_fp_mul(out + 2 * BYTES, other + BYTES, other, &shape, NULL, NULL, NULL, DT_FP32);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(racy)

int crashing(const void* raw);
int crashing(const void* raw) {
  (void)raw;
  tpu_initialize();
  *(volatile int*)16 = 1;
  return 0;
}
TPUKERNEL_FUNC_REGISTER(crashing)
