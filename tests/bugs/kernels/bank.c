// Operands and engines that wait for each other's bank, often enough to matter beside what a launch costs.
#include "bugs.h"

// Half a bank of each NPU.
static const dim4 kHalf = {1, 64, 32, 64};

#define FILL(dst) tpu_bdc_set_C(dst, (scalar_t){.f32 = 1}, &kHalf, NULL, DT_FP32)
#define CLEAR_BY_COPY_ENGINE(dst) tpu_gdma_set_C_local(dst, (scalar_t){.f32 = 0}, &kHalf, NULL, DT_FP32)
#define RELU(dst, src) tpu_bdc_relu(dst, src, &kHalf, NULL, NULL, DT_FP32)

// options --check=all,bank
KERNEL(bug_operands_in_one_bank) {
  FILL(BANK(0));
  FILL(BANK(0) + 8192);
  for (int i = 0; i < 16; ++i) ADD(BANK(1), BANK(0), BANK(0) + 8192, kHalf);  // finds bank/operands
}
// options --check=all,bank
KERNEL(ok_operands_in_one_bank) {
  FILL(BANK(0));
  FILL(BANK(2));
  for (int i = 0; i < 16; ++i) ADD(BANK(1), BANK(0), BANK(2), kHalf);
}

// options --check=all,bank
KERNEL(bug_result_in_operands_bank) {
  FILL(BANK(0));
  for (int i = 0; i < 16; ++i) RELU(BANK(0) + 8192, BANK(0));  // finds bank/operands
}
// options --check=all,bank
KERNEL(ok_result_in_operands_bank) {
  FILL(BANK(0));
  for (int i = 0; i < 16; ++i) RELU(BANK(0), BANK(0));
}

// options --check=all,bank
KERNEL(bug_engines_in_one_bank) {
  FILL(BANK(0));
  tpu_parallel_start();
  CLEAR_BY_COPY_ENGINE(BANK(0) + 8192);
  for (int i = 0; i < 16; ++i) RELU(BANK(1), BANK(0));  // finds bank/overlap
  tpu_parallel_end();
}
// options --check=all,bank
KERNEL(ok_engines_in_one_bank) {
  FILL(BANK(0));
  tpu_parallel_start();
  CLEAR_BY_COPY_ENGINE(BANK(3));
  for (int i = 0; i < 16; ++i) RELU(BANK(1), BANK(0));
  tpu_parallel_end();
}

// Two pairs of calls are one note; what costs nearly nothing is none.
// options --check=all,bank
KERNEL(bug_only_one_pays) {
  LOAD(BANK(4), args->a, kWhole);
  LOAD(BANK(4) + 8192, args->b, kWhole);
  ADD(BANK(5), BANK(4), BANK(4) + 8192, kWhole);
  FILL(BANK(0));
  for (int i = 0; i < 16; ++i) RELU(BANK(0) + 8192, BANK(0));  // finds bank/operands
}
// options --check=all,bank
KERNEL(ok_only_one_pays) {
  LOAD(BANK(4), args->a, kWhole);
  LOAD(BANK(4) + 8192, args->b, kWhole);
  ADD(BANK(5), BANK(4), BANK(4) + 8192, kWhole);
  FILL(BANK(0));
  for (int i = 0; i < 16; ++i) RELU(BANK(1), BANK(0));
}

// A note of the whole launch comes after the error in it.
// options --check=bank,race
KERNEL(bug_race_and_bank) {
  FILL(BANK(0));
  tpu_parallel_start();
  CLEAR_BY_COPY_ENGINE(BANK(0) + 8192);
  for (int i = 0; i < 16; ++i) RELU(BANK(1), BANK(0));  // finds bank/overlap
  RELU(BANK(2), BANK(0) + 8192);                        // finds race/raw
  tpu_parallel_end();
}
// options --check=bank,race
KERNEL(ok_race_and_bank) {
  FILL(BANK(0));
  tpu_parallel_start();
  CLEAR_BY_COPY_ENGINE(BANK(3));
  for (int i = 0; i < 16; ++i) RELU(BANK(1), BANK(0));
  tpu_parallel_end();
  RELU(BANK(2), BANK(3));
}
