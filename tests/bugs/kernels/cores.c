// Cores of one launch that touch the same bytes without an order, and what is wrong with what should order them. Each
// stores its part of the output. A flag in memory that one sets and another looks at makes the order the same in every
// run; it is no order for the chip, whose engines and caches know nothing of it.
#include "bugs.h"

#define IS(core) (tpu_core_index() == (core))
#define L2(offset) (tpu_l2_sram_get_start_addr() + (offset))
#define FLAG ((volatile int*)tpu_global_mem_addr(args->scratch + 8192))
// What one core does before another one begins.
#define FIRST(core)      \
  if (!IS(core))         \
    while (*FLAG == 0) { \
    }
#define THEN(core) \
  if (IS(core)) tpu_poll(), *FLAG = 1

static const dim4 kRows = {1, 64, 1, 16};
enum { kRowsBytes = 64 * 16 * 4 };

static void fill(local_addr_t address, float value, const dim4* shape) {
  tpu_bdc_set_C(address, (scalar_t){.f32 = value}, shape, NULL, DT_FP32);
}

// Every core its rows of the output.
static void finish(const bug_args_t* args) {
  const int cores = tpu_core_num(), rows = 64 / cores;
  const dim4 own = {1, rows, 4, 16};
  fill(BANK(8), 1, &own);
  STORE(args->out + (unsigned)(tpu_core_index() * rows * 4 * 16 * 4), BANK(8), own);
}

#define CORES_KERNEL(name)                          \
  static void name##_cores(const bug_args_t* args); \
  KERNEL(name) {                                    \
    name##_cores(args);                             \
    finish(args);                                   \
  }                                                 \
  static void name##_cores(const bug_args_t* args)

// cores 2
CORES_KERNEL(bug_cores_no_meeting) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);  // finds race/core-raw
  }
  THEN(0);
  FIRST(0)
  if (IS(1)) LOAD(BANK(1), L2(0), kRows);
}
// cores 2
CORES_KERNEL(ok_cores_no_meeting) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
  }
  tpu_sync_all();
  if (IS(1)) LOAD(BANK(1), L2(0), kRows);
}

// Orders the engines of one core, not the cores.
// cores 2
CORES_KERNEL(bug_cores_own_engines_only) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(args->scratch, BANK(0), kRows);  // finds race/core-raw
  }
  tpu_sync_core();
  THEN(0);
  FIRST(0)
  if (IS(1)) LOAD(BANK(1), args->scratch, kRows);
}
// cores 2
CORES_KERNEL(ok_cores_own_engines_only) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(args->scratch, BANK(0), kRows);
  }
  tpu_sync_core();
  tpu_sync_all();
  if (IS(1)) LOAD(BANK(1), args->scratch, kRows);
}

// cores 2
CORES_KERNEL(bug_cores_sent_too_early) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    tpu_gdma_send_msg(40, 1);
    STORE(L2(0), BANK(0), kRows);  // finds race/core-raw
  } else {
    tpu_gdma_wait_msg(40, 1);
  }
  THEN(0);
  FIRST(0)
  if (IS(1)) LOAD(BANK(1), L2(0), kRows);
}
// cores 2
CORES_KERNEL(ok_cores_sent_too_early) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
    tpu_gdma_send_msg(40, 1);
  } else {
    tpu_gdma_wait_msg(40, 1);
    LOAD(BANK(1), L2(0), kRows);
  }
}

// The wait is for the message before the last store.
// cores 2
CORES_KERNEL(bug_cores_another_message) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
    tpu_gdma_send_msg(41, 1);
    STORE(L2(kRowsBytes), BANK(0), kRows);  // finds race/core-raw
    tpu_gdma_send_msg(42, 1);
  }
  THEN(0);
  FIRST(0)
  if (IS(1)) {
    tpu_gdma_wait_msg(41, 1);
    LOAD(BANK(1), L2(kRowsBytes), kRows);
    tpu_gdma_wait_msg(42, 1);
  }
}
// cores 2
CORES_KERNEL(ok_cores_another_message) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
    tpu_gdma_send_msg(41, 1);
    STORE(L2(kRowsBytes), BANK(0), kRows);
    tpu_gdma_send_msg(42, 1);
  } else {
    tpu_gdma_wait_msg(41, 1);
    tpu_gdma_wait_msg(42, 1);
    LOAD(BANK(1), L2(kRowsBytes), kRows);
  }
}

// Every second row is the other core's; the last one is read by both.
// cores 2
CORES_KERNEL(bug_cores_strided_rows) {
  const dim4 rows = {1, 64, 1, 16}, apart = {64 * 32, 32, 32, 1};
  if (IS(0)) {
    fill(BANK(0), 2, &rows);
    tpu_gdma_cpy_L2S(L2(0), BANK(0), &rows, &apart, NULL, DT_FP32);  // finds race/core-raw
  }
  THEN(0);
  FIRST(0)
  if (IS(1)) {
    fill(BANK(0), 3, &rows);
    tpu_gdma_cpy_L2S(L2(64), BANK(0), &rows, &apart, NULL, DT_FP32);
    LOAD(BANK(1), L2(63 * 128), ((dim4){1, 1, 1, 16}));
  }
}
// cores 2
CORES_KERNEL(ok_cores_strided_rows) {
  const dim4 rows = {1, 64, 1, 16}, apart = {64 * 32, 32, 32, 1};
  if (IS(0)) {
    fill(BANK(0), 2, &rows);
    tpu_gdma_cpy_L2S(L2(0), BANK(0), &rows, &apart, NULL, DT_FP32);
  }
  THEN(0);
  FIRST(0)
  if (IS(1)) {
    fill(BANK(0), 3, &rows);
    tpu_gdma_cpy_L2S(L2(64), BANK(0), &rows, &apart, NULL, DT_FP32);
    LOAD(BANK(1), L2(63 * 128 + 64), ((dim4){1, 1, 1, 16}));
  }
}

// The buffer is written for the next round while the other core still reads it.
// cores 2
CORES_KERNEL(bug_cores_buffer_again) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
  }
  tpu_sync_all();
  if (IS(1)) LOAD(BANK(1), L2(0), kRows);  // finds race/core-war
  THEN(1);
  FIRST(1)
  if (IS(0)) STORE(L2(0), BANK(0), kRows);
}
// cores 2
CORES_KERNEL(ok_cores_buffer_again) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
  }
  tpu_sync_all();
  if (IS(1)) LOAD(BANK(1), L2(0), kRows);
  tpu_sync_all();
  if (IS(0)) STORE(L2(0), BANK(0), kRows);
}

// The reader does not answer that it has read.
// cores 2
CORES_KERNEL(bug_cores_no_answer) {
  if (IS(1)) {
    LOAD(BANK(1), args->a, kRows);
    STORE(L2(0), BANK(1), kRows);  // finds race/core-waw
    LOAD(BANK(2), L2(0), kRows);   // finds race/core-war
  }
  THEN(1);
  FIRST(1)
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
  }
}
// cores 2
CORES_KERNEL(ok_cores_no_answer) {
  if (IS(1)) {
    LOAD(BANK(1), args->a, kRows), STORE(L2(0), BANK(1), kRows), LOAD(BANK(2), L2(0), kRows);
    tpu_gdma_send_msg(50, 1);
  } else {
    fill(BANK(0), 2, &kRows);
    tpu_gdma_wait_msg(50, 1);
    STORE(L2(0), BANK(0), kRows);
  }
}

// Both cores take the first half.
// cores 2
CORES_KERNEL(bug_cores_same_half) {
  FIRST(0)
  fill(BANK(0), 2, &kRows);
  STORE(args->scratch, BANK(0), kRows);  // finds race/core-waw
  THEN(0);
}
// cores 2
CORES_KERNEL(ok_cores_same_half) {
  FIRST(0)
  fill(BANK(0), 2, &kRows);
  STORE(args->scratch + (unsigned)(tpu_core_index() * kRowsBytes), BANK(0), kRows);
  THEN(0);
}

// The last tile of one core runs into the first of the next.
// cores 2
CORES_KERNEL(bug_cores_tile_overlaps) {
  FIRST(0)
  fill(BANK(0), 2, &kRows);
  STORE(args->scratch + (unsigned)(tpu_core_index() * (kRowsBytes - 64)), BANK(0), kRows);  // finds race/core-waw
  THEN(0);
}
// cores 2
CORES_KERNEL(ok_cores_tile_overlaps) {
  FIRST(0)
  fill(BANK(0), 2, &kRows);
  STORE(args->scratch + (unsigned)(tpu_core_index() * (kRowsBytes + 64)), BANK(0), kRows);
  THEN(0);
}

// The store is done after the lock has been given back.
// cores 2
CORES_KERNEL(bug_cores_store_after_lock) {
  FIRST(0)
  tpu_acquire_lock(1);
  fill(BANK(0), 2, &kRows);
  tpu_release_lock(1);
  STORE(L2(0), BANK(0), kRows);  // finds race/core-waw
  THEN(0);
}
// cores 2
CORES_KERNEL(ok_cores_store_after_lock) {
  FIRST(0)
  tpu_acquire_lock(1);
  fill(BANK(0), 2, &kRows);
  STORE(L2(0), BANK(0), kRows);
  tpu_release_lock(1);
  THEN(0);
}

// Two locks do not exclude each other.
// cores 2
CORES_KERNEL(bug_cores_two_locks) {
  FIRST(0)
  tpu_acquire_lock(1 + tpu_core_index());
  fill(BANK(0), 2, &kRows);
  STORE(L2(0), BANK(0), kRows);  // finds race/core-waw
  tpu_release_lock(1 + tpu_core_index());
  THEN(0);
}
// cores 2
CORES_KERNEL(ok_cores_two_locks) {
  FIRST(0)
  tpu_acquire_lock(2);
  fill(BANK(0), 2, &kRows);
  STORE(L2(0), BANK(0), kRows);
  tpu_release_lock(2);
  THEN(0);
}

// The third core is not at the meeting of the first two.
// cores 4
CORES_KERNEL(bug_cores_not_at_the_meeting) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);  // finds race/core-raw
  }
  if (tpu_core_index() < 2) tpu_core_barrier(60, 2);
  THEN(0);
  FIRST(0)
  if (IS(2)) LOAD(BANK(1), L2(0), kRows);
}
// cores 4
CORES_KERNEL(ok_cores_not_at_the_meeting) {
  if (IS(0)) {
    fill(BANK(0), 2, &kRows);
    STORE(L2(0), BANK(0), kRows);
  }
  if (tpu_core_index() < 3) tpu_core_barrier(60, 3);
  if (IS(2)) LOAD(BANK(1), L2(0), kRows);
}

// cores 2
CORES_KERNEL(bug_cores_nobody_waits) {
  UNUSED(args);
  if (IS(1)) tpu_bdc_send_msg(70, 1);  // finds cores/unawaited-message
}
// cores 2
CORES_KERNEL(ok_cores_nobody_waits) {
  UNUSED(args);
  if (IS(1)) tpu_bdc_send_msg(70, 1);
  if (IS(0)) tpu_gdma_wait_msg(70, 1);
}

// Sent for as many as there are cores, the sender included, which does not wait.
// cores 4
CORES_KERNEL(bug_cores_one_wait_too_few) {
  UNUSED(args);
  if (IS(0)) tpu_gdma_send_msg(71, tpu_core_num());  // finds cores/unawaited-message
  if (!IS(0)) tpu_gdma_wait_msg(71, 1);
}
// cores 4
CORES_KERNEL(ok_cores_one_wait_too_few) {
  UNUSED(args);
  if (IS(0)) tpu_gdma_send_msg(71, tpu_core_num() - 1);
  if (!IS(0)) tpu_gdma_wait_msg(71, 1);
}

// The last core thinks that it is alone.
// cores 4
CORES_KERNEL(bug_cores_unlike_counts) {
  if (IS(3)) tpu_core_barrier(61, 1);
  THEN(3);
  FIRST(3)
  if (!IS(3)) tpu_core_barrier(61, 3);  // finds cores/barrier-count
}
// cores 4
CORES_KERNEL(ok_cores_unlike_counts) {
  UNUSED(args);
  if (IS(3)) tpu_core_barrier(62, 1);
  if (!IS(3)) tpu_core_barrier(61, 3);
}

// The count is that of a larger chip.
// cores 2
CORES_KERNEL(bug_cores_count_of_another_launch) {
  if (IS(1)) tpu_core_barrier(63, 1);  // finds cores/barrier-count
  THEN(1);
  FIRST(1)
  tpu_core_barrier(63, 2);
}
// cores 2
CORES_KERNEL(ok_cores_count_of_another_launch) {
  UNUSED(args);
  tpu_core_barrier(63, tpu_core_num());
}

// ---- Right for one number of cores, or one order of them, only ----

// Two halves, however many cores there are.
// options --cores=1,2,4
// cores 2
CORES_KERNEL(bug_cores_always_halves) {
  const dim4 half = {1, 32, 1, 16};
  fill(BANK(0), 2, &half);
  if (tpu_core_index() < 2)
    STORE(args->scratch + (unsigned)(tpu_core_index() * 32 * 16 * 4), BANK(0), half);  // finds cores/number
}
// options --cores=1,2,4
// cores 2
CORES_KERNEL(ok_cores_always_halves) {
  const int rows = 64 / tpu_core_num();
  const dim4 part = {1, rows, 1, 16};
  fill(BANK(0), 2, &part);
  STORE(args->scratch + (unsigned)(tpu_core_index() * rows * 16 * 4), BANK(0), part);
}

// The number of cores shows in the result.
// options --cores=4,2
// cores 2
CORES_KERNEL(bug_cores_number_in_result) {
  const dim4 row = {1, 1, 1, 16};
  fill(BANK(0), (float)tpu_core_num(), &row);
  tpu_sync_all();
  if (IS(0)) STORE(args->scratch, BANK(0), row);  // finds cores/number
}
// options --cores=4,2
// cores 2
CORES_KERNEL(ok_cores_number_in_result) {
  const dim4 row = {1, 1, 1, 16};
  fill(BANK(0), 2, &row);
  tpu_sync_all();
  if (IS(0)) STORE(args->scratch, BANK(0), row);
}

// A barrier that counts the cores of one launch.
// options --cores=1,2
// cores 2
CORES_KERNEL(bug_cores_barrier_of_two) {
  const dim4 row = {1, 1, 1, 16};
  fill(BANK(0), 2, &row);
  tpu_core_barrier(9, 2);
  tpu_core_barrier(9, tpu_core_num());
  if (IS(0)) STORE(args->scratch, BANK(0), row);  // finds cores/number
}
// options --cores=1,2
// cores 2
CORES_KERNEL(ok_cores_barrier_of_two) {
  const dim4 row = {1, 1, 1, 16};
  fill(BANK(0), 2, &row);
  tpu_core_barrier(9, tpu_core_num());
  tpu_core_barrier(9, tpu_core_num());
  if (IS(0)) STORE(args->scratch, BANK(0), row);
}

// Which core stores last depends on which one comes first.
// options --schedules=8 --check=memory
// cores 2
CORES_KERNEL(bug_cores_who_is_last) {
  fill(BANK(0), (float)(1 + tpu_core_index()), &kRows);
  STORE(args->scratch, BANK(0), kRows);  // finds schedule/differs
}
// options --schedules=8 --check=memory
// cores 2
CORES_KERNEL(ok_cores_who_is_last) {
  fill(BANK(0), (float)(1 + tpu_core_index()), &kRows);
  if (IS(0)) STORE(args->scratch, BANK(0), kRows);
  tpu_sync_all();
  if (IS(1)) STORE(args->scratch, BANK(0), kRows);
}

// One core reads what another one may not have stored yet.
// options --schedules=8 --check=memory
// cores 2
CORES_KERNEL(bug_cores_read_too_early) {
  const dim4 whole = {1, 64, 1, 16};
  fill(BANK(0), 3, &whole);
  if (IS(0)) STORE(L2(0), BANK(0), whole);
  if (IS(1)) {
    LOAD(BANK(1), L2(0), whole);
    STORE(args->scratch, BANK(1), whole);  // finds schedule/differs
  }
}
// options --schedules=8 --check=memory
// cores 2
CORES_KERNEL(ok_cores_read_too_early) {
  const dim4 whole = {1, 64, 1, 16};
  fill(BANK(0), 3, &whole);
  if (IS(0)) STORE(L2(0), BANK(0), whole);
  tpu_sync_all();
  if (IS(1)) {
    LOAD(BANK(1), L2(0), whole);
    STORE(args->scratch, BANK(1), whole);
  }
}
