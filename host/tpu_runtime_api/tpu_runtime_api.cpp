// libtpu_runtime_api: the wrapper's types and errors in front of libtpuv7_rt.
#include "tpu_runtime_api/tpu_runtime_api.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "bmlib_runtime.h"
#include "host/client/call_stack.hpp"
#include "host/client/caught.hpp"
#include "host/client/log_sink.hpp"
#include "host/client/tables.hpp"
#include "tpuv7/tpuv7_rt.h"

namespace softtpu {

template <>
struct CaughtStatus<tpuError_t> {
  static constexpr tpuError_t kNoMemory = tpuErrorOutOfMemory, kFailure = tpuErrorFailure;
};

}  // namespace softtpu

namespace softtpu::wrapper {
namespace {

[[maybe_unused]] const bool left_out = host::leave_out_of_call_stacks(&left_out);

using host::Stream;

static_assert(sizeof(tpuTopology_t) == sizeof(c2c_port_info) &&
              offsetof(tpuTopology_t, parent_port) == offsetof(c2c_port_info, send_port));

tpuError_t to_error(tpuRtStatus_t status) {
  switch (status) {
    case tpuRtSuccess: return tpuSuccess;
    case tpuRtErrParam: return tpuErrorInvalidParam;
    case tpuRtErrorInvalidValue:
    case tpuRtErrorInvalidResourceHandle: return tpuErrorInvalidValue;
    case tpuRtErrorNoDevice: return tpuErrorNoDevice;
    case tpuRtErrNomem: return tpuErrorOutOfMemory;
    case tpuRtErrorMemoryAllocation: return tpuErrorMemoryAllocation;
    case tpuRtErrTimeout: return tpuErrorTimeout;
    case tpuRtErrNoFeature:
    case tpuRtErrNotSupported: return tpuErrorNotSupported;
    default: return tpuErrorFailure;
  }
}

// A call of libtpuv7_rt whose messages carry the wrapper's name.
template <class Call>
auto call(const char* function, Call made) {
  const host::CalledAs name(function);
  return made();
}

tpuError_t fail(const char* function, tpuError_t error, const std::string& text) {
  host::write_log("tpurt", BMLIB_LOG_ERROR, fmt::format("{}: {}", function, text));
  return error;
}
tpuError_t to_error(const char* function, const Result<void>& result) {
  return result ? tpuSuccess : fail(function, tpuErrorInvalidParam, result.error().text);
}

tpuRtStream_t rt(tpuStream_t stream) { return static_cast<tpuRtStream_t>(stream); }
tpuRtEvent_t rt_event(tpuEvent_t event) { return static_cast<tpuRtEvent_t>(event); }
tpuRtKernelModule_t rt_module(tpuKernelModule_t module) { return static_cast<tpuRtKernelModule_t>(module); }

// ---- Graphs ----

using host::graph_table;

tpuError_t fail_graph(const char* function, const void* graph) {
  return fail(function, tpuErrorInvalidValue, host::why_unknown("graph", graph));
}

// nullptr after a message.
std::shared_ptr<Stream> find_stream(const char* function, tpuStream_t stream) {
  auto found = host::stream_table().find(stream);
  if (found == nullptr) fail(function, tpuErrorInvalidValue, host::why_unknown("stream", stream));
  return found;
}

}  // namespace
}  // namespace softtpu::wrapper

using namespace softtpu;
using namespace softtpu::wrapper;

// The body of a function that is one call of libtpuv7_rt.
#define SOFTTPU_FORWARD(...) return to_error(call(__func__, [&] { return __VA_ARGS__; }))

extern "C" {

// ---- Devices ----

tpuError_t tpuInit(void) try { SOFTTPU_FORWARD(tpuRtInit()); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetDeviceCount(int* count) try { SOFTTPU_FORWARD(tpuRtGetDeviceCount(count)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetDevice(int* device) try { SOFTTPU_FORWARD(tpuRtGetDevice(device)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuSetDevice(int device) try {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtSetDevice(device); });
  return status == tpuRtErrorInvalidValue ? tpuErrorInvalidDevice : to_error(status);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuSetupTopology(void) try { SOFTTPU_FORWARD(tpuRtSetupTopology()); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetTopology(tpuTopology_t** topology) try {
  SOFTTPU_FORWARD(tpuRtGetTopology(reinterpret_cast<c2c_port_info**>(topology)));
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Memory ----

tpuError_t tpuMalloc(void** devPtr, size_t size) try {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtMalloc(devPtr, size, 0); });
  const bool refused = static_cast<int>(status) == -1;  // no enumerator
  return refused ? tpuErrorOutOfMemory : to_error(status);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuFree(void* devPtr) try { SOFTTPU_FORWARD(tpuRtFree(&devPtr, 0)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMallocHost(void** ptr, size_t size) try { SOFTTPU_FORWARD(tpuRtMallocHost(ptr, size)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuFreeHost(void* ptr) try { SOFTTPU_FORWARD(tpuRtFreeHost(ptr)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyH2D(void* devPtr, const void* hostPtr, size_t size) try {
  SOFTTPU_FORWARD(tpuRtMemcpyS2D(devPtr, hostPtr, size));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyD2H(void* hostPtr, const void* devPtr, size_t size) try {
  SOFTTPU_FORWARD(tpuRtMemcpyD2S(hostPtr, devPtr, size));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyD2D(void* dstPtr, const void* srcPtr, size_t size) try {
  SOFTTPU_FORWARD(tpuRtMemcpyD2D(dstPtr, srcPtr, size));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyH2DAsync(void* devPtr, const void* hostPtr, size_t size, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtMemcpyS2DAsync(devPtr, hostPtr, size, rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyD2HAsync(void* hostPtr, const void* devPtr, size_t size, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtMemcpyD2SAsync(hostPtr, devPtr, size, rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuMemcpyD2DAsync(void* dstPtr, const void* srcPtr, size_t size, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtMemcpyD2DAsync(dstPtr, srcPtr, size, rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetAllMemory(size_t* allMemSize) try { SOFTTPU_FORWARD(tpuRtGetAllMemory(allMemSize)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetFreeMemory(size_t* freeMemSize) try { SOFTTPU_FORWARD(tpuRtGetFreeMemory(freeMemSize)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGetPeakMemory(size_t* peakMemSize) try { SOFTTPU_FORWARD(tpuRtGetPeakMemory(peakMemSize)); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuResetPeakMemory(void) try { SOFTTPU_FORWARD(tpuRtResetPeakMemory()); } catch (...) {
  return softtpu::caught(__func__);
}

// ---- Streams and events ----

tpuError_t tpuStreamCreate(tpuStream_t* stream) try {
  SOFTTPU_FORWARD(tpuRtStreamCreate(reinterpret_cast<tpuRtStream_t*>(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuStreamDestroy(tpuStream_t stream) try { SOFTTPU_FORWARD(tpuRtStreamDestroy(rt(stream))); } catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuStreamSynchronize(tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtStreamSynchronize(rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuStreamWaitEvent(tpuStream_t stream, tpuEvent_t event) try {
  SOFTTPU_FORWARD(tpuRtStreamWaitEvent(rt(stream), rt_event(event)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventCreate(tpuEvent_t* event) try {
  SOFTTPU_FORWARD(tpuRtEventCreate(reinterpret_cast<tpuRtEvent_t*>(event)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventDestroy(tpuEvent_t event, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtEventFree(rt_event(event), rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventRecord(tpuEvent_t event, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtEventRecord(rt_event(event), rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventQuery(tpuEvent_t event) try {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtEventQuery(rt_event(event)); });
  return status == tpuRtDevnotready ? tpuErrorTimeout : to_error(status);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventElapsedTime(float* ms, tpuEvent_t start, tpuEvent_t end) try {
  SOFTTPU_FORWARD(tpuRtEventElapsedTime(ms, rt_event(start), rt_event(end)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuEventSynchronize(tpuEvent_t event) try {
  SOFTTPU_FORWARD(tpuRtEventSynchronize(rt_event(event)));
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Kernels ----

tpuKernelModule_t tpuKernelModuleLoad(const char* data, size_t size, tpuStream_t stream) try {
  return call(__func__, [&] { return tpuRtKernelLoadModule(data, size, rt(stream)); });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuKernelModule_t tpuKernelLoadModuleFlag(const char* data, size_t size, tpuStream_t stream, uint32_t flag) try {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFlag(data, size, rt(stream), flag); });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuKernelModule_t tpuKernelModuleLoadFromFile(const char* file, tpuStream_t stream) try {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFile(file, rt(stream)); });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuKernelModule_t tpuKernelModuleLoadFromFileFlag(const char* file, tpuStream_t stream, uint32_t flag) try {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFileFlag(file, rt(stream), flag); });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuKernelUnloadModule(tpuKernelModule_t module, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtKernelUnloadModule(rt_module(module), rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuKernelUnloadModuleFlag(tpuKernelModule_t module, tpuStream_t stream, uint32_t flag) try {
  SOFTTPU_FORWARD(tpuRtKernelUnloadModuleFlag(rt_module(module), rt(stream), flag));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuKernelLaunch(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                           uint64_t group_num, uint64_t group_size, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtKernelLaunch(rt_module(module), kernel_name, const_cast<void*>(args), arg_size, group_num,
                                    group_size, rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuKernelLaunchAsync(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                                uint64_t group_num, uint64_t group_size, tpuStream_t stream) try {
  SOFTTPU_FORWARD(tpuRtKernelLaunchAsync(rt_module(module), kernel_name, const_cast<void*>(args), arg_size, group_num,
                                         group_size, rt(stream)));
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Graphs ----

tpuError_t tpuStreamBeginCapture(tpuStream_t capture_stream) try {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  return to_error(__func__, stream->begin_capture());
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuStreamEndCapture(tpuStream_t capture_stream, tpuGraph_t* graph) try {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  if (graph == nullptr) return fail(__func__, tpuErrorInvalidParam, "graph is NULL");
  auto captured = stream->end_capture();
  if (!captured) return fail(__func__, tpuErrorInvalidParam, captured.error().text);
  *graph = graph_table().add(std::make_shared<const Stream::Graph>(*std::move(captured)));
  return tpuSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGraphInstantiate(tpuGraphExec_t* graph_exec, tpuGraph_t graph, void* /*ext*/) try {
  if (graph_exec == nullptr) return fail(__func__, tpuErrorInvalidParam, "graph_exec is NULL");
  auto found = graph_table().find(graph);
  if (found == nullptr) return fail_graph(__func__, graph);
  *graph_exec = graph_table().add(std::move(found));
  return tpuSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGraphLaunch(tpuGraphExec_t graph_exec, tpuStream_t capture_stream) try {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  const auto found = graph_table().find(graph_exec);
  if (found == nullptr) return fail_graph(__func__, graph_exec);
  return to_error(__func__, stream->launch_graph(*found));
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGraphDestroy(tpuGraph_t graph) try {
  return graph_table().take(graph) != nullptr ? tpuSuccess : fail_graph(__func__, graph);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuError_t tpuGraphExecDestroy(tpuGraphExec_t graph_exec) try {
  return graph_table().take(graph_exec) != nullptr ? tpuSuccess : fail_graph(__func__, graph_exec);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
