// The test that a generated project comes with: runs the kernel with one workitem, and with as many as the argument
// says, and compares.
#include <tpuDNN.h>
#include <tpu_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mm_bias.h"

namespace {

constexpr int M = 96, K = 48, N = 80;

bool check(tpuError_t error, const char* what) {
  if (error != tpuSuccess) std::fprintf(stderr, "%s failed: %d\n", what, static_cast<int>(error));
  return error == tpuSuccess;
}

class Buffer {
 public:
  explicit Buffer(const std::vector<float>& data) : bytes_(data.size() * sizeof(float)) {
    good_ = check(tpuMalloc(&address_, bytes_), "tpuMalloc") &&
            check(tpuMemcpyH2D(address_, data.data(), bytes_), "tpuMemcpyH2D");
  }
  ~Buffer() { tpuFree(address_); }
  bool is_good() const { return good_; }
  unsigned long long address() const { return reinterpret_cast<unsigned long long>(address_); }
  bool read(std::vector<float>& data) const {
    return check(tpuMemcpyD2H(data.data(), address_, bytes_), "tpuMemcpyD2H");
  }

 private:
  void* address_ = nullptr;
  std::size_t bytes_;
  bool good_;
};

std::vector<float> numbers(int count, int period) {
  std::vector<float> made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = static_cast<float>(i % period) - 3.0F;
  return made;
}

// Small whole numbers: every sum is exact.
int count_wrong(const std::vector<float>& out, const std::vector<float>& left, const std::vector<float>& right,
                const std::vector<float>& bias) {
  int wrong = 0;
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      float sum = bias[static_cast<std::size_t>(n)];
      for (int k = 0; k < K; ++k)
        sum += left[static_cast<std::size_t>(m * K + k)] * right[static_cast<std::size_t>(k * N + n)];
      wrong += out[static_cast<std::size_t>(m * N + n)] != sum;
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const module_path =
      std::getenv("PPL_KERNEL_PATH") != nullptr ? std::getenv("PPL_KERNEL_PATH") : KERNEL_MODULE;
  tpuStream_t stream = nullptr;
  if (!check(tpuInit(), "tpuInit") || !check(tpuSetDevice(0), "tpuSetDevice") ||
      !check(tpuStreamCreate(&stream), "tpuStreamCreate"))
    return 1;
  const tpuKernelModule_t module = tpuKernelModuleLoadFromFile(module_path, stream);
  if (module == nullptr) return 1;
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream, module);
  if (handle == nullptr) return 1;

  const std::vector<float> left = numbers(M * K, 7), right = numbers(K * N, 5), bias = numbers(N, 9);
  int wrong = 0;
  for (const int workitems : {1, argc > 1 ? std::atoi(argv[1]) : 1}) {
    std::vector<float> out(static_cast<std::size_t>(M) * N);
    const Buffer d_out(out), d_left(left), d_right(right), d_bias(bias);
    if (!d_out.is_good() || !d_left.is_good() || !d_right.is_good() || !d_bias.is_good()) return 1;
    if (mm_bias(handle, d_out.address(), d_left.address(), d_right.address(), d_bias.address(), M, K, N, workitems) !=
            0 ||
        tpudnnSync(handle) != TPUDNN_STATUS_SUCCESS || !d_out.read(out))
      return 1;
    const int differing = count_wrong(out, left, right, bias);
    std::printf("%d workitem%s: %d of %d numbers wrong\n", workitems, workitems == 1 ? "" : "s", differing, M * N);
    wrong += differing;
  }
  tpudnnDestroy(handle);
  tpuKernelUnloadModule(module, stream);
  tpuStreamDestroy(stream);
  return wrong != 0;
}
