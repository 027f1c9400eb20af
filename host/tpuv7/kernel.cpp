// Kernel modules and launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "host/client/launch_check.hpp"
#include "host/tpuv7/support.hpp"
#include "runtime/protocol/messages.hpp"

namespace softtpu::tpuv7 {
namespace {

using host::KernelModule;

static_assert(sizeof(tpuRtModule) == sizeof(KernelModule::Published) &&
              offsetof(tpuRtModule, md5) == offsetof(KernelModule::Published, md5) &&
              offsetof(tpuRtModule, dest) == offsetof(KernelModule::Published, dest));

// ---- Modules ----

// The same bytes on the same device are one module, which goes with its last user.
struct Loaded {
  std::mutex mutex;
  std::map<std::pair<const DeviceClient*, host::Md5>, const void*> names;
  std::map<const void*, std::size_t> users;
};
Loaded& loaded() {
  static auto& instance = *new Loaded;
  return instance;
}

// The device that a stream belongs to; without one the current device.
std::shared_ptr<DeviceClient> device_of(const char* function, tpuRtStream_t stream) {
  if (stream == nullptr) return current_device(function);
  const auto found = find_stream(function, stream);
  return found != nullptr ? found->shared_device() : nullptr;
}

template <class Load>
tpuRtKernelModule_t load_once(const char* function, const std::shared_ptr<DeviceClient>& device, const host::Md5& md5,
                              std::uint32_t flag, Load load) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  const std::pair<const DeviceClient*, host::Md5> key(device.get(), md5);
  const void* name = nullptr;
  if (const auto known = all.names.find(key); known != all.names.end()) {
    name = known->second;
  } else {
    const Result<std::shared_ptr<KernelModule>> module = load();
    if (!module) {
      fail(function, module.error());
      return nullptr;
    }
    (*module)->published().dest = flag;
    name = &(*module)->published();
    host::module_table().add_as(name, *module);
    all.names.emplace(key, name);
  }
  ++all.users[name];
  return reinterpret_cast<tpuRtKernelModule_t>(const_cast<void*>(name));
}

tpuRtKernelModule_t load_file(const char* function, const char* path, tpuRtStream_t stream, std::uint32_t flag = 0) {
  const auto device = device_of(function, stream);
  if (device == nullptr) return nullptr;
  if (path == nullptr) {
    fail(function, tpuRtErrParam, "module_file is NULL");
    return nullptr;
  }
  return load_once(function, device, KernelModule::digest_file(path), flag,
                   [&] { return KernelModule::load_file(device, path); });
}

tpuRtKernelModule_t load_bytes(const char* function, const char* data, std::size_t length, tpuRtStream_t stream,
                               std::uint32_t flag = 0) {
  const auto device = device_of(function, stream);
  if (device == nullptr) return nullptr;
  if (data == nullptr || length == 0) {
    fail(function, tpuRtErrParam, data == nullptr ? "data is NULL" : "length is 0");
    return nullptr;
  }
  const std::span image(reinterpret_cast<const std::byte*>(data), length);
  return load_once(function, device, KernelModule::digest(image), flag,
                   [&] { return KernelModule::load_bytes(device, image); });
}

std::shared_ptr<KernelModule> find_module(const char* function, tpuRtKernelModule_t module) {
  auto found = host::module_table().find(module);
  if (found == nullptr) fail(function, kNoHandle, host::why_unknown("module", module, host::kModuleFate));
  return found;
}

tpuRtStatus_t unload(const char* function, tpuRtKernelModule_t name) {
  const auto module = find_module(function, name);
  if (module == nullptr) return kNoHandle;
  Loaded& all = loaded();
  {
    const std::lock_guard lock(all.mutex);
    const auto users = all.users.find(name);
    if (users != all.users.end() && --users->second > 0) return tpuRtSuccess;
    if (users != all.users.end()) all.users.erase(users);
    std::erase_if(all.names, [&](const auto& known) { return known.second == name; });
    host::module_table().take(name);
  }
  // What streams still keep back uses the module's functions.
  host::Stream::push_all(*module->device());
  return to_status(function, module->unload());
}

// ---- Launches ----

struct Call {
  tpuRtKernelModule_t module;
  const char* name;
  const void* args;
  std::uint32_t size;
  std::uint64_t groups, blocks;
};
enum class Wait { kUntilFinished, kUntilQueued };

constexpr std::uint32_t kSizeAlign = 4;
constexpr std::uint64_t kMostCount = UINT32_MAX;  // more workitems than any chip has cores; more groups are refused

Result<void> check(const Call& call) {
  if (auto good = host::check_name("func_name", call.name); !good) return good;
  if (auto good = host::check_arguments({call.args, call.size, kMaxLaunchArgs, kSizeAlign}); !good) return good;
  const auto count = [](std::uint64_t many) { return static_cast<std::int64_t>(std::min(many, kMostCount)); };
  if (auto good = host::check_counts(count(call.groups), count(call.blocks)); !good) return good;
  if (call.groups > kMostCount)
    return Error{ErrorKind::kUsage, fmt::format("group_num {} is above {}", call.groups, kMostCount)};
  return {};
}

tpuRtStatus_t launch(const char* function, const Call& call, tpuRtStream_t stream, Wait wait) {
  const auto found = find_stream(function, stream);
  if (found == nullptr) return kNoHandle;
  const auto module = find_module(function, call.module);
  if (module == nullptr) return kNoHandle;
  if (auto good = check(call); !good) return to_status(function, good);
  if (module->device() != found->shared_device())
    return fail(function, kNoHandle,
                fmt::format("the module is loaded on device {}, the stream belongs to device {}",
                            module->device()->device_id(), found->device().device_id()));
  if (wait == Wait::kUntilFinished && found->is_own_thread())
    return fail(function, tpuRtErrBusy, "a callback cannot wait for the stream that it belongs to");
  const Result<FunctionId> kernel = module->find(call.name);
  if (!kernel) return fail(function, kernel.error(), true);
  auto what = msg::make_launch(0, static_cast<std::uint32_t>(*kernel), {}, host::copy_arguments(call.args, call.size));
  what.cores = static_cast<std::uint32_t>(std::min(call.blocks, kMostCount));
  what.repetitions = static_cast<std::uint32_t>(call.groups);
  return to_status(function,
                   wait == Wait::kUntilQueued ? found->launch_async(std::move(what)) : found->launch(std::move(what)),
                   true);
}

// With one rank a lock or a link has no other side.
tpuRtStatus_t launch_of_ranks(const char* function, const Call& call, tpuRtStream_t stream, Wait wait, int rank_num) {
  if (rank_num > 1) return no_feature(function, "links between chips; a launch of one rank works");
  return launch(function, call, stream, wait);
}

tpuRtStatus_t refuse_cv(const char* function) {
  return no_feature(function, "a processor for computer vision beside the TPU's cores");
}

}  // namespace
}  // namespace softtpu::tpuv7

using namespace softtpu;
using namespace softtpu::tpuv7;

extern "C" {

tpuRtKernelModule_t tpuRtKernelLoadModuleFile(const char* module_file, tpuRtStream_t stream) try {
  return load_file(__func__, module_file, stream);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtKernelModule_t tpuRtKernelLoadModuleFileFlag(const char* module_file, tpuRtStream_t stream, uint32_t flag) try {
  return load_file(__func__, module_file, stream, flag);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtKernelModule_t tpuRtKernelLoadModuleFileForCV(const char* /*module_file*/, tpuRtStream_t /*stream*/) try {
  refuse_cv(__func__);
  return nullptr;
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtKernelModule_t tpuRtKernelLoadModule(const char* data, size_t length, tpuRtStream_t stream) try {
  return load_bytes(__func__, data, length, stream);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtKernelModule_t tpuRtKernelLoadModuleFlag(const char* data, size_t length, tpuRtStream_t stream,
                                              uint32_t flag) try {
  return load_bytes(__func__, data, length, stream, flag);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelUnloadModule(tpuRtKernelModule_t p_module, tpuRtStream_t /*stream*/) try {
  return unload(__func__, p_module);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelUnloadModuleFlag(tpuRtKernelModule_t p_module, tpuRtStream_t /*stream*/,
                                          uint32_t /*flag*/) try {
  return unload(__func__, p_module);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtKernelLaunch(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                uint64_t group_num, uint64_t block_num, tpuRtStream_t stream) try {
  return launch(__func__, {module, func_name, args, size, group_num, block_num}, stream, Wait::kUntilFinished);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                     uint64_t group_num, uint64_t block_num, tpuRtStream_t stream) try {
  return launch(__func__, {module, func_name, args, size, group_num, block_num}, stream, Wait::kUntilQueued);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchCVOP(tpuRtKernelModule_t /*module*/, const char* /*func_name*/, void* /*args*/,
                                    uint32_t /*size*/, uint32_t /*channel_num*/, uint32_t /*block_num*/,
                                    tpuRtLaunchOutput_t /*output*/, tpuRtStream_t /*stream*/) try {
  return refuse_cv(__func__);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchCVEx(tpuRtKernelModule_t /*module*/, const char* /*func_name*/, void* /*args*/,
                                    uint32_t /*size*/, uint32_t /*channel_num*/, uint32_t /*block_num*/,
                                    tpuRtLaunchOutput_t /*output*/, tpuRtStream_t /*stream*/) try {
  return refuse_cv(__func__);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtKernelLaunchWithLock(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                        uint64_t block_num, tpuRtStream_t stream, int /*trans_t*/, char* /*uuid*/,
                                        int /*rank_id*/, int rank_num) try {
  return launch_of_ranks(__func__, {module, func_name, args, size, 1, block_num}, stream, Wait::kUntilFinished,
                         rank_num);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchWithLockAsync(tpuRtKernelModule_t module, const char* func_name, void* args,
                                             uint32_t size, uint64_t block_num, tpuRtStream_t stream, int /*trans_t*/,
                                             char* /*uuid*/, int /*rank_id*/, int rank_num) try {
  return launch_of_ranks(__func__, {module, func_name, args, size, 1, block_num}, stream, Wait::kUntilQueued, rank_num);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchCDMA(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint64_t block_num, tpuRtStream_t stream, int /*cdma_only*/, char* /*uuid*/,
                                    int /*rank_id*/, int rank_num) try {
  return launch_of_ranks(__func__, {module, func_name, args, size, 1, block_num}, stream, Wait::kUntilFinished,
                         rank_num);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtKernelLaunchCDMAAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                         uint64_t block_num, tpuRtStream_t stream, int /*cdma_only*/, char* /*uuid*/,
                                         int /*rank_id*/, int rank_num) try {
  return launch_of_ranks(__func__, {module, func_name, args, size, 1, block_num}, stream, Wait::kUntilQueued, rank_num);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
