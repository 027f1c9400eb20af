// Host program of the corpus: runs one kernel (MODULE KERNEL [LAUNCHES [CORES]]), or one defect of its own (NAME
// MODULE).
#include <bmlib_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define BYTES (BUFFER_ELEMENTS * sizeof(float))

static bm_handle_t handle;
static float data[2 * BUFFER_ELEMENTS];

static bm_device_mem_t allocate(void) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, BYTES) != BM_SUCCESS) exit(2);
  return memory;
}

static void run_kernel(const char* module_path, const char* name, int launches, int cores) {
  bm_device_mem_t out = allocate(), a = allocate(), b = allocate(), scratch = allocate(), freed = allocate();
  for (int i = 0; i < BUFFER_ELEMENTS; ++i) data[i] = (float)(i % 251 + 1);
  bm_memcpy_s2d(handle, a, data);
  bm_memcpy_s2d(handle, b, data + 1);
  bm_memcpy_s2d(handle, freed, data);
  // Many kernels store nothing, and are not about that.
  if (strstr(name, "output") == NULL) bm_memcpy_s2d(handle, out, data);
  bug_args_t args = {bm_mem_get_device_addr(out),     bm_mem_get_device_addr(a),     bm_mem_get_device_addr(b),
                     bm_mem_get_device_addr(scratch), bm_mem_get_device_addr(freed), 0};
  bm_free_device(handle, freed);
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  tpu_kernel_function_t function = tpu_kernel_get_function(handle, module, name);
  // A launch that fails is what some of the kernels are for.
  const int list[] = {0, 1, 2, 3};
  for (args.pass = 0; args.pass < launches; ++args.pass) {
    if (cores > 1) {
      tpu_kernel_launch_sync_multi_cores(handle, name, &args, sizeof args, list, cores);
    } else {
      tpu_kernel_launch(handle, function, &args, sizeof args);
    }
  }
  bm_memcpy_d2s(handle, data, out);
  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, out);
  bm_free_device(handle, a);
  bm_free_device(handle, b);
  bm_free_device(handle, scratch);
}

static void bug_host_copy_too_long(void) {
  bm_device_mem_t memory = allocate();
  bm_memcpy_s2d_partial(handle, memory, data, BYTES + 4);  // finds memory/host-copy
  bm_free_device(handle, memory);
}
static void ok_host_copy_too_long(void) {
  bm_device_mem_t memory = allocate();
  bm_memcpy_s2d_partial(handle, memory, data, BYTES - 4);
  bm_free_device(handle, memory);
}

static void bug_host_read_at_offset(void) {
  bm_device_mem_t memory = allocate();
  bm_memcpy_s2d(handle, memory, data);
  bm_memcpy_d2s_partial_offset(handle, data, memory, BYTES, 64);  // finds memory/host-copy
  bm_free_device(handle, memory);
}
static void ok_host_read_at_offset(void) {
  bm_device_mem_t memory = allocate();
  bm_memcpy_s2d(handle, memory, data);
  bm_memcpy_d2s_partial_offset(handle, data, memory, BYTES - 64, 64);
  bm_free_device(handle, memory);
}

static void bug_host_wrong_descriptor(void) {
  bm_device_mem_t memory = allocate();
  bm_device_mem_t larger = bm_mem_from_device(bm_mem_get_device_addr(memory), 2 * BYTES);
  bm_memcpy_s2d(handle, larger, data);  // finds memory/host-copy
  bm_free_device(handle, memory);
}
static void ok_host_wrong_descriptor(void) {
  bm_device_mem_t memory = allocate();
  bm_device_mem_t same = bm_mem_from_device(bm_mem_get_device_addr(memory), BYTES);
  bm_memcpy_s2d(handle, same, data);
  bm_free_device(handle, memory);
}

static void bug_host_strided_copy(void) {
  bm_device_mem_t from = allocate(), to = allocate();
  bm_memcpy_d2d_stride(handle, to, 1, from, 2, BUFFER_ELEMENTS, 4);  // finds memory/host-copy
  bm_free_device(handle, from);
  bm_free_device(handle, to);
}
static void ok_host_strided_copy(void) {
  bm_device_mem_t from = allocate(), to = allocate();
  bm_memcpy_s2d(handle, from, data);
  bm_memcpy_d2d_stride(handle, to, 1, from, 2, BUFFER_ELEMENTS / 2, 4);
  bm_free_device(handle, from);
  bm_free_device(handle, to);
}

static void bug_host_gather(void) {
  bm_device_mem_t memory = allocate();
  const unsigned long long half = BYTES / 2;
  bm_memcpy_s2d_gather(handle, memory, 4, data, half, data, half + 4);  // finds memory/host-copy
  bm_free_device(handle, memory);
}
static void ok_host_gather(void) {
  bm_device_mem_t memory = allocate();
  const unsigned long long half = BYTES / 2;
  bm_memcpy_s2d_gather(handle, memory, 4, data, half, data, half);
  bm_free_device(handle, memory);
}

static void bug_host_fill(void) {
  bm_device_mem_t memory = allocate();
  bm_memset_device(handle, 0, bm_mem_from_device(bm_mem_get_device_addr(memory), 2 * BYTES));  // finds memory/host-copy
  bm_free_device(handle, memory);
}
static void ok_host_fill(void) {
  bm_device_mem_t memory = allocate();
  bm_memset_device(handle, 0, memory);
  bm_free_device(handle, memory);
}

static void bug_host_leak(void) {
  bm_device_mem_t memory;
  bm_malloc_device_byte(handle, &memory, BYTES);  // finds memory/leak
  bm_memcpy_s2d(handle, memory, data);
}
static void ok_host_leak(void) {
  bm_device_mem_t memory;
  bm_malloc_device_byte(handle, &memory, BYTES);
  bm_memcpy_s2d(handle, memory, data);
  bm_free_device(handle, memory);
}

// A kernel of the module of memory.c that reads `a` and writes `out`.
static const char* memory_module;

static void launch_and_copy(int waits) {
  bm_device_mem_t out = allocate(), a = allocate();
  bug_args_t args = {bm_mem_get_device_addr(out), bm_mem_get_device_addr(a), 0, 0, 0, 0};
  bm_memcpy_s2d(handle, a, data);
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, memory_module);
  tpu_kernel_function_t function = tpu_kernel_get_function(handle, module, "ok_read_past_end");
  tpu_kernel_launch_async(handle, function, &args, sizeof args);
  if (waits) bm_thread_sync(handle);
  bm_memcpy_d2s(handle, data, out);
  bm_thread_sync(handle);
  bm_memcpy_d2s(handle, data, out);
  // What the chip does itself stands in the queue behind the launch.
  tpu_kernel_launch_async(handle, function, &args, sizeof args);
  bm_memcpy_d2d_byte(handle, a, 0, out, 0, BYTES);
  bm_memcpy_d2s(handle, data, a);
  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, out);
  bm_free_device(handle, a);
}
static void bug_copy_without_waiting(void) {
  launch_and_copy(0);  // finds race/host-copy
}
static void ok_copy_without_waiting(void) { launch_and_copy(1); }

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {CASE(bug_host_copy_too_long),
              CASE(ok_host_copy_too_long),
              CASE(bug_host_read_at_offset),
              CASE(ok_host_read_at_offset),
              CASE(bug_host_wrong_descriptor),
              CASE(ok_host_wrong_descriptor),
              CASE(bug_host_strided_copy),
              CASE(ok_host_strided_copy),
              CASE(bug_host_gather),
              CASE(ok_host_gather),
              CASE(bug_copy_without_waiting),
              CASE(ok_copy_without_waiting),
              CASE(bug_host_fill),
              CASE(ok_host_fill),
              CASE(bug_host_leak),
              CASE(ok_host_leak)};

int main(int argc, char** argv) {
  if (argc < 2 || bm_dev_request(&handle, 0) != BM_SUCCESS) return 2;
  int found = 0;
  memory_module = argc > 2 ? argv[2] : "";
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(kCases[i].name, argv[1]) != 0) continue;
    kCases[i].run();
    found = 1;
  }
  if (!found && argc > 2) {
    run_kernel(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 1, argc > 4 ? atoi(argv[4]) : 1);
    found = 1;
  }
  bm_dev_free(handle);
  return found ? 0 : 2;
}
