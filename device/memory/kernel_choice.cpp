#include "device/memory/kernel_choice.hpp"

#include <hwy/targets.h>

#include <cstdint>

namespace softtpu {
namespace {

bool plain = false;

constexpr std::int64_t kAvx512 = HWY_AVX3 | HWY_AVX3_DL;
constexpr std::int64_t kAvx2 = kAvx512 | HWY_AVX2;

}  // namespace

void set_plain_kernels(bool value) { plain = value; }
bool plain_kernels() { return plain; }

bool set_simd_limit(std::string_view name) {
  hwy::DisableTargets(0);
  const std::int64_t machine = hwy::SupportedTargets();
  if (name.empty()) return true;
  if (name == "avx512") return (machine & kAvx512) != 0;
  hwy::DisableTargets(name == "avx2" ? kAvx512 : kAvx2);
  return (machine & (name == "avx2" ? HWY_AVX2 : HWY_SSE4)) != 0;
}

}  // namespace softtpu
