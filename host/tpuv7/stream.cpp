// Streams and events.
#include <fmt/format.h>

#include "host/tpuv7/support.hpp"

namespace softtpu::tpuv7 {
namespace {

constexpr const char* kOwnStream = "a callback cannot wait for the stream that it belongs to";

tpuRtStatus_t make_wait(const char* function, host::Stream& stream, host::Event& event) {
  if (event.last() == nullptr && !stream.is_captured())
    return fail(function, tpuRtErrorInitializationError, "the event was never recorded");
  return to_status(function, event.make_wait(stream));
}

// The stream that this thread is a callback of would have to go on first.
bool is_waiting_for_itself(const host::Event& event) { return event.is_pending_in_own_stream(); }

}  // namespace
}  // namespace softtpu::tpuv7

using namespace softtpu;
using namespace softtpu::tpuv7;

extern "C" {

tpuRtStatus_t tpuRtStreamCreate(tpuRtStream_t* pStream) try {
  SOFTTPU_RT_NOT_NULL(pStream, tpuRtErrorInvalidValue);
  SOFTTPU_RT_DEVICE(device);
  if (auto own = device->check_process(); !own) return fail(__func__, own.error());
  *pStream = static_cast<tpuRtStream_t>(host::stream_table().add(host::Stream::make(device)));
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtStreamDestroy(tpuRtStream_t stream) try {
  SOFTTPU_RT_STREAM(found, stream);
  host::stream_table().take(stream);
  // Its thread lives on for a while, and a wait for the whole device refuses streams that are captured.
  static_cast<void>(found->end_capture());
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtStreamSynchronize(tpuRtStream_t stream) try {
  SOFTTPU_RT_STREAM(found, stream);
  if (found->is_own_thread()) return fail(__func__, tpuRtErrBusy, kOwnStream);
  return to_status(__func__, found->synchronize(), true);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtStreamAddCallback(tpuRtStream_t stream, pTpuRtStreamCallback callback, void* userData) try {
  SOFTTPU_RT_STREAM(found, stream);
  SOFTTPU_RT_NOT_NULL(callback, tpuRtErrorInvalidValue);
  return to_status(__func__, found->add(host::Stream::WaitingStep{[callback, userData]() -> Result<void> {
    callback(userData);
    return {};
  }}));
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtStreamWaitEvent(tpuRtStream_t stream, tpuRtEvent_t event) try {
  SOFTTPU_RT_STREAM(found, stream);
  SOFTTPU_RT_EVENT(awaited, event);
  return make_wait(__func__, *found, *awaited);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtStreamWaitEventSync(tpuRtStream_t stream, tpuRtEvent_t event) try {
  SOFTTPU_RT_STREAM(found, stream);
  SOFTTPU_RT_EVENT(awaited, event);
  if (is_waiting_for_itself(*awaited)) return fail(__func__, tpuRtErrBusy, kOwnStream);
  if (const auto status = make_wait(__func__, *found, *awaited); status != tpuRtSuccess) return status;
  if (!found->is_captured()) awaited->last()->wait();
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventCreate(tpuRtEvent_t* pEvent) try {
  SOFTTPU_RT_NOT_NULL(pEvent, tpuRtErrorInvalidValue);
  *pEvent = static_cast<tpuRtEvent_t>(host::event_table().add(std::make_shared<host::Event>()));
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventFree(tpuRtEvent_t pEvent, tpuRtStream_t /*stream*/) try {
  SOFTTPU_RT_EVENT(found, pEvent);
  host::event_table().take(pEvent);
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventRecord(tpuRtEvent_t event, tpuRtStream_t stream) try {
  SOFTTPU_RT_EVENT(recorded, event);
  SOFTTPU_RT_STREAM(found, stream);
  return to_status(__func__, recorded->record(*found));
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventQuery(tpuRtEvent_t event) try {
  SOFTTPU_RT_EVENT(found, event);
  const auto mark = found->last();
  if (mark == nullptr) return fail(__func__, tpuRtDevnotready, "the event was never recorded");
  return mark->has_happened() ? tpuRtSuccess : tpuRtDevnotready;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventSynchronize(tpuRtEvent_t event) try {
  SOFTTPU_RT_EVENT(found, event);
  if (is_waiting_for_itself(*found)) return fail(__func__, tpuRtErrBusy, kOwnStream);
  if (const auto mark = found->last()) mark->wait();
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtEventElapsedTime(float* ms, tpuRtEvent_t start, tpuRtEvent_t end) try {
  SOFTTPU_RT_NOT_NULL(ms, tpuRtErrorInvalidValue);
  SOFTTPU_RT_EVENT(from, start);
  SOFTTPU_RT_EVENT(to, end);
  const auto first = from->last(), last = to->last();
  *ms = 0;
  if (first == nullptr || last == nullptr) return tpuRtSuccess;
  if (!first->has_happened() || !last->has_happened())
    return fail(__func__, tpuRtDevnotready,
                fmt::format("the {} event has not happened yet", first->has_happened() ? "end" : "start"));
  *ms = static_cast<float>(host::Mark::milliseconds(*first, *last));
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
