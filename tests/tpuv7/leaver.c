/* Leaves main while its kernel runs: leaver MODULE. */
#include "tests/tpuv7/kernels/rt_param.h"
#include "tpuv7/tpuv7_rt.h"

int main(int argc, char** argv) {
  tpuRtStream_t stream;
  void* memory = NULL;
  if (argc < 2 || tpuRtSetDevice(0) != tpuRtSuccess || tpuRtStreamCreate(&stream) != tpuRtSuccess) return 1;
  const tpuRtKernelModule_t module = tpuRtKernelLoadModuleFile(argv[1], stream);
  if (module == NULL || tpuRtMalloc(&memory, 4096, 0) != tpuRtSuccess) return 1;
  rt_param_t param = {(unsigned long long)(size_t)memory, 60000, 0};
  return tpuRtKernelLaunchAsync(module, "slow_append", &param, sizeof param, 1, 1, stream) == tpuRtSuccess ? 0 : 1;
}
