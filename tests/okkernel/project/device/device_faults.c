/* Kernels that break down, each in its own way, and one with a large array. */
#include <stdio.h>
#include <string.h>

#include "okk.h"

static volatile int nothing = 0;

void fault_pointer(const void* args) {
  (void)args;
  *(volatile int*)(size_t)(16 + nothing) = 1;
}
OKKERNEL_FUNC_REGISTER(fault_pointer);

void fault_division(const void* args) {
  (void)args;
  nothing = 7 / nothing;
}
OKKERNEL_FUNC_REGISTER(fault_division);

void fault_call(const void* args) {
  void (*volatile function)(void) = (void (*)(void))(size_t)nothing;
  (void)args;
  function();
  nothing = 0; /* so that the call is no tail call */
}
OKKERNEL_FUNC_REGISTER(fault_call);

/* A bad pointer that the emulator reads. */
void fault_argument(const void* args) {
  (void)args;
  okk_bdc_relu(0, 0, (const dim4*)(size_t)(16 + nothing), NULL, NULL);
}
OKKERNEL_FUNC_REGISTER(fault_argument);

void fault_copy(const void* args) {
  static char block[4096];
  void* volatile to = (void*)(size_t)(16 + nothing);
  (void)args;
  memcpy(to, block, sizeof block - (size_t)nothing);
  nothing = 0;
}
OKKERNEL_FUNC_REGISTER(fault_copy);

void fault_local_memory(const void* args) {
  (void)args;
  okk_local_mem_addr(0, 0)[nothing - 1] = 1;
}
OKKERNEL_FUNC_REGISTER(fault_local_memory);

static int use_stack(int depth) {
  volatile char block[4096];
  block[0] = (char)depth;
  return depth < nothing ? 0 : use_stack(depth + 1) + block[0];
}
void fault_recursion(const void* args) {
  (void)args;
  nothing = 0;
  use_stack(1);
}
OKKERNEL_FUNC_REGISTER(fault_recursion);

/* Its far end lies beyond the whole stack. */
void fault_array(const void* args) {
  volatile char block[96 << 20];
  (void)args;
  block[nothing] = 1;
  nothing = block[nothing] - 1;
}
OKKERNEL_FUNC_REGISTER(fault_array);

/* A crash with the C library in the middle of something. */
void fault_in_library(const void* args) {
  (void)args;
  printf("%s\n", (const char*)(size_t)(16 + nothing));
}
OKKERNEL_FUNC_REGISTER(fault_in_library);

void fault_assertion(const void* args) {
  (void)args;
  OKKERNEL_ASSERT(nothing == 1);
}
OKKERNEL_FUNC_REGISTER(fault_assertion);

/* 48 MiB on the stack. */
void large_array(const void* args) {
  volatile char block[48 << 20];
  (void)args;
  for (size_t i = 0; i < sizeof block; i += 4096) block[i] = 1;
  block[sizeof block - 1] = 2;
}
OKKERNEL_FUNC_REGISTER(large_array);
