#include "host/bmlib/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "host/bmlib/handle.hpp"

namespace softtpu::host {
namespace {

constexpr std::size_t kMostItems = 1024;
constexpr int kCopy = 0, kLaunch = 1;

unsigned long now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<unsigned long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

void TraceLog::enable(bool on) {
  const std::lock_guard lock(mutex_);
  threads_[std::this_thread::get_id()].enabled = on;
  used_ = used_ || on;
}

bool TraceLog::is_enabled() const {
  if (!used_) return false;
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(std::this_thread::get_id());
  return found != threads_.end() && found->second.enabled;
}

void TraceLog::add(const bm_trace_item_data& item) {
  const std::lock_guard lock(mutex_);
  auto& items = threads_[std::this_thread::get_id()].items;
  items.push_back(item);
  if (items.size() > kMostItems) items.pop_front();
}

std::size_t TraceLog::size() const {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(std::this_thread::get_id());
  return found == threads_.end() ? 0 : found->second.items.size();
}

std::deque<bm_trace_item_data> TraceLog::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(std::this_thread::get_id());
  std::deque<bm_trace_item_data> taken;
  if (found == threads_.end()) return taken;
  auto& items = found->second.items;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(most, items.size()));
  taken.assign(items.begin(), end);
  items.erase(items.begin(), end);
  return taken;
}

TracedCall::TracedCall(TraceLog& log, Direction direction) : log_(log.is_enabled() ? &log : nullptr) {
  if (log_ == nullptr) return;
  item_.trace_type = kCopy;
  item_.cdma_dir = static_cast<int>(direction);
  item_.sent_time = item_.start_time = now_us();
}

TracedCall::TracedCall(TraceLog& log, std::uint32_t function) : log_(log.is_enabled() ? &log : nullptr) {
  if (log_ == nullptr) return;
  item_.trace_type = kLaunch;
  item_.api_id = static_cast<int>(function);
  item_.sent_time = item_.start_time = now_us();
}

TracedCall::~TracedCall() {
  if (log_ == nullptr) return;
  item_.end_time = now_us();
  // What a call did counts more than its line in the trace.
  try {
    log_->add(item_);
  } catch (const std::bad_alloc&) {
  }
}

namespace {

bm_status_t dump(const char* function, TraceLog& log, bm_trace_item_data* to, std::size_t most) {
  const auto items = log.take(most);
  if (items.empty()) return fail(function, BM_ERR_FAILURE, "this thread's trace has no item on this handle");
  std::copy(items.begin(), items.end(), to);
  return BM_SUCCESS;
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu::host;

extern "C" {

bm_status_t bm_trace_enable(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  h->trace().enable(true);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_trace_disable(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  h->trace().enable(false);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_traceitem_number(bm_handle_t handle, long long* number) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(number);
  *number = static_cast<long long>(h->trace().size());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_trace_dump(bm_handle_t handle, struct bm_trace_item_data* trace_data) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(trace_data);
  return dump(__func__, h->trace(), trace_data, 1);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_trace_dump_all(bm_handle_t handle, struct bm_trace_item_data* trace_data) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(trace_data);
  return dump(__func__, h->trace(), trace_data, kMostItems);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
