// Launching a kernel, by number or by name: what the functions of both generations share.
#pragma once

#include <memory>
#include <string_view>

#include "host/bmlib/handle.hpp"

namespace softtpu::host {

enum class Wait { kUntilFinished, kUntilQueued };

bm_status_t sync(const char* function, bm_handle_t handle);

// Whether `name` is a kernel name within the SDK's limit; the status of the refusal otherwise.
bm_status_t check_kernel_name(const char* function, const char* name);
// Whether the chip has the core; a chip with one core takes any core id, as the SDK does.
bm_status_t check_core(const char* function, const Handle& handle, int core_id);

}  // namespace softtpu::host
