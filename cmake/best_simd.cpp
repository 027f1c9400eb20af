// Prints the best instruction set of this machine that SIMD loops are compiled for, by Highway's name.
#include <hwy/targets.h>

#include <cstdio>

int main() {
  const auto supported = hwy::SupportedTargets();
  const char* best = nullptr;
  if ((supported & HWY_SSE4) != 0) best = "HWY_SSE4";
  if ((supported & HWY_AVX2) != 0) best = "HWY_AVX2";
  if ((supported & HWY_AVX3) != 0) best = "HWY_AVX3";
  if ((supported & HWY_AVX3_DL) != 0) best = "HWY_AVX3_DL";
  if (best == nullptr) return 1;
  std::fputs(best, stdout);
  return 0;
}
