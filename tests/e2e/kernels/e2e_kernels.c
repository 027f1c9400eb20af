/* Kernels that behave and misbehave in the ways the end-to-end tests need. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

void e2e_nothing(const void* args) { (void)args; }
TPUKERNEL_FUNC_REGISTER(e2e_nothing)

/* words[i] = value + i */
void e2e_fill(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  int* words = (int*)tpu_global_mem_addr(param->address);
  int i;
  for (i = 0; i < param->count; ++i) words[i] = param->value + i;
}
TPUKERNEL_FUNC_REGISTER(e2e_fill)

/* Appends value to a list whose length is its first word: the order of launches becomes visible. */
void e2e_append(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  int* words = (int*)tpu_global_mem_addr(param->address);
  words[1 + words[0]++] = param->value;
}
TPUKERNEL_FUNC_REGISTER(e2e_append)

/* A tensor of `count` columns: none is refused. */
void e2e_shape(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  dim4 shape;
  shape.n = 1;
  shape.c = 1;
  shape.h = 1;
  shape.w = param->count;
  tpu_initialize();
  tpu_gdma_cpy_S2L(0, param->address, &shape, NULL, NULL, DT_INT32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(e2e_shape)

void e2e_sleep(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  struct timespec time;
  time.tv_sec = param->value / 1000;
  time.tv_nsec = param->value % 1000 * 1000000L;
  nanosleep(&time, NULL);
}
TPUKERNEL_FUNC_REGISTER(e2e_sleep)

void e2e_print(const void* args) {
  (void)args;
  TPUKERNEL_LOG("a line from the kernel\n");
}
TPUKERNEL_FUNC_REGISTER(e2e_print)

void e2e_segv(const void* args) {
  (void)args;
  *(volatile int*)16 = 1;
}
TPUKERNEL_FUNC_REGISTER(e2e_segv)

void e2e_abort(const void* args) {
  (void)args;
  abort();
}
TPUKERNEL_FUNC_REGISTER(e2e_abort)

void e2e_fpe(const void* args) {
  volatile int zero = 0;
  (void)args;
  zero = 7 / zero; /* 1 / x would be compiled without a division */
}
TPUKERNEL_FUNC_REGISTER(e2e_fpe)

void e2e_ill(const void* args) {
  (void)args;
  raise(SIGILL);
}
TPUKERNEL_FUNC_REGISTER(e2e_ill)

void e2e_exit(const void* args) {
  (void)args;
  exit(7);
}
TPUKERNEL_FUNC_REGISTER(e2e_exit)

static int use_stack(int depth) {
  volatile char block[4096];
  block[0] = (char)depth;
  return depth < 0 ? 0 : use_stack(depth + 1) + block[0];
}
void e2e_stack(const void* args) {
  (void)args;
  use_stack(0);
}
TPUKERNEL_FUNC_REGISTER(e2e_stack)

/* The memory is bounded by inaccessible pages: the first byte before it is out of reach. */
void e2e_guard(const void* args) {
  (void)args;
  *((volatile char*)tpu_local_mem_addr_unified(0) - 1) = 1;
}
TPUKERNEL_FUNC_REGISTER(e2e_guard)

void e2e_close_all(const void* args) {
  int fd;
  (void)args;
  for (fd = 3; fd < 64; ++fd) close(fd);
}
TPUKERNEL_FUNC_REGISTER(e2e_close_all)

void e2e_spin(const void* args) {
  (void)args;
  for (;;) {
  }
}
TPUKERNEL_FUNC_REGISTER(e2e_spin)

/* Runs long but issues commands all the time. */
void e2e_busy(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  const time_t end = time(NULL) + param->value;
  while (time(NULL) < end) tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(e2e_busy)

/* Not registered: found by its C name. */
int e2e_by_symbol(const void* args) {
  e2e_fill(args);
  return 3;
}

/* A name that the C library has too: calls inside the module mean this one. */
int strcoll(const char* a, const char* b) {
  (void)a;
  (void)b;
  return 4711;
}
void e2e_own_name(const void* args) {
  const e2e_param_t* param = (const e2e_param_t*)args;
  *(int*)tpu_global_mem_addr(param->address) = strcoll("a", "a");
}
TPUKERNEL_FUNC_REGISTER(e2e_own_name)
