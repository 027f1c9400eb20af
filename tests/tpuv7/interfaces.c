/* One program for each newer interface: interfaces rt|wrapper|tpudnn MODULE [bad|crash]. It adds two tensors; "bad"
 * leaves the second one unwritten, "crash" runs another kernel afterwards, which crashes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tpuv7/kernels/rt_param.h"
#include "tpu_runtime_api/tpu_runtime_api.h"
#include "tpudnn/tpuDNN.h"
#include "tpuv7/tpuv7_rt.h"

enum { kColumns = 16, kCount = 64 * kColumns, kBytes = kCount * 4 };

static int crashes;
static float left[kCount], right[kCount], sum[kCount];

static void need(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static rt_param_t make_param(const void* memory) {
  const rt_param_t param = {(unsigned long long)(size_t)memory, kColumns, 0};
  return param;
}

static void use_rt(const char* path, int bad) {
  tpuRtStream_t stream;
  void* memory = NULL;
  need(tpuRtSetDevice(0) == tpuRtSuccess && tpuRtStreamCreate(&stream) == tpuRtSuccess, "a stream");
  const tpuRtKernelModule_t module = tpuRtKernelLoadModuleFile(path, stream);
  need(module != NULL && tpuRtMalloc(&memory, 3 * kBytes, 0) == tpuRtSuccess, "memory");
  rt_param_t param = make_param(memory);
  need(tpuRtMemcpyS2DAsync(memory, left, kBytes, stream) == tpuRtSuccess, "a copy");
  if (!bad) need(tpuRtMemcpyS2DAsync((char*)memory + kBytes, right, kBytes, stream) == tpuRtSuccess, "a copy");
  need(tpuRtKernelLaunchAsync(module, "add_tensors", &param, sizeof param, 1, 1, stream) == tpuRtSuccess, "a launch");
  need(tpuRtMemcpyD2SAsync(sum, (char*)memory + 2 * kBytes, kBytes, stream) == tpuRtSuccess, "a copy");
  if (crashes) tpuRtKernelLaunchAsync(module, "crash", &param, sizeof param, 1, 1, stream);
  need(tpuRtStreamSynchronize(stream) == tpuRtSuccess, "the stream");
  need(tpuRtFree(&memory, 0) == tpuRtSuccess && tpuRtStreamDestroy(stream) == tpuRtSuccess, "the end");
}

static void use_wrapper(const char* path, int bad) {
  tpuStream_t stream;
  void* memory = NULL;
  tpuGraph_t graph;
  tpuGraphExec_t exec;
  need(tpuSetDevice(0) == tpuSuccess && tpuStreamCreate(&stream) == tpuSuccess, "a stream");
  const tpuKernelModule_t module = tpuKernelModuleLoadFromFile(path, stream);
  need(module != NULL && tpuMalloc(&memory, 3 * kBytes) == tpuSuccess, "memory");
  const rt_param_t param = make_param(memory);
  need(tpuStreamBeginCapture(stream) == tpuSuccess, "a graph");
  need(tpuMemcpyH2DAsync(memory, left, kBytes, stream) == tpuSuccess, "a copy");
  if (!bad) need(tpuMemcpyH2DAsync((char*)memory + kBytes, right, kBytes, stream) == tpuSuccess, "a copy");
  need(tpuKernelLaunchAsync(module, "add_tensors", &param, sizeof param, 1, 1, stream) == tpuSuccess, "a launch");
  need(tpuMemcpyD2HAsync(sum, (char*)memory + 2 * kBytes, kBytes, stream) == tpuSuccess, "a copy");
  if (crashes) tpuKernelLaunchAsync(module, "crash", &param, sizeof param, 1, 1, stream);
  need(tpuStreamEndCapture(stream, &graph) == tpuSuccess, "a graph");
  need(tpuGraphInstantiate(&exec, graph, NULL) == tpuSuccess && tpuGraphLaunch(exec, stream) == tpuSuccess, "a graph");
  need(tpuStreamSynchronize(stream) == tpuSuccess, "the stream");
  need(tpuFree(memory) == tpuSuccess && tpuStreamDestroy(stream) == tpuSuccess, "the end");
}

/* Kernels come from PPL_KERNEL_PATH; the interface has no memory of its own. */
static void use_tpudnn(const char* path, int bad) {
  void* memory = NULL;
  need(setenv("PPL_KERNEL_PATH", path, 1) == 0, "the environment");
  const tpudnnHandle_t handle = tpudnnCreate(0);
  need(handle != NULL && tpuSetDevice(0) == tpuSuccess && tpuMalloc(&memory, 3 * kBytes) == tpuSuccess, "memory");
  rt_param_t param = make_param(memory);
  const unsigned long long at = param.address;
  need(tpudnnMemcpyHostToDevice(handle, at, left, kBytes) == TPUDNN_STATUS_SUCCESS, "a copy");
  if (!bad) need(tpudnnMemcpyHostToDevice(handle, at + kBytes, right, kBytes) == TPUDNN_STATUS_SUCCESS, "a copy");
  need(tpudnnLaunchKernel(handle, "add_tensors", &param, sizeof param, 1, 1) == TPUDNN_STATUS_SUCCESS, "a launch");
  need(tpudnnMemcpyDeviceToHost(handle, sum, at + 2 * kBytes, kBytes) == TPUDNN_STATUS_SUCCESS, "a copy");
  if (crashes) tpudnnLaunchKernel(handle, "crash", &param, sizeof param, 1, 1);
  need(tpudnnSync(handle) == TPUDNN_STATUS_SUCCESS && tpuFree(memory) == tpuSuccess, "the end");
  tpudnnDestroy(handle);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int bad = argc > 3 && strcmp(argv[3], "bad") == 0;
  crashes = argc > 3 && strcmp(argv[3], "crash") == 0;
  for (int i = 0; i < kCount; ++i) {
    left[i] = (float)(i % 97);
    right[i] = (float)(i % 31);
  }
  if (strcmp(argv[1], "rt") == 0) use_rt(argv[2], bad);
  if (strcmp(argv[1], "wrapper") == 0) use_wrapper(argv[2], bad);
  if (strcmp(argv[1], "tpudnn") == 0) use_tpudnn(argv[2], bad);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += sum[i] != left[i] + (bad ? 0 : right[i]);
  printf("%d of %d numbers wrong\n", wrong, kCount);
  return wrong != 0;
}
