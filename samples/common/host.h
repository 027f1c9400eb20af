// What host programs of several samples share: a device with its kernels, memory, random numbers.
#ifndef SAMPLES_HOST_H
#define SAMPLES_HOST_H

#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bm_handle_t handle;
static tpu_kernel_module_t module;

static inline void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

// As bm_get_chipid says; some of what samples do depends on it.
enum { BM1684X = 0x1686, BM1684X2 = 0x1684 };
static inline unsigned chip_id(void) {
  unsigned id = 0;
  if (bm_get_chipid(handle, &id) != BM_SUCCESS) fail("the device does not say which chip it is");
  return id;
}

// NULL: the program's own module, for the device's chip. The headers of BM1684X2 number fp16 otherwise than all others.
static inline void open_device(const char* module_path) {
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) fail("no device");
#ifdef KERNEL_MODULE_BM1684X2
  if (module_path == NULL) module_path = chip_id() == BM1684X2 ? KERNEL_MODULE_BM1684X2 : KERNEL_MODULE;
#endif
  module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) fail("the kernel module cannot be loaded");
}

static inline void close_device(void) {
  tpu_kernel_free_module(handle, module);
  bm_dev_free(handle);
}

// Memory of the device, by its address.
static inline unsigned long long allocate(size_t bytes) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, (unsigned)bytes) != BM_SUCCESS) fail("no device memory");
  return bm_mem_get_device_addr(memory);
}

static inline unsigned long long upload(const void* data, size_t bytes) {
  const unsigned long long address = allocate(bytes);
  if (bm_memcpy_s2d(handle, bm_mem_from_device(address, (unsigned)bytes), (void*)data) != BM_SUCCESS)
    fail("the upload failed");
  return address;
}

static inline void download(void* data, unsigned long long address, size_t bytes) {
  if (bm_memcpy_d2s(handle, data, bm_mem_from_device(address, (unsigned)bytes)) != BM_SUCCESS)
    fail("the download failed");
}

static inline void release(unsigned long long address, size_t bytes) {
  bm_free_device(handle, bm_mem_from_device(address, (unsigned)bytes));
}

static inline void launch(const char* kernel, const void* args, size_t bytes) {
  const tpu_kernel_function_t function = tpu_kernel_get_function(handle, module, kernel);
  if (tpu_kernel_launch(handle, function, (void*)args, (unsigned)bytes) != BM_SUCCESS) fail("the launch failed");
}

// The larger of two differences. A NaN counts as infinity; fmax() alone would drop it.
static inline double larger_difference(double worst, double difference) {
  return fmax(worst, isnan(difference) ? INFINITY : difference);
}

static inline unsigned random_bits(void) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

// Between -1 and 1.
static inline float random_float(void) { return (float)random_bits() / (float)(1 << 23) - 1.0f; }

static inline int random_int(int low, int high) { return low + (int)(random_bits() % (unsigned)(high - low + 1)); }

#endif
