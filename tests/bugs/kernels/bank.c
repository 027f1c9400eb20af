// Operands and engines that wait for each other's bank.
#include "bugs.h"

KERNEL(bug_operands_in_one_bank) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(0) + 4096, args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0) + 4096, kWhole);  // finds bank/operands
}
KERNEL(ok_operands_in_one_bank) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(2), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(2), kWhole);
}

KERNEL(bug_result_in_operands_bank) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_relu(BANK(0) + 8192, BANK(0), &kWhole, NULL, NULL, DT_FP32);  // finds bank/operands
}
KERNEL(ok_result_in_operands_bank) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_relu(BANK(0), BANK(0), &kWhole, NULL, NULL, DT_FP32);
}

KERNEL(bug_engines_in_one_bank) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(0) + 8192, args->b, kWhole);
  tpu_bdc_relu(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP32);  // finds bank/overlap
  tpu_parallel_end();
}
KERNEL(ok_engines_in_one_bank) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(2), args->b, kWhole);
  tpu_bdc_relu(BANK(1), BANK(0), &kWhole, NULL, NULL, DT_FP32);
  tpu_parallel_end();
}
