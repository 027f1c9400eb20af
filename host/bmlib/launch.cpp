// Launching kernels by name or by number, and waiting for them.
#include "host/bmlib/launch.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/bmlib/network_launch.hpp"
#include "host/client/launch_check.hpp"

namespace softtpu::host {
namespace {

// Sizes of argument blocks are multiples of the device's message words.
constexpr std::size_t kArgsAlign = 4;
// The largest block that fits the SDK's message.
constexpr std::size_t kMostArgs = 4016;

// The arguments that a program gives; sizes have the type of the function that takes them.
struct Arguments {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

bm_status_t check_function(const char* function, tpu_kernel_function_t number) {
  if (number > 0) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM,
              fmt::format("{} is not a function that tpu_kernel_get_function returned", number));
}

// Adds a call on a core of the handle's device to the launch. `number`: 0 where the launch names the kernel.
bm_status_t add_part(const char* function, const Handle& handle, msg::Launch& launch, tpu_kernel_function_t number,
                     const Arguments& args, int core) {
  if (launch.name.empty()) {
    if (const bm_status_t status = check_function(function, number); status != BM_SUCCESS) return status;
  }
  if (auto good = check_arguments({args.data, args.bytes, kMostArgs, kArgsAlign}); !good)
    return to_status(function, good);
  if (const bm_status_t status = check_core(function, handle, core); status != BM_SUCCESS) return status;
  const bool one_core = handle.device().info().core_count == 1;
  msg::LaunchPart& part = launch.parts.emplace_back();
  part.core = one_core ? 0U : static_cast<std::uint32_t>(core);
  auto& kernel = part.call.emplace<msg::KernelCall>();
  kernel.function = static_cast<std::uint32_t>(number);
  kernel.args = copy_arguments(args.data, args.bytes);
  return BM_SUCCESS;
}

bm_status_t launch(const char* function, Handle& handle, msg::Launch what, Wait wait) {
  const auto* const kernel = std::get_if<msg::KernelCall>(&what.parts.front().call);
  handle.note_launch();
  const TracedCall traced(handle.trace(), kernel != nullptr ? kernel->function : 0);
  if (wait == Wait::kUntilQueued) return to_status(function, handle.stream().launch_async(std::move(what)), true);
  const CallTimer timer(handle);
  return to_status(function, handle.stream().launch(std::move(what)), true);
}

// On one core. `name`: empty where the number says which kernel.
bm_status_t launch_on_core(const char* function, bm_handle_t handle, std::string_view name,
                           tpu_kernel_function_t number, const Arguments& args, int core, Wait wait) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  msg::Launch what;
  what.name = name;
  if (const bm_status_t status = add_part(function, *h, what, number, args, core); status != BM_SUCCESS) return status;
  return launch(function, *h, std::move(what), wait);
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

bm_status_t launch_network(bm_handle_t handle, std::vector<NetworkPart> parts, bool wait) {
  const char* const function = wait ? "tpu_kernel_launch_sync" : "tpu_kernel_launch_async";
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const bool one_core = h->device().info().core_count == 1;
  msg::Launch what;
  for (NetworkPart& part : parts) {
    if (const bm_status_t status = check_core(function, *h, part.core); status != BM_SUCCESS) return status;
    what.parts.push_back({one_core ? 0U : static_cast<std::uint32_t>(part.core), std::move(part.call)});
  }
  return launch(function, *h, std::move(what), wait ? Wait::kUntilFinished : Wait::kUntilQueued);
}

Result<void> write_from_file(bm_handle_t handle, std::uint64_t address, int fd, std::uint64_t offset,
                             std::uint64_t bytes) {
  const std::shared_ptr<Handle> h = find_handle("bm_memcpy_s2d", handle);
  if (h == nullptr) return Error{ErrorKind::kConnection, "the device is not there any more"};
  return h->device().write_from_file(address, fd, offset, bytes);
}

GlobalMemory global_memory(bm_handle_t handle) {
  const std::shared_ptr<Handle> h = find_handle("tpu_kernel_launch_sync", handle);
  if (h == nullptr) return {};
  return {h->device().info().global_start, h->device().info().global_bytes};
}

bm_status_t sync(const char* function, bm_handle_t handle) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  const CallTimer timer(*h);
  return to_status(function, h->stream().synchronize(), true);
}

namespace {

bm_status_t launch_name(const char* function, bm_handle_t handle, const char* name, const Arguments& args, Wait wait,
                        int core = 0) {
  if (const bm_status_t status = check_kernel_name(function, name); status != BM_SUCCESS) return status;
  return launch_on_core(function, handle, name, 0, args, core, wait);
}

// Whether the chip has one core only, which then runs all parts, one after the other, as with the SDK.
bool has_one_core(bm_handle_t handle, const char* function) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  return h != nullptr && h->device().info().core_count == 1;
}

// One launch on all listed cores.
bm_status_t launch_on_cores(const char* function, bm_handle_t handle, const char* name, const Arguments& args,
                            const int* cores, int count, Wait wait) {
  if (cores == nullptr) return fail(function, BM_ERR_PARAM, "core_list is NULL");
  if (count < 1) return fail(function, BM_ERR_PARAM, fmt::format("core_num {} is below 1", count));
  const std::span list(cores, static_cast<std::size_t>(count));
  if (has_one_core(handle, function)) {
    for (const int core : list) {
      const bm_status_t status = launch_name(function, handle, name, args, Wait::kUntilQueued, core);
      if (status != BM_SUCCESS) return status;
    }
    return wait == Wait::kUntilFinished ? sync(function, handle) : BM_SUCCESS;
  }
  if (const bm_status_t status = check_kernel_name(function, name); status != BM_SUCCESS) return status;
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  msg::Launch what;
  what.name = name;
  for (const int core : list) {
    if (const bm_status_t status = add_part(function, *h, what, 0, args, core); status != BM_SUCCESS) return status;
  }
  return launch(function, *h, std::move(what), wait);
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t okkernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, {args, size}, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t okkernel_launch_async(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, {args, size}, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_sync(bm_handle_t handle, const char* func_name, const void* args, unsigned int size) try {
  return launch_name(__func__, handle, func_name, {args, size}, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t softtpu_kernel_launch_async_by_name(bm_handle_t handle, const char* func_name, const void* args,
                                                unsigned int size) try {
  return launch_name("tpu_kernel_launch_async", handle, func_name, {args, size}, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_launch(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size) try {
  return launch_on_core(__func__, handle, {}, function, {args, size}, 0, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size,
                                        int core_id) try {
  return launch_on_core(__func__, handle, {}, function, {args, size}, core_id, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async(bm_handle_t handle, tpu_kernel_function_t function, void* args, size_t size) try {
  return launch_on_core(__func__, handle, {}, function, {args, size}, 0, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async_from_core(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                              size_t size, int core_id) try {
  return launch_on_core(__func__, handle, {}, function, {args, size}, core_id, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_launch_async_multicores(bm_handle_t handle, tpu_launch_param_t* param_list, int param_num) try {
  SOFTTPU_NOT_NULL(param_list);
  if (param_num < 1) return fail(__func__, BM_ERR_PARAM, fmt::format("param_num {} is below 1", param_num));
  const std::span list(param_list, static_cast<std::size_t>(param_num));
  if (has_one_core(handle, __func__)) {
    for (const tpu_launch_param_t& one : list) {
      const bm_status_t status = launch_on_core(__func__, handle, {}, one.func_id, {one.param_data, one.param_size},
                                                one.core_id, Wait::kUntilQueued);
      if (status != BM_SUCCESS) return status;
    }
    return BM_SUCCESS;
  }
  SOFTTPU_HANDLE(handle);
  msg::Launch what;
  for (const tpu_launch_param_t& one : list) {
    const bm_status_t status = add_part(__func__, *h, what, one.func_id, {one.param_data, one.param_size}, one.core_id);
    if (status != BM_SUCCESS) return status;
  }
  return launch(__func__, *h, std::move(what), Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_async_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                                size_t api_size, const int* core_list, const int core_num) try {
  return launch_on_cores(__func__, handle, func_name, {api_param, api_size}, core_list, core_num, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t tpu_kernel_launch_sync_multi_cores(bm_handle_t handle, const char* func_name, const void* api_param,
                                               size_t api_size, const int* core_list, const int core_num) try {
  return launch_on_cores(__func__, handle, func_name, {api_param, api_size}, core_list, core_num, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t tpu_kernel_launch_from_multi_cores(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                               size_t size, int group_num, int block_num) try {
  SOFTTPU_HANDLE(handle);
  if (auto good = check_counts(group_num, block_num); !good) return to_status(__func__, good);
  msg::Launch what;
  if (const bm_status_t status = add_part(__func__, *h, what, function, {args, size}, 0); status != BM_SUCCESS)
    return status;
  what.cores = static_cast<std::uint32_t>(block_num);
  what.repetitions = static_cast<std::uint32_t>(group_num);
  return launch(__func__, *h, std::move(what), Wait::kUntilFinished);
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
