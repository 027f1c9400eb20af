/* Kernels for several cores: identity, meetings, messages, locks, and each way in which one of them can fail. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "tpu_kernel.h"

typedef struct {
  unsigned long long address;
  int count;
  int value;
} param_t;

static volatile int* words_at(unsigned long long address) { return (volatile int*)tpu_global_mem_addr(address); }

/* Sixteen words for each core. */
static void identity(const void* args) {
  const param_t* param = (const param_t*)args;
  volatile int* words = words_at(param->address) + 16 * tpu_physical_core_id();
  words[0] = tpu_core_num();
  words[1] = tpu_core_index();
  words[2] = tpu_workitem_num();
  words[3] = tpu_workitem_index();
  words[4] = tpu_group_num();
  words[5] = tpu_group_index();
  words[6] = tpu_physical_core_num();
  words[7] = tpu_start_physical_core_id();
  words[8] = tpu_is_last_workitem();
  words[9] = tpu_max_core_num();
  words[10] = param->value;
  words[11] += 1;
}
TPUKERNEL_FUNC_REGISTER(identity)

static void other_identity(const void* args) { identity(args); }
TPUKERNEL_FUNC_REGISTER(other_identity)

/* Each core keeps a value in its own local memory, passes it to the next one through L2, and adds what it gets. */
static void ring(const void* args) {
  const param_t* param = (const param_t*)args;
  const dim4 shape = {1, 8, 1, 16};
  const int me = tpu_core_index(), cores = tpu_core_num(), bytes = 8 * 16 * 4;
  const system_addr_t l2 = tpu_l2_sram_get_start_addr();
  scalar_t first = {.s32 = param->value + me};
  tpu_initialize();
  tpu_bdc_set_C(0, first, &shape, NULL, DT_INT32);
  for (int round = 0; round < param->count; ++round) {
    tpu_gdma_cpy_L2S(l2 + (unsigned)(me * bytes), 0, &shape, NULL, NULL, DT_INT32);
    tpu_sync_all();
    tpu_gdma_cpy_S2L(1024, l2 + (unsigned)((me + 1) % cores * bytes), &shape, NULL, NULL, DT_INT32);
    tpu_bdc_int_add(0, 0, 1024, &shape, NULL, NULL, NULL, DT_INT32, DT_INT32, DT_INT32, 0, RM_HALF_TO_EVEN, false);
    tpu_sync_all();
  }
  tpu_gdma_cpy_L2S(param->address + (unsigned)(me * bytes), 0, &shape, NULL, NULL, DT_INT32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(ring)

/* For `count` milliseconds from the moment when all have come: how many commands each core has done, one after the
   other. Sixteen words for each core. */
static void work_for(const void* args) {
  const param_t* param = (const param_t*)args;
  const dim4 shape = {1, 8, 1, 16};
  const scalar_t one = {.s32 = 1};
  struct timespec begin, now;
  int done = 0;
  tpu_initialize();
  tpu_sync_all();
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    tpu_bdc_set_C(0, one, &shape, NULL, DT_INT32);
    tpu_poll();
    ++done;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < param->count);
  words_at(param->address)[16 * tpu_core_index()] = done;
}
TPUKERNEL_FUNC_REGISTER(work_for)

/* Core 0 sends to all others, which answer it. `count` rounds, each with two messages of its own. */
static void messages(const void* args) {
  const param_t* param = (const param_t*)args;
  const int me = tpu_core_index(), cores = tpu_core_num();
  volatile int* words = words_at(param->address);
  tpu_initialize();
  for (int round = 0; round < param->count; ++round) {
    const int there = 10 + 2 * (round % 3), back = there + 1;
    if (me == 0) {
      words[0] = param->value + round;
      tpu_gdma_send_msg(there, cores - 1);
      tpu_bdc_wait_msg(back, cores - 1);
      for (int core = 1; core < cores; ++core) words[16] += words[16 * (core + 1)];
    } else {
      tpu_gdma_wait_msg(there, 1);
      words[16 * (me + 1)] = words[0] * me;
      tpu_hau_send_msg(back, 1);
    }
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(messages)

/* On the chip GDMA alone waits for the message: what BDC sends after it in the section lets the other core answer. */
static void engines_wait_alone(const void* args) {
  const param_t* param = (const param_t*)args;
  const dim4 shape = {1, 8, 1, 16};
  const int me = tpu_core_index();
  tpu_initialize();
  if (me == 0) {
    const scalar_t five = {.s32 = 5};
    tpu_parallel_start();
    tpu_gdma_wait_msg(3, 1);
    tpu_gdma_cpy_L2S(param->address, 0, &shape, NULL, NULL, DT_INT32);
    tpu_bdc_set_C(0, five, &shape, NULL, DT_INT32);
    tpu_bdc_send_msg(4, 1);
    tpu_parallel_end();
  } else {
    tpu_gdma_wait_msg(4, 1);
    tpu_gdma_send_msg(3, 1);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(engines_wait_alone)

static void count_under_lock(const void* args) {
  const param_t* param = (const param_t*)args;
  volatile int* words = words_at(param->address);
  for (int i = 0; i < param->count; ++i) {
    tpu_acquire_lock(param->value);
    const int seen = words[0];
    for (volatile int pause = 0; pause < 20; ++pause) {
    }
    words[0] = seen + 1;
    tpu_release_lock(param->value);
  }
}
TPUKERNEL_FUNC_REGISTER(count_under_lock)

/* The first two cores meet at a barrier of their own, all at another one; each counts the meetings it has seen. */
static void barriers(const void* args) {
  const param_t* param = (const param_t*)args;
  volatile int* words = words_at(param->address);
  const int me = tpu_core_index();
  for (int i = 0; i < param->count; ++i) {
    if (me < 2) {
      words[16 * me] += 1;
      if (tpu_core_barrier(7, 2) != 0) abort();
      if (words[16 * (1 - me)] != i + 1) words[128] += 1;
      if (tpu_core_barrier(7, 2) != 0) abort();
    }
    tpu_sync_all_with_msg_id(9);
  }
}
TPUKERNEL_FUNC_REGISTER(barriers)

static void empty(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(empty)

static void meet(const void* args) {
  const param_t* param = (const param_t*)args;
  for (int i = 0; i < param->count; ++i) tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(meet)

/* ---- Failures; `value` is the core that has them ---- */

static void crashes(const void* args) {
  const param_t* param = (const param_t*)args;
  if (tpu_core_index() == param->value) *(volatile int*)16 = 1;
  tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(crashes)

static void breaks_a_rule(const void* args) {
  const param_t* param = (const param_t*)args;
  const dim4 shape = {1, tpu_core_index() == param->value ? 0 : 1, 1, 1};
  tpu_bdc_fp_add(0, 64, 128, &shape, NULL, NULL, NULL, DT_FP32);
  tpu_sync_all();
  /* It goes on only with the message: nothing else would end it. */
  while (tpu_core_index() != param->value) tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(breaks_a_rule)

static void asserts(const void* args) {
  const param_t* param = (const param_t*)args;
  TPUKERNEL_ASSERT(tpu_core_index() != param->value);
  tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(asserts)

/* Makes no call any more while another core has failed. */
static void spins_beside_a_crash(const void* args) {
  const param_t* param = (const param_t*)args;
  if (tpu_core_index() == param->value) abort();
  for (volatile int on = 1; on != 0;) {
  }
}
TPUKERNEL_FUNC_REGISTER(spins_beside_a_crash)

static void hangs(const void* args) {
  const param_t* param = (const param_t*)args;
  if (tpu_core_index() == param->value) {
    for (volatile int on = 1; on != 0;) {
    }
  }
  tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(hangs)

static void waits_for_nobody(const void* args) {
  const param_t* param = (const param_t*)args;
  tpu_initialize();
  if (tpu_core_index() == param->value) tpu_gdma_wait_msg(21, 1);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(waits_for_nobody)

static void misses_a_meeting(const void* args) {
  const param_t* param = (const param_t*)args;
  if (tpu_core_index() != param->value) tpu_sync_all();
}
TPUKERNEL_FUNC_REGISTER(misses_a_meeting)

static void waits_in_a_circle(const void* args) {
  const int me = tpu_core_index(), cores = tpu_core_num();
  UNUSED(args);
  tpu_initialize();
  tpu_gdma_wait_msg(30 + (me + 1) % cores, 1);
  tpu_gdma_send_msg(30 + me, 1);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(waits_in_a_circle)

static void keeps_a_lock(const void* args) {
  UNUSED(args);
  tpu_acquire_lock(3);
}
TPUKERNEL_FUNC_REGISTER(keeps_a_lock)

/* `value` says which misuse. */
static void misuses_messages(const void* args) {
  const param_t* param = (const param_t*)args;
  const int me = tpu_core_index();
  tpu_initialize();
  if (me == 0) {
    switch (param->value) {
      case 0: tpu_bdc_send_msg(128, 1); break;
      case 1: tpu_gdma_wait_msg(-1, 1); break;
      case 2: tpu_bdc_send_msg(5, 0); break;
      case 3: tpu_bdc_send_msg(5, 8); break;
      case 4: tpu_bdc_send_msg(5, 1), tpu_bdc_send_msg(5, 2); break;
      case 5: tpu_bdc_send_msg(5, 1), tpu_bdc_send_msg(5, 1), tpu_bdc_wait_msg(5, 1); break;
      case 6: tpu_core_barrier(5, 9); break;
      case 7: tpu_acquire_lock(64); break;
      case 8: tpu_release_lock(2); break;
      case 9: tpu_sync_all_with_msg_id(128); break;
      default: break;
    }
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(misuses_messages)
