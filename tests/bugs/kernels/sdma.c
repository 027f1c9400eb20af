// BM1690's second copy engine, which reaches system memories only, beside the others.
// chip bm1690
#include "bugs.h"

static const dim4 kRow = {1, 1, 1, 1024};

#define SDMA(dst, src) tpu_sdma_cpy_S2S(dst, src, &kRow, NULL, NULL, DT_FP32)

KERNEL(bug_load_while_sdma_writes) {
  SDMA(args->scratch, args->b);
  tpu_sdma_poll();
  tpu_parallel_start();
  SDMA(args->scratch, args->a);
  LOAD(BANK(0), args->scratch, kRow);  // finds race/raw
  tpu_parallel_end();
  tpu_sdma_poll();
  STORE(args->out, BANK(0), kRow);
}
KERNEL(ok_load_while_sdma_writes) {
  tpu_parallel_start();
  SDMA(args->scratch, args->a);
  LOAD(BANK(0), args->b, kRow);
  tpu_parallel_end();
  tpu_sdma_poll();
  LOAD(BANK(1), args->scratch, kRow);
  STORE(args->out, BANK(1), kRow);
}

KERNEL(bug_sdma_over_what_gdma_reads) {
  SDMA(args->scratch, args->a);
  tpu_sdma_poll();
  tpu_parallel_start();
  LOAD(BANK(0), args->scratch, kRow);
  SDMA(args->scratch, args->b);  // finds race/war
  tpu_parallel_end();
  tpu_sdma_poll();
  STORE(args->out, BANK(0), kRow);
}
KERNEL(ok_sdma_over_what_gdma_reads) {
  SDMA(args->scratch, args->a);
  tpu_sdma_poll();
  tpu_parallel_start();
  LOAD(BANK(0), args->scratch, kRow);
  tpu_parallel_end();
  SDMA(args->scratch, args->b);
  tpu_sdma_poll();
  STORE(args->out, BANK(0), kRow);
}

KERNEL(bug_both_copy_engines_write) {
  LOAD(BANK(0), args->a, kRow);
  tpu_parallel_start();
  SDMA(args->out, args->b);
  STORE(args->out, BANK(0), kRow);  // finds race/waw
  tpu_parallel_end();
  tpu_sdma_poll();
}
KERNEL(ok_both_copy_engines_write) {
  LOAD(BANK(0), args->a, kRow);
  tpu_parallel_start();
  SDMA(args->scratch, args->b);
  STORE(args->out, BANK(0), kRow);
  tpu_parallel_end();
  tpu_sdma_poll();
}

// tpu_poll() does not wait for SDMA.
KERNEL(bug_poll_for_sdma) {
  float* table = tpu_l2_sram_addr(tpu_l2_sram_get_start_addr());
  SDMA(tpu_l2_sram_get_start_addr(), args->a);  // finds race/processor
  tpu_poll();
  table[3] = 1.0f;
  tpu_sdma_poll();
}
KERNEL(ok_poll_for_sdma) {
  float* table = tpu_l2_sram_addr(tpu_l2_sram_get_start_addr());
  SDMA(tpu_l2_sram_get_start_addr(), args->a);
  tpu_sdma_poll();
  table[3] = 1.0f;
}

KERNEL(bug_sdma_goes_on) {
  LOAD(BANK(0), args->a, kRow);
  STORE(args->out, BANK(0), kRow);
  SDMA(args->scratch, args->b);  // finds constraint/unpolled
}
KERNEL(ok_sdma_goes_on) {
  LOAD(BANK(0), args->a, kRow);
  STORE(args->out, BANK(0), kRow);
  SDMA(args->scratch, args->b);
  tpu_sdma_poll();
}

// A kernel that waits for SDMA inside a section may use what SDMA has written, and only that.
KERNEL(bug_wait_for_the_other_engine) {
  SDMA(args->scratch, args->b);
  tpu_sdma_poll();
  tpu_parallel_start();
  LOAD(BANK(0), args->scratch, kRow);
  SDMA(args->out, args->a);
  tpu_sdma_poll();
  SDMA(args->scratch, args->a);  // finds race/war
  tpu_parallel_end();
  tpu_sdma_poll();
}
KERNEL(ok_wait_for_the_other_engine) {
  tpu_parallel_start();
  SDMA(args->scratch, args->a);
  tpu_sdma_poll();
  LOAD(BANK(0), args->scratch, kRow);
  tpu_parallel_end();
  STORE(args->out, BANK(0), kRow);
}
