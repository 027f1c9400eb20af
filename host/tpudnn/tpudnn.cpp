// libtpudnn: handles, launches by name, copies. A handle is a stream with modules; whichever interface made the stream.
#include "tpudnn/tpuDNN.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "bmlib_runtime.h"
#include "host/client/call_stack.hpp"
#include "host/client/caught.hpp"
#include "host/client/driver.hpp"
#include "host/client/launch_check.hpp"
#include "host/client/log_sink.hpp"
#include "host/client/tables.hpp"
#include "runtime/base/config.hpp"
#include "runtime/protocol/messages.hpp"

namespace softtpu {

template <>
struct CaughtStatus<tpudnnStatus_t> {
  static constexpr tpudnnStatus_t kNoMemory = TPUDNN_STATUS_FAILED, kFailure = TPUDNN_STATUS_FAILED;
};

}  // namespace softtpu

namespace softtpu::tpudnn {
namespace {

[[maybe_unused]] const bool left_out = host::leave_out_of_call_stacks(&left_out);

using host::graph_table;
using host::KernelModule;
using host::Stream;

struct Handle {
  std::shared_ptr<Stream> stream;
  std::vector<std::shared_ptr<KernelModule>> modules;  // empty: kernels of any module, by name
  std::atomic<std::uint64_t> profiled_from_ns = 0;
};

host::HandleTable<Handle>& handles() {
  static auto& instance = *new host::HandleTable<Handle>;
  return instance;
}

tpudnnStatus_t fail(const char* function, const std::string& text) {
  host::write_log("tpudnn", BMLIB_LOG_ERROR, fmt::format("{}: {}", function, text));
  return TPUDNN_STATUS_FAILED;
}
tpudnnStatus_t to_status(const char* function, const Result<void>& result) {
  return result ? TPUDNN_STATUS_SUCCESS : fail(function, result.error().text);
}

// nullptr after a message.
std::shared_ptr<Handle> find_handle(const char* function, tpudnnHandle_t handle) {
  auto found = handles().find(handle);
  if (found == nullptr) fail(function, host::why_unknown("handle", handle));
  return found;
}

tpudnnHandle_t make_handle(const char* function, std::shared_ptr<Stream> stream, std::span<void* const> modules) {
  const auto made = std::make_shared<Handle>();
  made->stream = std::move(stream);
  for (const void* module : modules) {
    if (module == nullptr) continue;
    auto found = host::module_table().find(module);
    if (found == nullptr || found->device() != made->stream->shared_device()) {
      fail(function, found == nullptr ? host::why_unknown("module", module, host::kModuleFate)
                                      : "the module is loaded on another device than the stream's");
      return nullptr;
    }
    made->modules.push_back(std::move(found));
  }
  const auto settings = read_settings();
  if (made->modules.empty() && settings && !settings->kernel_path.empty()) {
    auto module = KernelModule::load_file(made->stream->shared_device(), settings->kernel_path);
    if (!module) {
      fail(function, module.error().text);
      return nullptr;
    }
    made->modules.push_back(*std::move(module));
  }
  return static_cast<tpudnnHandle_t>(handles().add(made));
}

// The stream knows its device, whatever number comes with it.
tpudnnHandle_t make_handle_of(const char* function, void* name, std::span<void* const> modules) {
  auto stream = host::stream_table().find(name);
  if (stream == nullptr) {
    fail(function, host::why_unknown("stream", name));
    return nullptr;
  }
  return make_handle(function, std::move(stream), modules);
}

// The first module that has the kernel. Without modules the device looks for the name.
Result<FunctionId> find_kernel(const Handle& handle, const char* name) {
  Result<FunctionId> found = FunctionId{};
  for (const auto& module : handle.modules) {
    found = module->find(name);
    if (found) break;
  }
  return found;
}

Result<void> launch(const Handle& handle, const char* name, const void* arg, std::size_t bytes, int groups, int size) {
  if (auto good = host::check_name("kernelName", name); !good) return good;
  if (auto good = host::check_arguments({arg, bytes, kMaxLaunchArgs, 1}); !good) return good;
  if (auto good = host::check_counts(groups, size); !good) return good;
  const Result<FunctionId> kernel = find_kernel(handle, name);
  if (!kernel) return kernel.error();
  auto what = msg::make_launch(0, static_cast<std::uint32_t>(*kernel), handle.modules.empty() ? name : "",
                               host::copy_arguments(arg, bytes));
  what.cores = static_cast<std::uint32_t>(size);
  what.repetitions = static_cast<std::uint32_t>(groups);
  return handle.stream->launch_async(std::move(what));
}

// What stands before it in the stream is done first.
Result<void> copy(const Handle& handle, const void* host, std::size_t bytes,
                  const std::function<Result<void>()>& move) {
  if (bytes == 0) return {};
  if (host == nullptr) return Error{ErrorKind::kUsage, fmt::format("the host's memory of {} bytes is NULL", bytes)};
  if (auto done = handle.stream->wait_for_all(); !done) return done;
  return move();
}

Result<std::uint64_t> estimated_ns(const Handle& handle) {
  const auto estimate = handle.stream->device().estimated_time(handle.stream->id());
  if (!estimate) return estimate.error();
  return *estimate ? (*estimate)->total_ns : 0;
}

}  // namespace
}  // namespace softtpu::tpudnn

using namespace softtpu;
using namespace softtpu::tpudnn;

// The first line of a function that takes a handle.
#define SOFTTPU_DNN_HANDLE(handle, result)      \
  const auto h = find_handle(__func__, handle); \
  if (h == nullptr) return result
#define SOFTTPU_DNN_NOT_NULL(argument) \
  if ((argument) == nullptr) return fail(__func__, #argument " is NULL")

extern "C" {

tpudnnHandle_t tpudnnCreate(int deviceID) try {
  const auto device = DeviceClient::open(deviceID, host::kChipOfTpuv7);
  if (!device) {
    fail(__func__, device.error().text);
    return nullptr;
  }
  return make_handle(__func__, Stream::make(*device), {});
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnHandle_t tpudnnHandleFromStream(int /*deviceID*/, void* stream, void* module) try {
  return make_handle_of(__func__, stream, std::array{module});
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnHandle_t tpudnnHandleFromStreamV2(int /*deviceID*/, void* stream, std::tuple<void*, void*> module) try {
  return make_handle_of(__func__, stream, std::array{std::get<0>(module), std::get<1>(module)});
} catch (...) {
  return softtpu::caught(__func__);
}
void tpudnnDestroy(tpudnnHandle_t handle) try {
  if (find_handle(__func__, handle) != nullptr) handles().take(handle);
} catch (...) {
  softtpu::caught(__func__);
}

tpudnnStatus_t tpudnnLaunchKernel(tpudnnHandle_t handle, const char* kernelName, void* arg, size_t argBytes,
                                  int groupNum, int groupSize) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, launch(*h, kernelName, arg, argBytes, groupNum, groupSize));
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnSync(tpudnnHandle_t handle) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, h->stream->synchronize());
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnFlush(tpudnnHandle_t handle) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, h->stream->synchronize());
} catch (...) {
  return softtpu::caught(__func__);
}

void* tpudnnPhysToVirt(tpudnnHandle_t handle, uint64_t addr) try {
  SOFTTPU_DNN_HANDLE(handle, nullptr);
  return reinterpret_cast<void*>(addr);
} catch (...) {
  return softtpu::caught(__func__);
}
uint64_t tpudnnVirtToPhys(tpudnnHandle_t handle, void* addr) try {
  SOFTTPU_DNN_HANDLE(handle, 0);
  return reinterpret_cast<std::uintptr_t>(addr);
} catch (...) {
  return softtpu::caught(__func__);
}

tpudnnStatus_t tpudnnMemcpyHostToDevice(tpudnnHandle_t handle, uint64_t dst, void* src, size_t size) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, copy(*h, src, size, [&] { return h->stream->device().write(dst, src, size); }));
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnMemcpyDeviceToHost(tpudnnHandle_t handle, void* dst, uint64_t src, size_t size) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, copy(*h, dst, size, [&] { return h->stream->device().read(src, dst, size); }));
} catch (...) {
  return softtpu::caught(__func__);
}

tpudnnStatus_t tpudnnStreamBeginCapture(tpudnnHandle_t handle) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  return to_status(__func__, h->stream->begin_capture());
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnStreamEndCapture(tpudnnHandle_t handle, tpudnnGraph_t* graph) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  SOFTTPU_DNN_NOT_NULL(graph);
  auto captured = h->stream->end_capture();
  if (!captured) return fail(__func__, captured.error().text);
  *graph = graph_table().add(std::make_shared<const Stream::Graph>(*std::move(captured)));
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGraphInstantiate(tpudnnGraphExec_t* instance, tpudnnGraph_t graph, void* /*ext*/) try {
  SOFTTPU_DNN_NOT_NULL(instance);
  auto found = graph_table().find(graph);
  if (found == nullptr) return fail(__func__, host::why_unknown("graph", graph));
  *instance = graph_table().add(std::move(found));
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGraphLaunch(tpudnnGraphExec_t instance, tpudnnHandle_t handle) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  const auto found = graph_table().find(instance);
  if (found == nullptr) return fail(__func__, host::why_unknown("graph", instance));
  return to_status(__func__, h->stream->launch_graph(*found));
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGraphDestroy(tpudnnGraph_t graph) try {
  return graph_table().take(graph) != nullptr ? TPUDNN_STATUS_SUCCESS
                                              : fail(__func__, host::why_unknown("graph", graph));
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGraphExecDestroy(tpudnnGraphExec_t instance) try {
  return graph_table().take(instance) != nullptr ? TPUDNN_STATUS_SUCCESS
                                                 : fail(__func__, host::why_unknown("graph", instance));
} catch (...) {
  return softtpu::caught(__func__);
}

tpudnnStatus_t tpudnnSetupC2CTopology(void) { return TPUDNN_STATUS_SUCCESS; }
tpudnnStatus_t tpudnnGetC2CTopology(int* chipNum, const int** outTopology) try {
  SOFTTPU_DNN_NOT_NULL(chipNum);
  SOFTTPU_DNN_NOT_NULL(outTopology);
  const Result<int> count = DeviceClient::device_count();
  if (!count) return fail(__func__, count.error().text);
  static auto& numbers = *new std::vector<int>([&] {
    std::vector<int> made;
    for (int id = 0; id < *count; ++id) made.push_back(id);
    return made;
  }());
  *chipNum = static_cast<int>(numbers.size());
  *outTopology = numbers.data();
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
// One chip is a ring of its own; more would need links.
tpudnnStatus_t tpudnnCheckChipMap(int world_size, int* chipMap) try {
  SOFTTPU_DNN_NOT_NULL(chipMap);
  if (world_size == 1) return TPUDNN_STATUS_SUCCESS;
  return fail(__func__, fmt::format("{} chips: emulated chips are not linked", world_size));
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGetC2CRing(int world_size, int* chipMap) try {
  SOFTTPU_DNN_NOT_NULL(chipMap);
  if (world_size != 1) return fail(__func__, fmt::format("{} chips: emulated chips are not linked", world_size));
  *chipMap = 0;
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnGetUniqueId(tpudnnHandle_t handle, char* uniqueId) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  SOFTTPU_DNN_NOT_NULL(uniqueId);
  uniqueId[0] = '0';
  uniqueId[1] = '\0';
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

tpudnnStatus_t tpudnnEnableProfile(tpudnnHandle_t handle, int /*max_record_num*/, int /*mode*/) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  if (auto done = h->stream->wait_for_all(); !done) return to_status(__func__, done);
  const auto now = estimated_ns(*h);
  if (!now) return fail(__func__, now.error().text);
  h->profiled_from_ns = *now;
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
tpudnnStatus_t tpudnnDisableProfile(tpudnnHandle_t handle) try {
  SOFTTPU_DNN_HANDLE(handle, TPUDNN_STATUS_FAILED);
  if (auto done = h->stream->wait_for_all(); !done) return to_status(__func__, done);
  const auto now = estimated_ns(*h);
  if (!now) return fail(__func__, now.error().text);
  const double us = static_cast<double>(*now - h->profiled_from_ns) / 1000;
  host::write_log("tpudnn", BMLIB_LOG_INFO,
                  *now == 0 ? fmt::format("{}: no times are estimated: see SOFTTPU_TIME", __func__)
                            : fmt::format("{}: {:.2f} us on the chip since tpudnnEnableProfile", __func__, us));
  return TPUDNN_STATUS_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
