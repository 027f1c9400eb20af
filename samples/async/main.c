// Several devices, several handles on each: launches are queued without waiting. The launches of one handle run in
// order, so each handle's data must be what its own steps give, one after the other.
#include <bmlib_runtime.h>
#include <stdio.h>

#include "args.h"

enum { DEVICES = 2, HANDLES = 3, STEPS = 20, CHANNELS = 64, PER_CHANNEL = 256 };

typedef struct {
  int device;
  float factor;
  bm_handle_t handle;
  bm_device_mem_t memory;
  tpu_kernel_module_t module;
  tpu_kernel_function_t step;
} worker_t;

static float data[CHANNELS * PER_CHANNEL];

static int start(worker_t* worker, const char* module_path) {
  if (bm_dev_request(&worker->handle, worker->device) != BM_SUCCESS)
    return fprintf(stderr, "no device %d\n", worker->device), 1;
  for (int i = 0; i < CHANNELS * PER_CHANNEL; ++i) data[i] = (float)i;
  if (bm_malloc_device_byte(worker->handle, &worker->memory, sizeof data) != BM_SUCCESS) return 1;
  if (bm_memcpy_s2d(worker->handle, worker->memory, data) != BM_SUCCESS) return 1;
  worker->module = tpu_kernel_load_module_file(worker->handle, module_path);
  if (worker->module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  worker->step = tpu_kernel_get_function(worker->handle, worker->module, "step");
  return 0;
}

static int queue_step(worker_t* worker, int step) {
  step_args_t args = {bm_mem_get_device_addr(worker->memory), worker->factor, (float)step, CHANNELS, PER_CHANNEL};
  return tpu_kernel_launch_async(worker->handle, worker->step, &args, sizeof args) != BM_SUCCESS;
}

static int finish(worker_t* worker) {
  if (tpu_kernel_sync(worker->handle) != BM_SUCCESS ||
      bm_memcpy_d2s(worker->handle, data, worker->memory) != BM_SUCCESS)
    return 1;
  int wrong = 0;
  for (int i = 0; i < CHANNELS * PER_CHANNEL; ++i) {
    float expected = (float)i;
    for (int step = 0; step < STEPS; ++step) {
      const float product = expected * worker->factor;
      expected = product + (float)step;
    }
    wrong += data[i] != expected;
  }
  printf("device %d, factor %.2f: %d steps, %d of %d numbers wrong\n", worker->device, worker->factor, STEPS, wrong,
         CHANNELS * PER_CHANNEL);
  tpu_kernel_free_module(worker->handle, worker->module);
  bm_free_device(worker->handle, worker->memory);
  bm_dev_free(worker->handle);
  return wrong != 0;
}

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  worker_t workers[DEVICES * HANDLES];
  for (int i = 0; i < DEVICES * HANDLES; ++i) {
    workers[i].device = i % DEVICES;
    workers[i].factor = 0.5f + 0.25f * (float)i;
    if (start(&workers[i], module_path)) return 1;
  }
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < DEVICES * HANDLES; ++i) {
      if (queue_step(&workers[i], step)) return fprintf(stderr, "a launch was refused\n"), 1;
    }
  }
  int failed = 0;
  for (int i = 0; i < DEVICES * HANDLES; ++i) failed |= finish(&workers[i]);
  return failed;
}
