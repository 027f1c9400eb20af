/* Kernels that fail in every way that a kernel can. Built with debug information: reports name the lines below. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

#define KERNEL(name)            \
  void name(const void* args);  \
  TPUKERNEL_FUNC_REGISTER(name) \
  void name(const void* args)
#define PARAM ((const e2e_param_t*)args)

/* words[i] = value + i, and the same in local memory. */
KERNEL(fault_nothing) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  int* local = (int*)tpu_local_mem_addr_unified(0);
  for (int i = 0; i < PARAM->count; ++i) words[i] = local[i] = PARAM->value + i;
}

/* words[i] = local[i] */
KERNEL(fault_read_local) {
  memcpy((void*)tpu_global_mem_addr(PARAM->address), tpu_local_mem_addr_unified(0), sizeof(int) * (size_t)PARAM->count);
}

static void issue_commands(int count) {
  dim4 shape = {1, 2, 3, 4};
  scalar_t value = {.f32 = 1.5f};
  for (int i = 0; i < count; ++i) tpu_bdc_set_C((local_addr_t)(i * 64), value, &shape, NULL, DT_FP32);
}

__attribute__((noinline)) static void write_word(volatile int* place) { *place = 1; }

KERNEL(fault_segv) {
  (void)args;
  write_word((volatile int*)16);
}
KERNEL(fault_commands) {
  (void)args;
  issue_commands(11);
}
KERNEL(fault_after_commands) {
  (void)args;
  issue_commands(11);
  write_word((volatile int*)16);
}
KERNEL(fault_bus) {
  (void)args;
  const int file = memfd_create("short", 0);
  write_word((volatile int*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
}
KERNEL(fault_fpe) {
  volatile int zero = 0;
  (void)args;
  zero = 7 / zero;
}
KERNEL(fault_ill) {
  (void)args;
  __builtin_trap();
}
KERNEL(fault_abort) {
  (void)args;
  abort();
}
KERNEL(fault_exit) {
  (void)args;
  exit(7);
}
KERNEL(fault_exit_at_once) {
  (void)args;
  _exit(8);
}
KERNEL(fault_call_null) {
  void (*volatile nothing)(void) = NULL;
  (void)args;
  nothing();
}
static int use_stack(int depth) {
  volatile char block[4096];
  block[0] = (char)depth;
  return depth < 0 ? 0 : use_stack(depth + 1) + block[0];
}
KERNEL(fault_stack) {
  (void)args;
  use_stack(0);
}
KERNEL(fault_stack_array) {
  volatile char block[96 << 20];
  (void)args;
  block[0] = 1;
  block[1] = block[0];
}
static int go_down(int depth) {
  if (depth == 0) write_word((volatile int*)16);
  return depth == 0 ? 0 : go_down(depth - 1) + 1;
}
KERNEL(fault_deep) {
  (void)args;
  go_down(500);
}

/* ---- The C library's heap ---- */

KERNEL(fault_free_twice) {
  void* volatile block = malloc(5000);
  (void)args;
  free(block);
  free(block);
}
KERNEL(fault_heap_overflow) {
  char* volatile block = malloc(5000);
  (void)args;
  memset(block, 0xFF, 9000);
}

/* ---- Wild writes ---- */

KERNEL(fault_before_local) {
  (void)args;
  write_word((volatile int*)tpu_local_mem_addr_unified(0) - 1);
}
KERNEL(fault_past_local) {
  (void)args;
  write_word((volatile int*)((char*)tpu_local_mem_addr_unified(0) +
                             (size_t)tpu_npu_num() * (size_t)tpu_local_mem_size_per_npu()));
}
KERNEL(fault_before_global) {
  (void)args;
  write_word((volatile int*)tpu_global_mem_addr(PARAM->address) - 1);
}

/* Writes to one of the process's mappings: what begins with the name, at its first byte (value 0), before it (-1), or
   over its first 4096 bytes (1, with the byte in count). */
static void write_mapping(const char* name, int how, int byte) {
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    uintptr_t begin = 0;
    if (strstr(line, name) == NULL || sscanf(line, "%" SCNxPTR, &begin) != 1) continue;
    fclose(maps);
    if (how == 1) {
      memset((void*)begin, byte, 4096);
    } else {
      write_word((volatile int*)begin + how);
    }
    return;
  }
  fclose(maps);
}
KERNEL(fault_static) {
  (void)args;
  write_mapping("memfd:softtpu0-static", 0, 0);
}
KERNEL(fault_ring) {
  (void)args;
  write_mapping("memfd:softtpu-ring", 0, 0);
}
KERNEL(fault_before_l2) {
  (void)args;
  write_mapping("memfd:softtpu0-l2", -1, 0);
}
KERNEL(fault_before_status) {
  (void)args;
  write_mapping("memfd:softtpu-status", -1, 0);
}
KERNEL(fault_over_status) { write_mapping("memfd:softtpu-status", 1, PARAM->value); }
KERNEL(fault_over_status_and_segv) {
  write_mapping("memfd:softtpu-status", 1, PARAM->value);
  write_word((volatile int*)16);
}

/* ---- What the core says to its device ---- */

/* Sends the bytes through every connection of the process, and waits. */
static void send_to_all(const void* bytes, size_t count) {
  for (int file = 3; file < 256; ++file) send(file, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  pause();
}
/* A frame that says that all items are done. */
KERNEL(fault_forged_report) {
  const uint32_t frame[4] = {0, 105, 0xFFFFFFFF, 0xFFFFFFFF};
  (void)args;
  send_to_all(frame, sizeof frame);
}
KERNEL(fault_noise) {
  const uint32_t noise[4] = {0xFFFFFFFF, 0xFFFFFFFF, 0, 0};
  (void)args;
  send_to_all(noise, sizeof noise);
}

/* ---- Kernels that do not come to an end ---- */

KERNEL(fault_spin) {
  (void)args;
  issue_commands(2);
  for (;;) {
  }
}
KERNEL(fault_spin_deaf) {
  sigset_t all;
  (void)args;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (;;) {
  }
}
KERNEL(fault_stop) {
  (void)args;
  raise(SIGSTOP);
}
KERNEL(fault_busy) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    tpu_poll();
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec - (now.tv_nsec < begin.tv_nsec) < PARAM->value);
}

/* ---- What stays when a kernel returns ---- */

static void* sleep_long(void* argument) {
  (void)argument;
  sleep(1000);
  return NULL;
}
KERNEL(fault_thread) {
  pthread_t thread;
  (void)args;
  pthread_create(&thread, NULL, sleep_long, NULL);
}
static void* do_nothing(void* argument) { return argument; }
KERNEL(fault_joined_thread) {
  pthread_t thread;
  (void)args;
  pthread_create(&thread, NULL, do_nothing, NULL);
  pthread_join(thread, NULL);
}
KERNEL(fault_child) {
  (void)args;
  if (fork() == 0) {
    sleep(1000);
    _exit(0);
  }
}
KERNEL(fault_fork_returns) {
  (void)args;
  fork();
}
KERNEL(fault_child_and_segv) {
  (void)args;
  if (fork() == 0) sleep(1000);
  write_word((volatile int*)16);
}

/* ---- What a kernel may ask of the system ---- */

static int error_of(long result) { return result < 0 ? errno : 0; }

/* words[i]: the error of the i-th attempt, 0 when it succeeds. */
KERNEL(fault_attempts) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  char* const program[] = {"/bin/true", NULL};
  char file[64];
  pthread_t thread;
  pid_t child;
  snprintf(file, sizeof file, "/tmp/softtpu-sandbox-test-%d", (int)getpid());
  words[0] = error_of(open("/etc/passwd", O_RDONLY));
  words[1] = error_of(open(file, O_CREAT | O_WRONLY, 0600));
  words[2] = error_of(socket(AF_INET, SOCK_STREAM, 0));
  words[3] = error_of(socket(AF_UNIX, SOCK_STREAM, 0));
  words[4] = error_of(kill(getppid(), 0));
  words[5] = error_of(unlink(file));
  child = fork();
  if (child == 0) {
    execv(program[0], program);
    _exit(1);
  }
  words[6] = error_of(child);
  if (child > 0) waitpid(child, NULL, 0);
  words[7] = error_of(memfd_create("x", 0));
  /* These must work. */
  words[8] = pthread_create(&thread, NULL, do_nothing, NULL);
  if (words[8] == 0) pthread_join(thread, NULL);
  words[9] = error_of(
      (long)(intptr_t)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0);
  words[10] = error_of(clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0}));
  /* Last, since it replaces the process when it succeeds. */
  words[11] = PARAM->value == 1 ? error_of(execv(program[0], program)) : 0;
}
