// Kernels of the tests of libtpuv7_rt, libtpudnn and libtpu_runtime_api.
#include <stdlib.h>
#include <unistd.h>

#include "tests/tpuv7/kernels/rt_param.h"
#include "tpu_kernel.h"

static int* words_of(const void* args) { return (int*)tpu_global_mem_addr(((const rt_param_t*)args)->address); }
static int value_of(const void* args) { return ((const rt_param_t*)args)->value; }

// Appends `value` at words[++words[0]], so that the order of launches shows.
void append(const void* args) {
  int* words = words_of(args);
  words[++words[0]] = value_of(args);
}
TPUKERNEL_FUNC_REGISTER(append)

// Waits `value` milliseconds, then appends.
void slow_append(const void* args) {
  usleep((unsigned)value_of(args) * 1000U);
  append(args);
}
TPUKERNEL_FUNC_REGISTER(slow_append)

// How often it has run since its module was loaded.
void count_runs(const void* args) {
  static int runs = 0;
  words_of(args)[0] = ++runs;
}
TPUKERNEL_FUNC_REGISTER(count_runs)

// The last word of a block of `value` bytes.
void last_word(const void* args) { words_of(args)[0] = ((const int*)args)[value_of(args) / 4 - 1]; }
TPUKERNEL_FUNC_REGISTER(last_word)

// Thirty-two words for each workitem of each group: its numbers, and what it reads of its arguments.
void place(const void* args, unsigned int size) {
  enum { kWords = 32, kMostWorkitems = 8 };
  static int runs = 0;
  int* const all = words_of(args);
  int* const words = all + kWords * (1 + tpu_group_index() * kMostWorkitems + tpu_workitem_index());
  const int count = (int)(size / 4);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += ((const int*)args)[i];
  ((int*)args)[count - 1] = -1;  // in its own copy
  words[0] = __sync_add_and_fetch(&all[0], 1);
  words[1] = tpu_core_index();
  words[2] = tpu_workitem_index();
  words[3] = tpu_physical_core_id();
  words[4] = tpu_core_num();
  words[5] = tpu_workitem_num();
  words[6] = tpu_group_index();
  words[7] = tpu_group_num();
  words[8] = tpu_is_last_workitem();
  words[9] = tpu_start_physical_core_id();
  words[10] = tpu_get_global_msg_id();
  words[11] = tpu_l2_sram_size();
  words[12] = (int)size;
  words[13] = sum;
  words[14] = ++runs;
}
TPUKERNEL_FUNC2_REGISTER(place)

// Every workitem leaves a one, meets the others, and counts the ones.
void meet(const void* args) {
  volatile int* const words = words_of(args);
  const int me = tpu_workitem_index(), all = tpu_workitem_num();
  tpu_initialize();
  for (int round = 1; round <= value_of(args); ++round) {
    usleep((unsigned)(me * 500));
    words[me] = round;
    tpu_sync_all();
    for (int i = 0; i < all; ++i) words[16 + me] += words[i] == round;
    tpu_sync_all();
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(meet)

// Leaves `value` in local memory and in L2; look_back() tells what is there.
void leave_behind(const void* args) {
  *(int*)tpu_local_mem_addr(0, 64) = value_of(args) + tpu_workitem_index();
  if (tpu_workitem_index() == 0) *(int*)tpu_l2_sram_addr(tpu_l2_sram_get_start_addr()) = value_of(args);
}
TPUKERNEL_FUNC_REGISTER(leave_behind)

void look_back(const void* args) {
  int* const words = words_of(args) + 2 * tpu_workitem_index();
  words[0] = *(int*)tpu_local_mem_addr(0, 64);
  words[1] = *(int*)tpu_l2_sram_addr(tpu_l2_sram_get_start_addr());
}
TPUKERNEL_FUNC_REGISTER(look_back)

// Only the workitem `value` fails.
void one_fails(const void* args) {
  tpu_initialize();
  TPUKERNEL_ASSERT(tpu_workitem_index() != value_of(args));
  tpu_sync_all();
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(one_fails)

void nothing(const void* args) { UNUSED(args); }
TPUKERNEL_FUNC_REGISTER(nothing)

void assertion(const void* args) {
  UNUSED(args);
  TPUKERNEL_ASSERT(1 + 1 == 3);
}
TPUKERNEL_FUNC_REGISTER(assertion)

void bad_argument(const void* args) {
  const dim4 shape = {1, 0, 1, 1};
  UNUSED(args);
  tpu_bdc_fp_add(0, 64, 128, &shape, NULL, NULL, NULL, DT_FP32);
}
TPUKERNEL_FUNC_REGISTER(bad_argument)

void leave(const void* args) { exit(value_of(args)); }
TPUKERNEL_FUNC_REGISTER(leave)

// Found by its C name alone.
void not_registered(const void* args) { words_of(args)[0] = value_of(args); }
