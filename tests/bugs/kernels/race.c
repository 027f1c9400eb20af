// Engines, and the processor, that touch the same bytes without an order.
#include <string.h>

#include "bugs.h"

KERNEL(bug_use_while_loading) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds race/raw
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_use_while_loading) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(2), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(3), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(2), kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}

KERNEL(bug_store_while_computing) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(2), args->b, kWhole);
  tpu_bdc_set_C(BANK(1), (scalar_t){.f32 = 0}, &kWhole, NULL, DT_FP32);
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(2), kWhole);
  STORE(args->out, BANK(1), kWhole);  // finds race/raw
  tpu_parallel_end();
}
KERNEL(ok_store_while_computing) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(2), args->b, kWhole);
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(2), kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}

KERNEL(bug_load_over_operand) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  LOAD(BANK(0), args->b, kWhole);  // finds race/war
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_load_over_operand) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  LOAD(BANK(2), args->b, kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}

KERNEL(bug_two_writers) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(1), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds race/waw
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_two_writers) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(1), args->b, kWhole);
  ADD(BANK(2), BANK(0), BANK(0), kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(2), kWhole);
}

KERNEL(bug_message_not_waited_for) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  const int loaded = tpu_next_msg_id();
  tpu_gdma_send_msg(loaded, 1);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds race/raw
  tpu_bdc_wait_msg(loaded, 1);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_message_not_waited_for) {
  tpu_parallel_start();
  LOAD(BANK(0), args->a, kWhole);
  const int loaded = tpu_next_msg_id();
  tpu_gdma_send_msg(loaded, 1);
  tpu_bdc_wait_msg(loaded, 1);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}

// Two sets of buffers: while one is computed, the other is loaded.
KERNEL(bug_wrong_set) {
  LOAD(BANK(0), args->a, kWhole);
  for (int step = 0; step < 2; ++step) {
    tpu_parallel_start();
    LOAD(BANK(step % 2), args->b, kWhole);
    ADD(BANK(4 + step % 2), BANK(step % 2), BANK(step % 2), kWhole);  // finds race/raw
    tpu_parallel_end();
  }
  STORE(args->out, BANK(5), kWhole);
}
KERNEL(ok_wrong_set) {
  LOAD(BANK(0), args->a, kWhole);
  for (int step = 0; step < 2; ++step) {
    tpu_parallel_start();
    LOAD(BANK((step + 1) % 2), args->b, kWhole);
    ADD(BANK(4 + step % 2), BANK(step % 2), BANK(step % 2), kWhole);
    tpu_parallel_end();
  }
  STORE(args->out, BANK(5), kWhole);
}

KERNEL(bug_through_the_window) {
  LOAD(BANK(0), args->a, kWhole);
  const dim4 row = {1, 1, 1, 16};
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_gdma_cpy_S2S(tpu_local_mem_get_start_addr(), args->b, &row, NULL, NULL, DT_FP32);  // finds race/war
  tpu_parallel_end();
}
KERNEL(ok_through_the_window) {
  LOAD(BANK(0), args->a, kWhole);
  const dim4 row = {1, 1, 1, 16};
  tpu_parallel_start();
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_gdma_cpy_S2S(tpu_local_mem_get_start_addr() + BANK(2), args->b, &row, NULL, NULL, DT_FP32);
  tpu_parallel_end();
}

KERNEL(bug_sort_while_loading) {
  tpu_parallel_start();
  tpu_hau_sort(args->out, args->a, 64, 64, true, DT_FP32);
  const dim4 row = {1, 1, 1, 64};
  tpu_gdma_cpy_S2L(BANK(0), args->out, &row, NULL, NULL, DT_FP32);  // finds race/raw
  tpu_parallel_end();
  tpu_hau_poll();
}
KERNEL(ok_sort_while_loading) {
  tpu_parallel_start();
  tpu_hau_sort(args->out, args->a, 64, 64, true, DT_FP32);
  const dim4 row = {1, 1, 1, 64};
  tpu_gdma_cpy_S2L(BANK(0), args->b, &row, NULL, NULL, DT_FP32);
  tpu_parallel_end();
  tpu_hau_poll();
}

KERNEL(bug_store_before_poll) {
  float* table = tpu_l2_sram_addr(tpu_l2_sram_get_start_addr());
  const dim4 row = {1, 1, 1, 16};
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 16; ++i) table[i] = (float)(step + i + 1);
    LOAD(BANK(step), tpu_l2_sram_get_start_addr(), row);  // finds race/processor
  }
}
KERNEL(ok_store_before_poll) {
  float* table = tpu_l2_sram_addr(tpu_l2_sram_get_start_addr());
  const dim4 row = {1, 1, 1, 16};
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 16; ++i) table[i] = (float)(step + i + 1);
    LOAD(BANK(step), tpu_l2_sram_get_start_addr(), row);
    tpu_poll();
  }
}

KERNEL(bug_clear_before_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);  // finds race/processor
  float* mine = tpu_local_mem_addr(3, BANK(0));
  mine[5] = -1.0f;
}
KERNEL(ok_clear_before_poll) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
  tpu_poll();
  float* mine = tpu_local_mem_addr(3, BANK(0));
  mine[5] = -1.0f;
}

// options --schedules=4
KERNEL(bug_order_matters) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(0), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);  // finds race/raw schedule/differs
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}
// options --schedules=4
KERNEL(ok_order_matters) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_parallel_start();
  LOAD(BANK(2), args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_parallel_end();
  STORE(args->out, BANK(1), kWhole);
}

KERNEL(bug_load_before_poll) {
  const volatile float* result = tpu_local_mem_addr(3, BANK(1));
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  const float first = result[5];  // finds race/processor-read
  tpu_poll();
  if (first > 0) STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_load_before_poll) {
  const volatile float* result = tpu_local_mem_addr(3, BANK(1));
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_poll();
  const float first = result[5];
  if (first > 0) STORE(args->out, BANK(0), kWhole);
}

// The pointer comes after the command, and the twin reads what lies beside its bytes.
KERNEL(bug_load_of_stored_bytes) {
  const dim4 row = {1, 1, 1, 16};
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), row);
  const volatile float* out = tpu_global_mem_addr(args->out);
  const float last = out[15];  // finds race/processor-read
  tpu_poll();
  if (last > 0) STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_load_of_stored_bytes) {
  const dim4 row = {1, 1, 1, 16};
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), row);
  const volatile float* out = tpu_global_mem_addr(args->out);
  const float next = out[16];
  tpu_poll();
  if (next > out[15]) STORE(args->out, BANK(0), kWhole);
}

// Through the C library, and after a wait for another command.
KERNEL(bug_copy_before_poll) {
  float copy[16];
  const float* result = tpu_local_mem_addr(0, BANK(1));
  LOAD(BANK(0), args->a, kWhole);
  tpu_poll();
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  memcpy(copy, result, sizeof copy);  // finds race/processor-read
  tpu_poll();
  if (copy[3] > 0) STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_copy_before_poll) {
  float copy[16];
  const float* result = tpu_local_mem_addr(0, BANK(1));
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  tpu_poll();
  STORE(args->out, BANK(1), kWhole);
  memcpy(copy, result, sizeof copy);
  tpu_poll();
  if (copy[3] > 0) STORE(args->out, BANK(0), kWhole);
}
