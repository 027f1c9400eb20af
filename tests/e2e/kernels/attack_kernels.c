/* Kernels that reach for what is not theirs: the server, other devices, other clients' modules, the time after their
   launch. */
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
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

#define KERNEL(name)            \
  void name(const void* args);  \
  TPUKERNEL_FUNC_REGISTER(name) \
  void name(const void* args)
#define PARAM ((const e2e_param_t*)args)

enum { kMostFiles = 256 };

static int* words_of(const void* args) {
  int* words = (int*)tpu_global_mem_addr(PARAM->address);
  memset(words, 0, 256);
  return words;
}

/* The anonymous file behind a descriptor; an empty text when it is none. */
static void name_of(int file, char* target, size_t bytes) {
  char path[64];
  ssize_t length = 0;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  length = readlink(path, target, bytes - 1);
  target[length < 0 ? 0 : length] = 0;
  if (strncmp(target, "/memfd:softtpu", 14) != 0) target[0] = 0;
}

/* Shortens all anonymous files that the process has open, its own module last. words[0]: files that became shorter. */
KERNEL(attack_truncate) {
  int shorter = 0;
  for (int modules = 0; modules < 2; ++modules) {
    for (int file = 3; file < kMostFiles; ++file) {
      struct stat before, after;
      char target[256], path[64];
      name_of(file, target, sizeof target);
      if (target[0] == 0 || (strstr(target, "softtpu-module") != NULL) != (modules == 1)) continue;
      fstat(file, &before);
      snprintf(path, sizeof path, "/proc/self/fd/%d", file);
      if (ftruncate(file, 0) != 0 && truncate(path, 0) != 0) continue;
      if (fstat(file, &after) == 0 && after.st_size < before.st_size) ++shorter;
    }
  }
  words_of(args)[0] = shorter;
}

/* words[0]: anonymous files that are open, but for modules; words[1]: modules whose bytes could be changed. */
KERNEL(attack_files) {
  int* words = words_of(args);
  for (int file = 3; file < kMostFiles; ++file) {
    char target[256];
    char byte = 0;
    name_of(file, target, sizeof target);
    if (target[0] == 0) continue;
    /* Of this core alone: the server reads there what a sanitizer said last. */
    if (strstr(target, "softtpu-reports") != NULL) continue;
    if (strstr(target, "softtpu-module") == NULL) {
      ++words[0];
      continue;
    }
    if (pread(file, &byte, 1, 4) == 1 && pwrite(file, &byte, 1, 4) == 1) ++words[1];
  }
}

/* Opens files until no more can be opened. words[0]: their number. */
KERNEL(attack_take_descriptors) {
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++words_of(args)[0];
}

/* Writes what looks like the report of a sanitizer to the file that such reports go to. words[0]: files found. */
KERNEL(attack_report) {
  static const char kText[] = "ERROR: AddressSanitizer: planted by attack_report\n";
  for (int file = 3; file < kMostFiles; ++file) {
    char target[256];
    name_of(file, target, sizeof target);
    if (strstr(target, "softtpu-reports") == NULL) continue;
    if (pwrite(file, kText, sizeof kText - 1, 0) == (ssize_t)sizeof kText - 1) ++words_of(args)[0];
  }
}

/* words[0]: mappings of other devices' memories and of other cores' pages; words[1]: 0 when static memory could be made
   writable. */
KERNEL(attack_mappings) {
  int* words = words_of(args);
  char line[512];
  int pages = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  words[1] = -1;
  while (fgets(line, sizeof line, maps) != NULL) {
    uintptr_t begin = 0, end = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    if (strstr(line, "memfd:softtpu1-") != NULL) ++words[0];
    if (strstr(line, "memfd:softtpu-status") != NULL && ++pages > 1) ++words[0];
    if (strstr(line, "memfd:softtpu0-static") != NULL)
      words[1] = mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
  }
  fclose(maps);
}

/* Unmaps what its core reports in; value 1: the copy. */
KERNEL(attack_unmap_status) {
  char line[512];
  const char* name = PARAM->value == 0 ? "memfd:softtpu-status" : "memfd:softtpu-progress";
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    uintptr_t begin = 0, end = 0;
    if (strstr(line, name) == NULL || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    munmap((void*)begin, end - begin);
    break;
  }
  fclose(maps);
}

/* Reaches for the process in value. words[i]: 0 when attempt i succeeded, else its error. */
KERNEL(attack_process) {
  int* words = words_of(args);
  const pid_t process = PARAM->value;
  struct rlimit limit;
  words[0] = kill(process, 0) == 0 ? 0 : errno;
  words[1] = prlimit(process, RLIMIT_CORE, NULL, &limit) == 0 ? 0 : errno;
  words[2] = getpriority(PRIO_PROCESS, (id_t)process) != -1 || errno == 0 ? 0 : errno;
  words[3] = ptrace(PTRACE_SEIZE, process, NULL, NULL) == 0 ? 0 : errno;
  words[4] = kill(getppid(), SIGSTOP) == 0 ? 0 : errno;
  kill(getppid(), SIGKILL);
  if (getppid() == 1) kill(-1, SIGKILL); /* every process that it can name */
}

/* ---- After the launch ---- */

/* Leaves a process of a session of its own, with no parent, that writes to words[1] for ever: the last of
   `generations`, each of which has another one and ends. words[0]: 1 when it has begun. */
static void escape(volatile int* words, int generations) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < generations; ++i) {
      setsid();
      if (fork() != 0) _exit(0);
    }
    for (int i = 1;; ++i) {
      words[1] = i;
      words[0] = 1;
      usleep(500);
    }
  }
  waitpid(child, NULL, 0);
  while (words[0] == 0) usleep(500);
}

/* Value 1: the kernel does not end either. */
KERNEL(attack_escape) {
  escape(words_of(args), 1);
  while (PARAM->value == 1) usleep(1000);
}

/* Value 1: the kernel crashes. */
KERNEL(attack_escape_deep) {
  escape(words_of(args), 20);
  if (PARAM->value == 1) abort();
}

/* ---- Kernels that never come back, as can be seen at once ---- */

KERNEL(attack_pthread_exit) {
  (void)args;
  pthread_exit(NULL);
}
static void* sleep_for_ever(void* nothing) {
  for (;;) pause();
  return nothing;
}
/* Without what the C library does before it. */
KERNEL(attack_end_thread) {
  pthread_t other;
  (void)args;
  pthread_create(&other, NULL, sleep_for_ever, NULL);
  syscall(SYS_exit, 0);
}
KERNEL(attack_deadlock) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  (void)args;
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
}
static void wait_for_ever(void) {
  for (;;) pause();
}
KERNEL(attack_exit_handler) {
  (void)args;
  atexit(wait_for_ever);
  exit(0);
}
/* Not for ever: the other thread comes. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static void* hold_and_release(void* argument) {
  sleep(3);
  pthread_mutex_unlock(&shared_lock);
  return argument;
}
KERNEL(attack_slow_lock) {
  int* words = words_of(args);
  pthread_t thread;
  pthread_mutex_lock(&shared_lock);
  pthread_create(&thread, NULL, hold_and_release, NULL);
  pthread_mutex_lock(&shared_lock);
  pthread_mutex_unlock(&shared_lock);
  pthread_join(thread, NULL);
  words[0] = 1;
}
