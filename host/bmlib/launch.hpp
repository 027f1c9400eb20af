// Launching a kernel, by number or by name: what the functions of both generations share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "host/bmlib/handle.hpp"

namespace softtpu::host {

struct KernelCall {
  FunctionId function{};  // else by name
  const char* name = nullptr;
  const void* args = nullptr;
  std::size_t bytes = 0;
  int core = 0;
  int blocks = 1, groups = 1;  // so many cores from `core` on, so many times
};

// One core of several, with arguments and maybe a function of its own.
struct CorePart {
  int core = 0;
  FunctionId function{};
  const void* args = nullptr;
  std::size_t bytes = 0;
};

enum class Wait { kUntilFinished, kUntilQueued };

bm_status_t launch(const char* function, bm_handle_t handle, const KernelCall& call, Wait wait);
// One launch on call.core and on the cores of `others`.
bm_status_t launch_together(const char* function, bm_handle_t handle, const KernelCall& call,
                            std::span<const CorePart> others, Wait wait);
bm_status_t sync(const char* function, bm_handle_t handle);

// Whether `name` is a kernel name within the SDK's limit; the status of the refusal otherwise.
bm_status_t check_kernel_name(const char* function, const char* name);
// Whether the chip has the core; a chip with one core takes any core id, as the SDK does.
bm_status_t check_core(const char* function, const Handle& handle, int core_id);

}  // namespace softtpu::host
