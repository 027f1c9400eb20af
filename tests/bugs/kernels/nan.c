// Values that are no numbers: where they come from.
#include "bugs.h"

#define FILL(dst, value) tpu_bdc_set_C(dst, (scalar_t){.f32 = (value)}, &kWhole, NULL, DT_FP32)
#define MULTIPLY(dst, x, y) tpu_bdc_fp_mul(dst, x, y, &kWhole, NULL, NULL, NULL, DT_FP32)

// A NaN is reported where it begins, not where it goes.
// options --check=all,nan
KERNEL(bug_zero_by_zero) {
  FILL(BANK(0), 0);
  tpu_bdc_fp32_div(BANK(1), BANK(0), BANK(0), &kWhole, NULL, NULL, NULL);  // finds nan/nan
  ADD(BANK(2), BANK(1), BANK(0), kWhole);
}
// options --check=all,nan
KERNEL(ok_zero_by_zero) {
  FILL(BANK(0), 0);
  tpu_bdc_fp_add_C(BANK(3), BANK(0), (scalar_t){.f32 = 1e-6F}, &kWhole, NULL, NULL, DT_FP32);
  tpu_bdc_fp32_div(BANK(1), BANK(0), BANK(3), &kWhole, NULL, NULL, NULL);
  ADD(BANK(2), BANK(1), BANK(0), kWhole);
}

// options --check=all,nan
KERNEL(bug_overflow_of_f32) {
  FILL(BANK(0), 1e30F);
  MULTIPLY(BANK(1), BANK(0), BANK(0));  // finds nan/infinity
  ADD(BANK(2), BANK(1), BANK(0), kWhole);
}
// options --check=all,nan
KERNEL(ok_overflow_of_f32) {
  FILL(BANK(0), 1e15F);
  MULTIPLY(BANK(1), BANK(0), BANK(0));
  ADD(BANK(2), BANK(1), BANK(0), kWhole);
}

// options --check=all,nan
KERNEL(bug_overflow_of_f16) {
  FILL(BANK(0), 70000);
  tpu_bdc_cast(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);  // finds nan/infinity
}
// options --check=all,nan
KERNEL(ok_overflow_of_f16) {
  FILL(BANK(0), 60000);
  tpu_bdc_cast(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
}

// The difference of two infinities that the program itself put there is a NaN that was not there before.
// options --check=all,nan
KERNEL(bug_infinity_less_infinity) {
  FILL(BANK(0), __builtin_inff());
  tpu_bdc_fp_sub(BANK(1), BANK(0), BANK(0), &kWhole, NULL, NULL, NULL, DT_FP32);  // finds nan/nan
}
// options --check=all,nan
KERNEL(ok_infinity_less_infinity) {
  FILL(BANK(0), __builtin_inff());
  FILL(BANK(2), 1);
  tpu_bdc_fp_sub(BANK(1), BANK(0), BANK(2), &kWhole, NULL, NULL, NULL, DT_FP32);
}
