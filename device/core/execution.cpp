#include "device/core/execution.hpp"

#include <fmt/format.h>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"

namespace softtpu {

namespace {

bool computes_nothing_ = false;

}  // namespace

bool computes_nothing() { return computes_nothing_; }

Result<void> choose_execution(const Settings& settings) {
  set_plain_kernels(settings.plain_kernels);
  computes_nothing_ = settings.time.starts_with("only");
  set_thread_limit(static_cast<int>(settings.threads));
  if (settings.parallel_steps) set_parallel_threshold(*settings.parallel_steps);
  if (set_simd_limit(settings.simd)) return {};
  return Error{ErrorKind::kUsage, fmt::format("SOFTTPU_SIMD: this machine, or this build, has no {}.", settings.simd)};
}

}  // namespace softtpu
