/* Kernels that change what their process or processor is set to and return as if nothing were, and one that looks at
   it. Others run in the same core afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

#define KERNEL(name)            \
  void name(const void* args);  \
  TPUKERNEL_FUNC_REGISTER(name) \
  void name(const void* args)
#define PARAM ((const e2e_param_t*)args)

/* ---- Arithmetic: words[i] are bits ---- */

KERNEL(state_arithmetic) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  volatile float small = 2.00000044e-39f, half = 0.5f, one = 1, three = 3, zero = 0;
  volatile long double long_one = 1, long_three = 3;
  float flushed = small * half, third = one / three, minus_third = -one / three;
  long double long_third = long_one / long_three;
  volatile float infinite = one / zero;
  char moved[64];
  volatile int* odd = (volatile int*)(moved + 1);
  for (int i = 0; i < 64; ++i) moved[i] = (char)i;
  memmove(moved + 4, moved, 32);
  *odd += 1; /* unaligned */
  memset(words, 0, 256);
  memcpy(words, &flushed, 4);
  memcpy(words + 1, &third, 4);
  memcpy(words + 2, &minus_third, 4);
  memcpy(words + 3, &long_third, 10);
  words[6] = infinite > 1;
  words[7] = moved[35] + moved[4] * 256;
}

/* ---- The state of the process, in numbers that are the same in every fresh core of a server ---- */

/* The system's sched_attr, which not every C library declares. */
struct scheduling {
  uint32_t bytes, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice_ns, deadline_ns, period_ns;
};

static int time_slice(void) {
  struct scheduling now = {0};
  syscall(SYS_sched_getattr, 0, &now, sizeof now, 0);
  return (int)now.slice_ns;
}

static void ask_for_time_slice(uint64_t ns) {
  struct scheduling wanted = {.bytes = sizeof wanted, .slice_ns = ns};
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

KERNEL(state_look) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  sigset_t mask;
  struct sigaction action;
  struct itimerval timer;
  struct rlimit limit;
  struct stat folder;
  cpu_set_t processors;
  int value = 0, at = 0;
  memset(words, 0, 256);
  sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int signal = 1; signal < 32; ++signal) {
    if (sigismember(&mask, signal) == 1) words[at] |= 1 << signal;
    sigaction(signal, NULL, &action);
    words[at + 1] = words[at + 1] * 31 + (int)(intptr_t)action.sa_handler + action.sa_flags;
  }
  at += 2;
  getitimer(ITIMER_REAL, &timer);
  words[at++] = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
  getrlimit(RLIMIT_AS, &limit);
  words[at++] = (int)(limit.rlim_cur >> 10);
  getrlimit(RLIMIT_NOFILE, &limit);
  words[at++] = (int)limit.rlim_cur;
  getrlimit(RLIMIT_FSIZE, &limit);
  words[at++] = (int)(limit.rlim_cur >> 10);
  stat(".", &folder);
  words[at++] = (int)folder.st_ino;
  stat("/", &folder);
  words[at++] = (int)folder.st_ino;
  words[at] = (int)umask(0);
  umask((mode_t)words[at++]);
  words[at++] = getenv("E2E_SPOILED") != NULL;
  words[at++] = (int)MB_CUR_MAX;
  words[at++] = getpriority(PRIO_PROCESS, 0);
  sched_getaffinity(0, sizeof processors, &processors);
  words[at++] = CPU_COUNT(&processors);
  words[at++] = personality(0xFFFFFFFF);
  words[at++] = prctl(PR_GET_TIMERSLACK);
  words[at++] = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  prctl(PR_GET_CHILD_SUBREAPER, &value);
  words[at++] = value;
  words[at++] = fcntl(1, F_GETFD) >= 0;
  words[at++] = time_slice();
}

/* The mapping whose line has the name. */
static void find_mapping(const char* name, uintptr_t* begin, uintptr_t* end) {
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  *begin = *end = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, name) != NULL && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, begin, end) == 2) break;
  }
  fclose(maps);
}

static void do_nothing(int signal) { (void)signal; }

static void limit_to(int resource, rlim_t soft, int hard_too) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = soft;
  if (hard_too) limit.rlim_max = soft;
  setrlimit(resource, &limit);
}

static void refuse_getppid(void) {
  struct sock_filter program[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
                                  {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
                                  {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
                                  {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  struct sock_fprog filter = {4, program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#ifdef __x86_64__
static void spoil_processor(int what) {
  unsigned modes = 0;
  unsigned short control = 0;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(modes), "=m"(control));
  if (what == 0) modes |= 0x8040;                   /* subnormals are zero */
  if (what == 1) modes |= 0x6000;                   /* towards zero */
  if (what == 2) modes &= ~0x200u;                  /* division by zero is a signal */
  if (what == 3) control &= (unsigned short)~0x300; /* 24 bits */
  if (what == 4) __asm__ volatile("movd %0, %%mm0" : : "r"(what) : "mm0");
  if (what == 3) __asm__ volatile("fldcw %0" : : "m"(control));
  if (what < 3) __asm__ volatile("ldmxcsr %0" : : "m"(modes));
  if (what == 5) __asm__ volatile("std");
  if (what == 6) __asm__ volatile("pushfq\n\torq $0x40000, (%%rsp)\n\tpopfq" : : : "cc", "memory");
}
#else
static void spoil_processor(int what) {
  if (what == 1) fesetround(FE_TOWARDZERO);
}
#endif

KERNEL(state_spoil_processor) { spoil_processor(PARAM->value); }

/* words[0]: 0, or the error of a call that this user may not make. */
KERNEL(state_spoil) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  sigset_t all;
  cpu_set_t one;
  timer_t timer;
  uintptr_t begin = 0, end = 0;
  const struct itimerspec soon = {{0, 0}, {0, 100000000}};
  int failed = 0;
  sigfillset(&all);
  switch (PARAM->value) {
    case 0: sigprocmask(SIG_BLOCK, &all, NULL); break;
    case 1: signal(SIGUSR1, do_nothing); break;
    case 2: signal(SIGSEGV, do_nothing); break;
    case 3: alarm(1); break;
    case 4:
      timer_create(CLOCK_MONOTONIC, NULL, &timer);
      timer_settime(timer, 0, &soon, NULL);
      break;
    case 5: limit_to(RLIMIT_AS, 1 << 20, 0); break;
    case 6: limit_to(RLIMIT_AS, 1 << 20, 1); break;
    case 7: limit_to(RLIMIT_NOFILE, 3, 1); break;
    case 8: limit_to(RLIMIT_FSIZE, 0, 0); break;
    case 9: failed = chdir("/proc"); break;
    case 10: failed = chroot("/proc"); break;
    case 11: umask(0777); break;
    case 12: setenv("E2E_SPOILED", "1", 1); break;
    case 13: setlocale(LC_ALL, "C.UTF-8"); break;
    case 14: failed = setpriority(PRIO_PROCESS, 0, 7); break;
    case 15:
      CPU_ZERO(&one);
      CPU_SET(0, &one);
      failed = sched_setaffinity(0, sizeof one, &one);
      break;
    case 16: personality(ADDR_NO_RANDOMIZE); break;
    case 17: prctl(PR_SET_TIMERSLACK, 77777); break;
    case 18: refuse_getppid(); break;
    case 19: close(1); break;
    case 20: prctl(PR_SET_CHILD_SUBREAPER, 0); break;
    case 21:
      find_mapping("-global.", &begin, &end);
      mprotect((void*)begin, end - begin, PROT_READ);
      return;
    case 22:
      find_mapping("-local.", &begin, &end);
      munmap((void*)begin, end - begin);
      break;
    case 23:
      find_mapping("libc.so", &begin, &end);
      mprotect((void*)begin, 4096, PROT_READ | PROT_WRITE);
      break;
    case 24: ask_for_time_slice(50000000); break; /* systems before Linux 6.12 do not listen */
    default: break;
  }
  words[0] = failed != 0 ? errno : 0;
}
