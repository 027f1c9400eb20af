// FP8 calls whose results the recorded emulator of BM1690 computes otherwise.
// chip bm1690
#include "bugs.h"

static const dim4 kSquare = {1, 64, 1, 64};

#define FILL(dst, type) tpu_bdc_set_C(dst, (scalar_t){.u16 = 0}, &kSquare, NULL, type)
#define MULTIPLY(function)                                                                              \
  function(BANK(4), BANK(0), BANK(1), 64, 64, 64, DT_FP32, DT_FP8E4M3, DT_FP8E4M3, false, false, false, \
           (var_context_t){})

KERNEL(bug_deviation_transposed_fp8) {
  FILL(BANK(0), DT_FP8E4M3);
  FILL(BANK(1), DT_FP8E4M3);
  MULTIPLY(tpu_bdc_fp8_mm_all_trans);  // finds constraint/deviation
  STORE(args->out, BANK(4), kSquare);
}
KERNEL(ok_deviation_transposed_fp8) {
  FILL(BANK(0), DT_FP8E4M3);
  FILL(BANK(1), DT_FP8E4M3);
  MULTIPLY(tpu_bdc_fp8_mm_R_trans);
  STORE(args->out, BANK(4), kSquare);
}
