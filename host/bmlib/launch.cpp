// Launching kernels by name or by number, and waiting for them.
#include "host/bmlib/launch.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "host/client/launch_check.hpp"

namespace softtpu::host {
namespace {

// Sizes of argument blocks are multiples of the device's message words.
constexpr std::size_t kArgsAlign = 4;
// The largest block that fits the SDK's message.
constexpr std::size_t kMostArgs = 4016;

bm_status_t check_args(const char* function, const KernelCall& call) {
  return to_status(function, check_arguments({call.args, call.bytes, kMostArgs, kArgsAlign}));
}

bm_status_t check_function(const char* function, const KernelCall& call) {
  if (call.name != nullptr || static_cast<std::int32_t>(call.function) > 0) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM,
              fmt::format("{} is not a function that tpu_kernel_get_function returned",
                          static_cast<std::int32_t>(call.function)));
}

}  // namespace

bm_status_t check_kernel_name(const char* function, const char* name) {
  return to_status(function, check_name("the kernel's name", name));
}

bm_status_t check_core(const char* function, const Handle& handle, int core_id) {
  const std::uint32_t cores = handle.device().info().core_count;
  if (cores == 1 || (core_id >= 0 && static_cast<std::uint32_t>(core_id) < cores)) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM, fmt::format("core_id {} is outside 0..{}", core_id, cores - 1));
}

bm_status_t launch(const char* function, bm_handle_t handle, const KernelCall& call, Wait wait) {
  return launch_together(function, handle, call, {}, wait);
}

bm_status_t launch_together(const char* function, bm_handle_t handle, const KernelCall& call,
                            std::span<const CorePart> others, Wait wait) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (const bm_status_t status = check_function(function, call); status != BM_SUCCESS) return status;
  if (const bm_status_t status = check_args(function, call); status != BM_SUCCESS) return status;
  if (const bm_status_t status = check_core(function, *h, call.core); status != BM_SUCCESS) return status;

  if (auto good = check_counts(call.groups, call.blocks); !good) return to_status(function, good);
  std::vector<DeviceClient::LaunchPart> parts;
  for (const CorePart& other : others) {
    const KernelCall as_call{call.name != nullptr ? call.function : other.function, call.name, other.args, other.bytes,
                             other.core};
    if (const bm_status_t status = check_function(function, as_call); status != BM_SUCCESS) return status;
    if (const bm_status_t status = check_args(function, as_call); status != BM_SUCCESS) return status;
    if (const bm_status_t status = check_core(function, *h, other.core); status != BM_SUCCESS) return status;
    parts.push_back({static_cast<std::uint32_t>(other.core),
                     other.function,
                     {static_cast<const std::byte*>(other.args), other.bytes}});
  }
  const bool one_core = h->device().info().core_count == 1;
  const DeviceClient::Launch what{.stream = {},
                                  .function = call.function,
                                  .name = call.name == nullptr ? std::string_view() : std::string_view(call.name),
                                  .core = one_core ? 0U : static_cast<std::uint32_t>(call.core),
                                  .blocks = static_cast<std::uint32_t>(call.blocks),
                                  .groups = static_cast<std::uint32_t>(call.groups),
                                  .args = {static_cast<const std::byte*>(call.args), call.bytes},
                                  .others = parts};
  h->note_launch();
  const TracedCall traced(h->trace(), static_cast<std::uint32_t>(call.function));
  if (wait == Wait::kUntilQueued) return to_status(function, h->stream().launch_async(what), true);
  const CallTimer timer(*h);
  return to_status(function, h->stream().launch(what), true);
}

bm_status_t sync(const char* function, bm_handle_t handle) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const CallTimer timer(*h);
  return to_status(function, h->stream().synchronize(), true);
}

namespace {

bm_status_t launch_name(const char* function, bm_handle_t handle, const char* name, const void* args, std::size_t bytes,
                        Wait wait, int core = 0) {
  if (const bm_status_t status = check_kernel_name(function, name); status != BM_SUCCESS) return status;
  return launch(function, handle, {.name = name, .args = args, .bytes = bytes, .core = core}, wait);
}

// Whether the chip has one core only, which then does everybody's part, one after the other, as with the SDK.
bool has_one_core(bm_handle_t handle, const char* function) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  return h != nullptr && h->device().info().core_count == 1;
}

// One launch on all listed cores.
bm_status_t launch_on_cores(const char* function, bm_handle_t handle, const char* name, const void* args,
                            std::size_t bytes, const int* cores, int count, Wait wait) {
  if (cores == nullptr) return fail(function, BM_ERR_PARAM, "core_list is NULL");
  if (count < 1) return fail(function, BM_ERR_PARAM, fmt::format("core_num {} is below 1", count));
  if (!has_one_core(handle, function)) {
    if (const bm_status_t status = check_kernel_name(function, name); status != BM_SUCCESS) return status;
    std::vector<CorePart> others;
    for (int i = 1; i < count; ++i) others.push_back({cores[i], {}, args, bytes});
    return launch_together(function, handle, {.name = name, .args = args, .bytes = bytes, .core = cores[0]}, others,
                           wait);
  }
  for (int i = 0; i < count; ++i) {
    const bm_status_t status = launch_name(function, handle, name, args, bytes, Wait::kUntilQueued, cores[i]);
    if (status != BM_SUCCESS) return status;
  }
  return wait == Wait::kUntilFinished ? sync(function, handle) : BM_SUCCESS;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t okkernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, args, size, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t okkernel_launch_async(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, args, size, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, args, size, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t softtpu_kernel_launch_async_by_name(bm_handle_t handle, const char* func_name, const void* args,
                                                unsigned int size) try {
  return launch_name("tpu_kernel_launch_async", handle, func_name, args, size, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t softtpu_kernel_launch_parts(bm_handle_t handle, const char* func_name, const softtpu_launch_part_t* parts,
                                        int count, bool wait) try {
  const char* const function = wait ? "tpu_kernel_launch_sync" : "tpu_kernel_launch_async";
  if (parts == nullptr) return fail(function, BM_ERR_PARAM, "parts is NULL");
  if (count < 1) return fail(function, BM_ERR_PARAM, fmt::format("count {} is below 1", count));
  if (const bm_status_t status = check_kernel_name(function, func_name); status != BM_SUCCESS) return status;
  std::vector<CorePart> others;
  for (int i = 1; i < count; ++i) others.push_back({parts[i].core, {}, parts[i].args, parts[i].bytes});
  return launch_together(function, handle,
                         {.name = func_name, .args = parts[0].args, .bytes = parts[0].bytes, .core = parts[0].core},
                         others, wait ? Wait::kUntilFinished : Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_launch(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size) try {
  return launch(__func__, handle, {.function = FunctionId(function), .args = args, .bytes = size},
                Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size,
                                        int core_id) try {
  return launch(__func__, handle, {.function = FunctionId(function), .args = args, .bytes = size, .core = core_id},
                Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size) try {
  return launch(__func__, handle, {.function = FunctionId(function), .args = args, .bytes = size}, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                              size_t size, int core_id) try {
  return launch(__func__, handle, {.function = FunctionId(function), .args = args, .bytes = size, .core = core_id},
                Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_launch_async_multicores(bm_handle_t handle, tpu_launch_param_t* param_list, int param_num) try {
  SOFTTPU_NOT_NULL(param_list);
  if (param_num < 1) return fail(__func__, BM_ERR_PARAM, fmt::format("param_num {} is below 1", param_num));
  if (!has_one_core(handle, __func__)) {
    const tpu_launch_param_t& first = param_list[0];
    std::vector<CorePart> others;
    for (int i = 1; i < param_num; ++i) {
      const tpu_launch_param_t& param = param_list[i];
      others.push_back({param.core_id, FunctionId(param.func_id), param.param_data, param.param_size});
    }
    return launch_together(__func__, handle,
                           {.function = FunctionId(first.func_id),
                            .args = first.param_data,
                            .bytes = first.param_size,
                            .core = first.core_id},
                           others, Wait::kUntilQueued);
  }
  for (int i = 0; i < param_num; ++i) {
    const tpu_launch_param_t& param = param_list[i];
    const bm_status_t status = launch(__func__, handle,
                                      {.function = FunctionId(param.func_id),
                                       .args = param.param_data,
                                       .bytes = param.param_size,
                                       .core = param.core_id},
                                      Wait::kUntilQueued);
    if (status != BM_SUCCESS) return status;
  }
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                                size_t api_size, const int* core_list, const int core_num) try {
  return launch_on_cores(__func__, handle, func_name, api_param, api_size, core_list, core_num, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_sync_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                               size_t api_size, const int* core_list, const int core_num) try {
  return launch_on_cores(__func__, handle, func_name, api_param, api_size, core_list, core_num, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_sync(bm_handle_t handle) try { return sync(__func__, handle); } catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t okkernel_sync(bm_handle_t handle) try { return sync(__func__, handle); } catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bmkernel_launch(bm_handle_t handle, const void* /*args*/, unsigned int /*size*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, "a BMKernel firmware with a single entry; register kernels and launch them by name");
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bmkernel_load_lookup_table(bm_handle_t handle, const void* /*table*/, unsigned int /*size*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__,
                    "a BMKernel firmware's own lookup table; the tables of okk_bdc_lookup_* are always loaded");
} catch (...) {
  return softtpu::caught(__func__);
}

// Kernels come with the program or from modules, so there is no firmware to load; programs call this unconditionally.
bm_status_t bm_load_firmware(bm_handle_t handle, const char* /*firmware_tcm*/, const char* /*firmware_ddr*/) try {
  SOFTTPU_HANDLE(handle);
  log_verbose(__func__, "the emulator needs no firmware; nothing is loaded");
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t okkernel_load_firmware(bm_handle_t handle, const char* /*firmware_tcm*/, const char* /*firmware_ddr*/) try {
  SOFTTPU_HANDLE(handle);
  log_verbose(__func__, "the emulator needs no firmware; nothing is loaded");
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
