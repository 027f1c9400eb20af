/* A host program as users write them, driven by the end-to-end tests: host_program SCENARIO [MODULE].
   Prints what it sees, one line each; ends with 0 when the scenario went as it must. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bmlib_runtime.h"
#include "kernels/e2e_param.h"

#define COUNT 4096
#define REQUIRE(condition)                                                  \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

static bm_handle_t handle;
static const char* module_file;

static void open_device(void) {
  const bm_status_t status = bm_dev_request(&handle, 0);
  printf("request %d\n", status);
  if (status != BM_SUCCESS) exit(2);
  if (module_file != NULL) REQUIRE(tpu_kernel_load_module_file(handle, module_file) != NULL);
}

/* Everything a program does: allocate, launch, read back, copy, fill, free. */
static void use_device(void) {
  static int words[COUNT], back[COUNT];
  bm_device_mem_t a, b;
  e2e_param_t param;
  int i;
  REQUIRE(bm_malloc_device_byte(handle, &a, sizeof words) == BM_SUCCESS);
  REQUIRE(bm_malloc_device_byte(handle, &b, sizeof words) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2s(handle, back, a) == BM_SUCCESS);
  for (i = 0; i < COUNT; ++i) REQUIRE(back[i] == 0);
  param.address = bm_mem_get_device_addr(a);
  param.count = COUNT;
  param.value = 1000;
  REQUIRE(tpu_kernel_launch_sync(handle, "e2e_fill", &param, sizeof param) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2s(handle, back, a) == BM_SUCCESS);
  for (i = 0; i < COUNT; ++i) REQUIRE(back[i] == 1000 + i);
  for (i = 0; i < COUNT; ++i) words[i] = -i;
  REQUIRE(bm_memcpy_s2d(handle, a, words) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2d_byte(handle, b, 0, a, 0, sizeof words) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2s(handle, back, b) == BM_SUCCESS);
  for (i = 0; i < COUNT; ++i) REQUIRE(back[i] == -i);
  REQUIRE(bm_memset_device(handle, 0x5A5A5A5A, b) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2s(handle, back, b) == BM_SUCCESS);
  for (i = 0; i < COUNT; ++i) REQUIRE(back[i] == 0x5A5A5A5A);
  bm_free_device(handle, a);
  bm_free_device(handle, b);
}

static int fails(const char* kernel) {
  e2e_param_t param;
  memset(&param, 0, sizeof param);
  const bm_status_t status = tpu_kernel_launch_sync(handle, kernel, &param, sizeof param);
  printf("%s %d\n", kernel, status);
  return status != BM_SUCCESS;
}

/* More than any message or buffer holds, and no round number of them. */
static void copy_much(void) {
  const size_t bytes = (40u << 20) + 12345;
  unsigned char *out = malloc(bytes), *back = malloc(bytes);
  bm_device_mem_t a, b;
  size_t i;
  REQUIRE(out != NULL && back != NULL);
  for (i = 0; i < bytes; ++i) out[i] = (unsigned char)(i * 2654435761u >> 13);
  REQUIRE(bm_malloc_device_byte(handle, &a, (unsigned)bytes) == BM_SUCCESS);
  REQUIRE(bm_malloc_device_byte(handle, &b, (unsigned)bytes) == BM_SUCCESS);
  REQUIRE(bm_memcpy_s2d(handle, a, out) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2d_byte(handle, b, 0, a, 0, bytes) == BM_SUCCESS);
  REQUIRE(bm_memcpy_d2s(handle, back, b) == BM_SUCCESS);
  REQUIRE(memcmp(out, back, bytes) == 0);
  bm_free_device(handle, a);
  bm_free_device(handle, b);
  free(out);
  free(back);
}

/* After each kernel that kills its core, memory is as it was and the next launch works. */
static void faults(void) {
  static const char* const kKernels[] = {"e2e_segv", "e2e_abort", "e2e_fpe",  "e2e_ill",
                                         "e2e_exit", "e2e_stack", "e2e_guard"};
  bm_device_mem_t mem;
  size_t i;
  int word = 4711, back = 0;
  REQUIRE(bm_malloc_device_byte(handle, &mem, sizeof word) == BM_SUCCESS);
  REQUIRE(bm_memcpy_s2d(handle, mem, &word) == BM_SUCCESS);
  for (i = 0; i < sizeof kKernels / sizeof kKernels[0]; ++i) {
    REQUIRE(fails(kKernels[i]));
    use_device();
    REQUIRE(bm_memcpy_d2s(handle, &back, mem) == BM_SUCCESS);
    REQUIRE(back == word);
  }
  /* This one comes to its end, but its core has lost its connection. */
  fails("e2e_close_all");
  use_device();
  bm_free_device(handle, mem);
}

static void firmware_module(void) {
  static const char kEmpty[] = {0};
  const tpu_kernel_module_t module = tpu_kernel_load_module(handle, kEmpty, sizeof kEmpty);
  REQUIRE(module != NULL);
  REQUIRE(tpu_kernel_get_function(handle, module, "e2e_nothing") > 0);
  REQUIRE(tpu_kernel_get_function(handle, module, "e2e_by_symbol") > 0);
  REQUIRE(tpu_kernel_get_function(handle, module, "e2e_no_such") == -1);
  REQUIRE(tpu_kernel_launch(handle, tpu_kernel_get_function(handle, module, "e2e_nothing"), NULL, 0) == BM_SUCCESS);
  REQUIRE(tpu_kernel_free_module(handle, module) == BM_SUCCESS);
}

/* One of many threads with a handle each; the first one also kills the core from time to time. */
static void* work(void* argument) {
  const int id = *(const int*)argument;
  bm_handle_t own;
  int words[64], i, k;
  REQUIRE(bm_dev_request(&own, 0) == BM_SUCCESS);
  for (i = 0; i < 300; ++i) {
    bm_device_mem_t mem;
    e2e_param_t param;
    REQUIRE(bm_malloc_device_byte(own, &mem, 4096 * (1 + (unsigned)(id * i % 7))) == BM_SUCCESS);
    param.address = bm_mem_get_device_addr(mem);
    param.count = 64;
    param.value = id * 100000 + i;
    if (i % 3 == 0) {
      REQUIRE(okkernel_launch_async(own, "e2e_fill", &param, sizeof param) == BM_SUCCESS);
      REQUIRE(okkernel_sync(own) == BM_SUCCESS);
    } else {
      REQUIRE(tpu_kernel_launch_sync(own, "e2e_fill", &param, sizeof param) == BM_SUCCESS);
    }
    REQUIRE(bm_memcpy_d2s_partial(own, words, mem, sizeof words) == BM_SUCCESS);
    for (k = 0; k < 64; ++k) REQUIRE(words[k] == param.value + k);
    bm_free_device(own, mem);
    if (id == 0 && i % 100 == 7) REQUIRE(tpu_kernel_launch_sync(own, "e2e_segv", NULL, 0) == BM_ERR_FAILURE);
  }
  bm_dev_free(own);
  return NULL;
}

static void threads(void) {
  pthread_t threads[8];
  int ids[8], i;
  for (i = 0; i < 8; ++i) {
    ids[i] = i;
    REQUIRE(pthread_create(&threads[i], NULL, work, &ids[i]) == 0);
  }
  for (i = 0; i < 8; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static volatile sig_atomic_t signals;
static void note_signal(int signal) {
  (void)signal;
  ++signals;
}

/* A program that handles signals itself, and interrupts its system calls with them: its launch goes on to its end. */
static void handled_signals(void) {
  struct sigaction action;
  e2e_param_t param;
  struct itimerval every = {{0, 20000}, {0, 20000}};
  memset(&action, 0, sizeof action);
  action.sa_handler = note_signal;
  REQUIRE(sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
  REQUIRE(setitimer(ITIMER_REAL, &every, NULL) == 0);
  memset(&param, 0, sizeof param);
  param.value = 1000;
  REQUIRE(kill(getpid(), SIGINT) == 0);
  REQUIRE(tpu_kernel_launch_sync(handle, "e2e_sleep", &param, sizeof param) == BM_SUCCESS);
  REQUIRE(okkernel_launch_async(handle, "e2e_sleep", &param, sizeof param) == BM_SUCCESS);
  REQUIRE(bm_thread_sync(handle) == BM_SUCCESS);
  REQUIRE(signals > 10);
}

static void forked(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(fails("e2e_nothing") ? 0 : 1);
  REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  REQUIRE(!fails("e2e_nothing"));
}

/* A stack that no memory has room for: from now on no thread can be started. */
static void allow_no_thread(void) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, (size_t)1 << 46) == 0);
  REQUIRE(pthread_setattr_default_np(&attributes) == 0);
}

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  module_file = argc > 2 ? argv[2] : NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(scenario, "no_thread") == 0) allow_no_thread();
  open_device();
  if (strcmp(scenario, "use") == 0) {
    use_device();
  } else if (strcmp(scenario, "faults") == 0) {
    faults();
  } else if (strcmp(scenario, "firmware") == 0) {
    use_device();
    firmware_module();
  } else if (strcmp(scenario, "children") == 0) {
    use_device();
    REQUIRE(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  } else if (strcmp(scenario, "threads") == 0) {
    threads();
  } else if (strcmp(scenario, "fork") == 0) {
    forked();
  } else if (strcmp(scenario, "signals") == 0) {
    open_device();
    handled_signals();
  } else if (strcmp(scenario, "hold") == 0) {
    use_device();
    printf("holding\n");
    pause();
  } else if (strcmp(scenario, "hang") == 0) {
    printf("hanging\n");
    fails("e2e_spin");
    use_device();
  } else if (strcmp(scenario, "again") == 0) {
    /* The device is killed while a launch waits for it; the next request gets another one. */
    printf("hanging\n");
    REQUIRE(fails("e2e_spin"));
    REQUIRE(fails("e2e_nothing"));
    bm_dev_free(handle);
    open_device();
    use_device();
  } else if (strcmp(scenario, "leave_a_fork") == 0) {
    use_device();
    if (fork() == 0) {
      sleep(20);
      _exit(0);
    }
    _exit(0);
  } else if (strcmp(scenario, "leak") == 0) { /* findings of the program and of a kernel, for a device with checks */
    bm_device_mem_t kept;
    e2e_param_t param;
    REQUIRE(bm_malloc_device_byte(handle, &kept, 4096) == BM_SUCCESS);
    param.address = bm_mem_get_device_addr(kept) + 4096; /* behind the allocation */
    param.count = 16;
    param.value = 0;
    REQUIRE(tpu_kernel_launch_sync(handle, "e2e_shape", &param, sizeof param) == BM_SUCCESS);
  } else if (strcmp(scenario, "two") == 0) { /* a launch on each of two devices */
    bm_handle_t second, devices[2];
    int i;
    REQUIRE(bm_dev_request(&second, 1) == BM_SUCCESS);
    REQUIRE(tpu_kernel_load_module_file(second, argv[2]) != NULL);
    devices[0] = handle;
    devices[1] = second;
    for (i = 0; i < 2; ++i) {
      bm_device_mem_t memory;
      e2e_param_t param;
      REQUIRE(bm_malloc_device_byte(devices[i], &memory, 4096) == BM_SUCCESS);
      param.address = bm_mem_get_device_addr(memory);
      param.count = 16;
      param.value = 0;
      REQUIRE(tpu_kernel_launch_sync(devices[i], "e2e_shape", &param, sizeof param) == BM_SUCCESS);
      bm_free_device(devices[i], memory);
    }
    bm_dev_free(second);
  } else if (strcmp(scenario, "big") == 0) {
    copy_much();
  } else if (strcmp(scenario, "print") == 0) {
    printf("before\n");
    REQUIRE(!fails("e2e_print"));
  } else if (strcmp(scenario, "exit_in_kernel") == 0) {
    fails("e2e_exit");
  } else {
    fprintf(stderr, "unknown scenario %s\n", scenario);
    return 3;
  }
  bm_dev_free(handle);
  printf("done\n");
  return 0;
}
