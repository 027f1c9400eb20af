// libtpu_runtime_api: the wrapper's types and errors in front of libtpuv7_rt.
#include "tpu_runtime_api/tpu_runtime_api.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "bmlib_runtime.h"
#include "host/client/call_stack.hpp"
#include "host/client/log_sink.hpp"
#include "host/client/tables.hpp"
#include "tpuv7/tpuv7_rt.h"

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

tpuError_t tpuInit(void) { SOFTTPU_FORWARD(tpuRtInit()); }
tpuError_t tpuGetDeviceCount(int* count) { SOFTTPU_FORWARD(tpuRtGetDeviceCount(count)); }
tpuError_t tpuGetDevice(int* device) { SOFTTPU_FORWARD(tpuRtGetDevice(device)); }
tpuError_t tpuSetDevice(int device) {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtSetDevice(device); });
  return status == tpuRtErrorInvalidValue ? tpuErrorInvalidDevice : to_error(status);
}
tpuError_t tpuSetupTopology(void) { SOFTTPU_FORWARD(tpuRtSetupTopology()); }
tpuError_t tpuGetTopology(tpuTopology_t** topology) {
  SOFTTPU_FORWARD(tpuRtGetTopology(reinterpret_cast<c2c_port_info**>(topology)));
}

// ---- Memory ----

tpuError_t tpuMalloc(void** devPtr, size_t size) {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtMalloc(devPtr, size, 0); });
  const bool refused = static_cast<int>(status) == -1;  // no enumerator
  return refused ? tpuErrorOutOfMemory : to_error(status);
}
tpuError_t tpuFree(void* devPtr) { SOFTTPU_FORWARD(tpuRtFree(&devPtr, 0)); }
tpuError_t tpuMallocHost(void** ptr, size_t size) { SOFTTPU_FORWARD(tpuRtMallocHost(ptr, size)); }
tpuError_t tpuFreeHost(void* ptr) { SOFTTPU_FORWARD(tpuRtFreeHost(ptr)); }
tpuError_t tpuMemcpyH2D(void* devPtr, const void* hostPtr, size_t size) {
  SOFTTPU_FORWARD(tpuRtMemcpyS2D(devPtr, hostPtr, size));
}
tpuError_t tpuMemcpyD2H(void* hostPtr, const void* devPtr, size_t size) {
  SOFTTPU_FORWARD(tpuRtMemcpyD2S(hostPtr, devPtr, size));
}
tpuError_t tpuMemcpyD2D(void* dstPtr, const void* srcPtr, size_t size) {
  SOFTTPU_FORWARD(tpuRtMemcpyD2D(dstPtr, srcPtr, size));
}
tpuError_t tpuMemcpyH2DAsync(void* devPtr, const void* hostPtr, size_t size, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtMemcpyS2DAsync(devPtr, hostPtr, size, rt(stream)));
}
tpuError_t tpuMemcpyD2HAsync(void* hostPtr, const void* devPtr, size_t size, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtMemcpyD2SAsync(hostPtr, devPtr, size, rt(stream)));
}
tpuError_t tpuMemcpyD2DAsync(void* dstPtr, const void* srcPtr, size_t size, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtMemcpyD2DAsync(dstPtr, srcPtr, size, rt(stream)));
}
tpuError_t tpuGetAllMemory(size_t* allMemSize) { SOFTTPU_FORWARD(tpuRtGetAllMemory(allMemSize)); }
tpuError_t tpuGetFreeMemory(size_t* freeMemSize) { SOFTTPU_FORWARD(tpuRtGetFreeMemory(freeMemSize)); }
tpuError_t tpuGetPeakMemory(size_t* peakMemSize) { SOFTTPU_FORWARD(tpuRtGetPeakMemory(peakMemSize)); }
tpuError_t tpuResetPeakMemory(void) { SOFTTPU_FORWARD(tpuRtResetPeakMemory()); }

// ---- Streams and events ----

tpuError_t tpuStreamCreate(tpuStream_t* stream) {
  SOFTTPU_FORWARD(tpuRtStreamCreate(reinterpret_cast<tpuRtStream_t*>(stream)));
}
tpuError_t tpuStreamDestroy(tpuStream_t stream) { SOFTTPU_FORWARD(tpuRtStreamDestroy(rt(stream))); }
tpuError_t tpuStreamSynchronize(tpuStream_t stream) { SOFTTPU_FORWARD(tpuRtStreamSynchronize(rt(stream))); }
tpuError_t tpuStreamWaitEvent(tpuStream_t stream, tpuEvent_t event) {
  SOFTTPU_FORWARD(tpuRtStreamWaitEvent(rt(stream), rt_event(event)));
}
tpuError_t tpuEventCreate(tpuEvent_t* event) {
  SOFTTPU_FORWARD(tpuRtEventCreate(reinterpret_cast<tpuRtEvent_t*>(event)));
}
tpuError_t tpuEventDestroy(tpuEvent_t event, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtEventFree(rt_event(event), rt(stream)));
}
tpuError_t tpuEventRecord(tpuEvent_t event, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtEventRecord(rt_event(event), rt(stream)));
}
tpuError_t tpuEventQuery(tpuEvent_t event) {
  const tpuRtStatus_t status = call(__func__, [&] { return tpuRtEventQuery(rt_event(event)); });
  return status == tpuRtDevnotready ? tpuErrorTimeout : to_error(status);
}
tpuError_t tpuEventElapsedTime(float* ms, tpuEvent_t start, tpuEvent_t end) {
  SOFTTPU_FORWARD(tpuRtEventElapsedTime(ms, rt_event(start), rt_event(end)));
}
tpuError_t tpuEventSynchronize(tpuEvent_t event) { SOFTTPU_FORWARD(tpuRtEventSynchronize(rt_event(event))); }

// ---- Kernels ----

tpuKernelModule_t tpuKernelModuleLoad(const char* data, size_t size, tpuStream_t stream) {
  return call(__func__, [&] { return tpuRtKernelLoadModule(data, size, rt(stream)); });
}
tpuKernelModule_t tpuKernelLoadModuleFlag(const char* data, size_t size, tpuStream_t stream, uint32_t flag) {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFlag(data, size, rt(stream), flag); });
}
tpuKernelModule_t tpuKernelModuleLoadFromFile(const char* file, tpuStream_t stream) {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFile(file, rt(stream)); });
}
tpuKernelModule_t tpuKernelModuleLoadFromFileFlag(const char* file, tpuStream_t stream, uint32_t flag) {
  return call(__func__, [&] { return tpuRtKernelLoadModuleFileFlag(file, rt(stream), flag); });
}
tpuError_t tpuKernelUnloadModule(tpuKernelModule_t module, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtKernelUnloadModule(rt_module(module), rt(stream)));
}
tpuError_t tpuKernelUnloadModuleFlag(tpuKernelModule_t module, tpuStream_t stream, uint32_t flag) {
  SOFTTPU_FORWARD(tpuRtKernelUnloadModuleFlag(rt_module(module), rt(stream), flag));
}
tpuError_t tpuKernelLaunch(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                           uint64_t group_num, uint64_t group_size, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtKernelLaunch(rt_module(module), kernel_name, const_cast<void*>(args), arg_size, group_num,
                                    group_size, rt(stream)));
}
tpuError_t tpuKernelLaunchAsync(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                                uint64_t group_num, uint64_t group_size, tpuStream_t stream) {
  SOFTTPU_FORWARD(tpuRtKernelLaunchAsync(rt_module(module), kernel_name, const_cast<void*>(args), arg_size, group_num,
                                         group_size, rt(stream)));
}

// ---- Graphs ----

tpuError_t tpuStreamBeginCapture(tpuStream_t capture_stream) {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  return to_error(__func__, stream->begin_capture());
}
tpuError_t tpuStreamEndCapture(tpuStream_t capture_stream, tpuGraph_t* graph) {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  if (graph == nullptr) return fail(__func__, tpuErrorInvalidParam, "graph is NULL");
  auto captured = stream->end_capture();
  if (!captured) return fail(__func__, tpuErrorInvalidParam, captured.error().text);
  *graph = graph_table().add(std::make_shared<const Stream::Graph>(*std::move(captured)));
  return tpuSuccess;
}
tpuError_t tpuGraphInstantiate(tpuGraphExec_t* graph_exec, tpuGraph_t graph, void* /*ext*/) {
  if (graph_exec == nullptr) return fail(__func__, tpuErrorInvalidParam, "graph_exec is NULL");
  auto found = graph_table().find(graph);
  if (found == nullptr) return fail_graph(__func__, graph);
  *graph_exec = graph_table().add(std::move(found));
  return tpuSuccess;
}
tpuError_t tpuGraphLaunch(tpuGraphExec_t graph_exec, tpuStream_t capture_stream) {
  const auto stream = find_stream(__func__, capture_stream);
  if (stream == nullptr) return tpuErrorInvalidValue;
  const auto found = graph_table().find(graph_exec);
  if (found == nullptr) return fail_graph(__func__, graph_exec);
  return to_error(__func__, stream->launch_graph(*found));
}
tpuError_t tpuGraphDestroy(tpuGraph_t graph) {
  return graph_table().take(graph) != nullptr ? tpuSuccess : fail_graph(__func__, graph);
}
tpuError_t tpuGraphExecDestroy(tpuGraphExec_t graph_exec) {
  return graph_table().take(graph_exec) != nullptr ? tpuSuccess : fail_graph(__func__, graph_exec);
}

}  // extern "C"
