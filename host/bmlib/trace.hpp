// The trace of a handle's copies and launches, thread by thread: bm_trace_enable() and its relatives.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "bmlib_internal.h"

namespace softtpu::host {

// Safe from any thread. Nothing is recorded for a thread that has not enabled it.
class TraceLog {
 public:
  void enable(bool on);
  bool is_enabled() const;
  void add(const bm_trace_item_data& item);
  std::size_t size() const;
  // The calling thread's oldest items, at most so many.
  std::deque<bm_trace_item_data> take(std::size_t most);

 private:
  struct OfThread {
    bool enabled = false;
    std::deque<bm_trace_item_data> items;
  };
  std::atomic<bool> used_{false};  // some thread has enabled it at some time
  mutable std::mutex mutex_;
  std::map<std::thread::id, OfThread> threads_;
};

// One copy or launch, from its construction to its end.
class TracedCall {
 public:
  enum class Direction { kToDevice = 0, kToHost = 1, kInDevice = 2 };
  TracedCall(TraceLog& log, Direction direction);
  TracedCall(TraceLog& log, std::uint32_t function);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  TraceLog* log_;  // nullptr: not traced
  bm_trace_item_data item_{};
};

}  // namespace softtpu::host
