// Streams, events and a callback: two streams work on pieces of their own, copies and launches are queued without
// waiting, and an event orders what one stream needs of the other.
#include <stdio.h>
#include <stdlib.h>
#include <tpuv7_rt.h>

#include "args.h"

enum { NPUS = 64, PER_NPU = 1024, COUNT = NPUS * PER_NPU, CORES = 8 };

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const tpuRtStatus_t status = (call);                                                   \
    if (status != tpuRtSuccess) return fprintf(stderr, "%s: %d\n", #call, (int)status), 1; \
  } while (0)

typedef struct {
  tpuRtStream_t stream;
  tpuRtKernelModule_t module;
  void *a, *b, *out;
} worker_t;

static float a[COUNT], b[COUNT], results[2][COUNT];

static int count_call(void* counter) {
  ++*(int*)counter;
  return 0;
}

static int start(worker_t* worker, const char* module_path) {
  CHECK(tpuRtStreamCreate(&worker->stream));
  worker->module = tpuRtKernelLoadModuleFile(module_path, worker->stream);
  if (worker->module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  CHECK(tpuRtMalloc(&worker->a, sizeof a, 0));
  CHECK(tpuRtMalloc(&worker->b, sizeof b, 0));
  CHECK(tpuRtMalloc(&worker->out, sizeof a, 0));
  return 0;
}

static int queue(worker_t* worker, int factor, float* result, int* calls) {
  axpy_args_t args = {(size_t)worker->out, (size_t)worker->a, (size_t)worker->b, PER_NPU, factor};
  CHECK(tpuRtMemcpyS2DAsync(worker->a, a, sizeof a, worker->stream));
  CHECK(tpuRtMemcpyS2DAsync(worker->b, b, sizeof b, worker->stream));
  // A chip with fewer cores refuses this, unless TPU_RT_CORE_NUM says how many are enough.
  CHECK(tpuRtKernelLaunchAsync(worker->module, "axpy", &args, sizeof args, 1, CORES, worker->stream));
  CHECK(tpuRtMemcpyD2SAsync(result, worker->out, sizeof a, worker->stream));
  CHECK(tpuRtStreamAddCallback(worker->stream, count_call, calls));
  return 0;
}

static int finish(worker_t* worker) {
  CHECK(tpuRtFree(&worker->a, 0));
  CHECK(tpuRtFree(&worker->b, 0));
  CHECK(tpuRtFree(&worker->out, 0));
  CHECK(tpuRtKernelUnloadModule(worker->module, worker->stream));
  CHECK(tpuRtStreamDestroy(worker->stream));
  return 0;
}

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  worker_t first, second;
  tpuRtEvent_t begin, end;
  int calls = 0, wrong = 0;
  float ms = 0;
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)(i % 97);
    b[i] = (float)(i % 89);
  }
  CHECK(tpuRtInit());
  CHECK(tpuRtSetDevice(0));
  if (start(&first, module_path) || start(&second, module_path)) return 1;
  CHECK(tpuRtEventCreate(&begin));
  CHECK(tpuRtEventCreate(&end));

  CHECK(tpuRtEventRecord(begin, first.stream));
  if (queue(&first, 2, results[0], &calls)) return 1;
  CHECK(tpuRtEventRecord(end, first.stream));
  // The second stream adds to what the first has made.
  CHECK(tpuRtStreamWaitEvent(second.stream, end));
  CHECK(tpuRtMemcpyS2DAsync(second.b, b, sizeof b, second.stream));
  axpy_args_t args = {(size_t)second.out, (size_t)first.out, (size_t)second.b, PER_NPU, 3};
  CHECK(tpuRtKernelLaunchAsync(second.module, "axpy", &args, sizeof args, 1, 1, second.stream));
  CHECK(tpuRtMemcpyD2SAsync(results[1], second.out, sizeof a, second.stream));
  CHECK(tpuRtStreamAddCallback(second.stream, count_call, &calls));
  CHECK(tpuRtDeviceSynchronize());

  for (int i = 0; i < COUNT; ++i) {
    wrong += results[0][i] != a[i] + 2 * b[i];
    wrong += results[1][i] != a[i] + 5 * b[i];
  }
  CHECK(tpuRtEventElapsedTime(&ms, begin, end));
  printf("the first stream took %.3f ms\n", ms);
  CHECK(tpuRtEventFree(begin, first.stream));
  CHECK(tpuRtEventFree(end, first.stream));
  if (finish(&first) || finish(&second)) return 1;
  printf("%d of %d numbers wrong, %d callbacks\n", wrong, 2 * COUNT, calls);
  return wrong != 0 || calls != 2;
}
