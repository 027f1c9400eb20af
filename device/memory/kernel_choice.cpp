#include "device/memory/kernel_choice.hpp"

#include <hwy/targets.h>

#include <cstdint>

namespace softtpu {
namespace {

bool plain = false;

constexpr std::int64_t kAvx512 = HWY_AVX3 | HWY_AVX3_DL;
constexpr std::int64_t kAvx2 = kAvx512 | HWY_AVX2;

#ifdef SOFTTPU_ONLY_TARGET
// The loops were built for one instruction set alone.
constexpr std::int64_t kBuilt = SOFTTPU_ONLY_TARGET == HWY_AVX3_DL ? kAvx512 : SOFTTPU_ONLY_TARGET;
#else
constexpr std::int64_t kBuilt = kAvx2 | HWY_SSE4;
#endif

}  // namespace

void set_plain_kernels(bool value) { plain = value; }
bool plain_kernels() { return plain; }

bool set_simd_limit(std::string_view name) {
  hwy::DisableTargets(0);
#if defined(__aarch64__)
  return name.empty() || name == "neon";  // which is all that there is
#endif
  const std::int64_t usable = hwy::SupportedTargets() & kBuilt;
  if (name.empty()) return true;
  if (name == "avx512") return (usable & kAvx512) != 0;
  if ((usable & (name == "avx2" ? HWY_AVX2 : HWY_SSE4)) == 0) return false;
  hwy::DisableTargets(name == "avx2" ? kAvx512 : kAvx2);
  return true;
}

}  // namespace softtpu
