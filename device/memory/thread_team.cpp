#include "device/memory/thread_team.hpp"

#include <sched.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "device/numeric/float_unit.hpp"
#include "runtime/base/futex.hpp"
#include "runtime/base/spin_budget.hpp"

namespace softtpu {
namespace {

using Clock = SpinBudget::Clock;

// From the end of a command to the next large one, with the kernel's own work and small commands between them. A
// sleeping processor of a virtual machine may wake milliseconds late.
constexpr std::chrono::milliseconds kLook{1};
// For the last chunks of the others, before the calling thread sleeps: a worker that has not finished by then may have
// lost its processor.
constexpr std::chrono::microseconds kLookForEnd{50};
// Of each thread's part: enough that an uneven start or an interruption is made up for by the others.
constexpr int kChunks = 24;

// Looks for about a microsecond whether something is so. Looks follow each other without a pause: hosts of virtual
// machines take the processor from a thread that pauses again and again.
template <class Condition>
bool look_again(const Condition& condition) {
  constexpr int kLooks = 1000;
  for (int i = 0; i < kLooks; ++i) {
    if (condition()) return true;
  }
  return false;
}

bool is_open(int job) { return job % 2 != 0; }

// oneTBB's own limit is one thread for each processor; of several limits the lowest counts.
void allow_threads(int threads) {
  static auto* const limit = new std::optional<tbb::global_control>;
  const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  const auto wanted = static_cast<std::size_t>(std::max(threads, 1));
  if (wanted > allowed) limit->emplace(tbb::global_control::max_allowed_parallelism, wanted);
}

// Keeps this thread from a processor. Left alone, Linux may wake it there beside an idle one, more so on virtual
// machines, whose idle processors do not look available; the thread that works there does not make room for
// milliseconds.
bool avoid_processor(int processor) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof(set), &set);
    return set;
  }();
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  return CPU_COUNT(&others) > 0 && ::sched_setaffinity(0, sizeof(others), &others) == 0;
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : arena_(threads), shares_(static_cast<std::size_t>(arena_.max_concurrency())) {
  allow_threads(threads);
}

void ThreadTeam::run(int count, const void* body, Call call) {
  if (taken_.test_and_set(std::memory_order_acquire)) return call(body, 0, count);
  start_workers();
  open(count, body, call);
  work(0);
  close();
  taken_.clear(std::memory_order_release);
}

void ThreadTeam::open(int count, const void* body, Call call) {
  processor_ = ::sched_getcpu();
  body_ = body;
  call_ = call;
  chunk_ = std::max(1, count / (threads() * kChunks));
  for (int i = 0; i < threads(); ++i) {
    Share& share = shares_[static_cast<std::size_t>(i)];
    share.begin = static_cast<int>(std::int64_t{count} * i / threads());
    share.end = static_cast<int>(std::int64_t{count} * (i + 1) / threads());
    share.taken.store(0, std::memory_order_relaxed);
  }
  backwards_ = !backwards_;
  ++job_;
  // Either this sees that a worker sleeps, or the worker sees the command.
  if (sleepers_ != 0) futex_wake_all(job_);
}

void ThreadTeam::close() {
  ++job_;
  const auto nobody_inside = [this] { return inside_ == 0; };
  if (look_again(nobody_inside)) return;
  const auto end = Clock::now() + kLookForEnd;
  while (Clock::now() < end) {
    if (look_again(nobody_inside)) return;
  }
  wait_for_workers();
}

void ThreadTeam::wait_for_workers() {
  awaited_ = true;
  for (int inside = inside_; inside != 0; inside = inside_) futex_wait(inside_, inside);
  awaited_ = false;
}

void ThreadTeam::start_workers() {
  if (started_) return;
  started_ = true;
  for (std::size_t share = 1; share < shares_.size(); ++share) arena_.enqueue([this, share] { serve(share); });
}

void ThreadTeam::serve(std::size_t share) {
  const FpuScope modes;
  SpinBudget credit;
  int seen = 0;
  bool slept = false;
  auto last = Clock::now();
  for (auto now = last;; now = Clock::now()) {
    const int job = job_;
    if (job != seen && is_open(job)) {
      if (!std::exchange(slept, false)) credit.earn();
      join(share, job);
      seen = job;
      last = Clock::now();
    } else if (now - last > kLook || !credit.allows_spin(now)) {
      sleep_until_changed(job);
      slept = true;
    } else if (!look_again([&] { return job_ != job; })) {
      // That takes half a microsecond, in which nothing is seen.
      std::this_thread::yield();
      const auto after = Clock::now();
      if (after - now > SpinBudget::kInterrupted) credit.lose(after - now, after);
    }
  }
}

void ThreadTeam::sleep_until_changed(int job) {
  ++sleepers_;
  while (job_ == job) futex_wait(job_, job);
  --sleepers_;
}

void ThreadTeam::join(std::size_t share, int job) {
  if (const int taken = processor_; ::sched_getcpu() == taken && !avoid_processor(taken)) return;
  ++inside_;
  if (job_ == job) work(share);
  if (--inside_ == 0 && awaited_) futex_wake_all(inside_);
}

void ThreadTeam::work(std::size_t first) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[(first + i) % shares_.size()];
    const int size = share.end - share.begin;
    for (;;) {
      const int from = share.taken.fetch_add(chunk_, std::memory_order_relaxed);
      if (from >= size) break;
      const int to = std::min(from + chunk_, size);
      backwards_ ? call_(body_, share.end - to, share.end - from) : call_(body_, share.begin + from, share.begin + to);
    }
  }
}

}  // namespace softtpu
