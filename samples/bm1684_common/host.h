// What the host programs of the BM1684 samples share: a device with its kernels, memory, random numbers, the
// comparison.
#ifndef BM1684_HOST_H
#define BM1684_HOST_H

#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bm_handle_t handle;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

// A BM1684 with the kernels of a module; they are launched by name.
static void open_device(const char* module) {
  setenv("SOFTTPU_CHIP", "bm1684", 0);
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) fail("no device");
  if (tpu_kernel_load_module_file(handle, module) == NULL) fail("the kernel module cannot be loaded");
}

static bm_device_mem_t device_memory(size_t floats) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, (unsigned)(floats * sizeof(float))) != BM_SUCCESS)
    fail("no device memory");
  return memory;
}

static bm_device_mem_t upload(const float* data, size_t floats) {
  bm_device_mem_t memory = device_memory(floats);
  if (bm_memcpy_s2d(handle, memory, (void*)data) != BM_SUCCESS) fail("the upload failed");
  return memory;
}

static void launch(const char* kernel, const void* args, unsigned bytes) {
  if (okkernel_launch_sync(handle, kernel, args, bytes) != BM_SUCCESS) fail("the launch failed");
}

static float* numbers(size_t count, unsigned seed) {
  float* data = malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
  return data;
}

// The device's result against one in double precision: the largest difference as a share of the largest value.
static double compare(bm_device_mem_t memory, const double* want, size_t count) {
  float* got = malloc(count * sizeof(float));
  if (bm_memcpy_d2s(handle, got, memory) != BM_SUCCESS) fail("the download failed");
  double worst = 0, largest = 1e-30;
  for (size_t i = 0; i < count; ++i) {
    const double difference = fabs(got[i] - want[i]);
    worst = fmax(worst, isnan(difference) ? INFINITY : difference); /* a NaN counts as infinity */
    largest = fmax(largest, fabs(want[i]));
  }
  free(got);
  return worst / largest;
}

#endif
