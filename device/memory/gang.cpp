#include "device/memory/gang.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

using Clock = std::chrono::steady_clock;

// From the end of a command to the next large one, with the kernel's own work and small commands between them.
constexpr std::chrono::microseconds kLook{100};
// Of each thread's part: enough that an uneven start or an interruption is made up for by the others.
constexpr int kChunks = 8;
constexpr int kLongestPause = 63;

std::size_t most_threads(int threads) {
  const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return std::max(allowed, static_cast<std::size_t>(std::max(threads, 1)));
}

// Moves this thread to another processor, once. Linux wakes a thread where it last ran, even beside an idle processor
// when there are few of them, and balances the two only after milliseconds.
bool leave_processor(int processor) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof(others), &others) != 0) return false;
  return ::sched_setaffinity(0, sizeof(allowed), &allowed) == 0;
}

}  // namespace

Gang::Gang(int threads)
    : allowed_(tbb::global_control::max_allowed_parallelism, most_threads(threads)),
      arena_(threads),
      shares_(static_cast<std::size_t>(arena_.max_concurrency())) {
  shares_[0].has_thread = true;
}

void Gang::run(int count, const void* body, Call call) {
  if (threads() == 1 || taken_.test_and_set(std::memory_order_acquire)) return call(body, 0, count);
  open(count, body, call);
  call_workers();
  work(0);
  close();
  taken_.clear(std::memory_order_release);
}

void Gang::open(int count, const void* body, Call call) {
  processor_ = ::sched_getcpu();
  body_ = body;
  call_ = call;
  chunk_ = std::max(1, count / (threads() * kChunks));
  for (int i = 0; i < threads(); ++i) {
    Share& share = shares_[static_cast<std::size_t>(i)];
    share.next.store(static_cast<int>(std::int64_t{count} * i / threads()), std::memory_order_relaxed);
    share.end = static_cast<int>(std::int64_t{count} * (i + 1) / threads());
  }
  open_job_ = ++last_job_;
}

void Gang::close() {
  open_job_ = 0;
  while (inside_ != 0) std::this_thread::yield();
}

void Gang::call_workers() {
  for (std::size_t i = 1; i < shares_.size(); ++i) {
    Share& share = shares_[i];
    if (share.has_thread) continue;
    if (share.left_out < share.pause) {
      ++share.left_out;
      continue;
    }
    share.left_out = 0;
    share.has_thread = true;
    arena_.enqueue([this, i] { serve(i); });
  }
}

void Gang::serve(std::size_t share) {
  std::uint64_t done = 0;
  auto last = Clock::now();
  do {
    if (const std::uint64_t job = open_job_; job != 0 && job != done) {
      if (!join(share, job)) break;
      done = job;
      last = Clock::now();
    } else {
      std::this_thread::yield();
    }
  } while (Clock::now() - last < kLook);
  shares_[share].has_thread = false;
}

// False: this thread has no processor of its own.
bool Gang::join(std::size_t share, std::uint64_t job) {
  std::atomic<int>& pause = shares_[share].pause;
  if (const int taken = processor_; ::sched_getcpu() == taken && !leave_processor(taken)) {
    pause = std::min(2 * pause + 1, kLongestPause);
    return false;
  }
  pause = 0;
  ++inside_;
  if (open_job_ == job) {
    const FpuScope modes;
    work(share);
  }
  --inside_;
  return true;
}

void Gang::work(std::size_t first) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[(first + i) % shares_.size()];
    for (;;) {
      const int begin = share.next.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= share.end) break;
      call_(body_, begin, std::min(begin + chunk_, share.end));
    }
  }
}

}  // namespace softtpu
