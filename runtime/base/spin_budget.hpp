// Decides whether to spin before blocking. Spinning pays only while the processor is otherwise idle: a thread that
// spins uses up its time slice, then other threads run for milliseconds each, while a thread that blocks gets the
// processor when it is woken.
//
// Spins that save a wake-up earn time, spins that are interrupted lose it. When more is lost than was earned, the
// thread does not spin for many times as long, so that spinning costs little on a busy machine. Used by one thread.
#pragma once

#include <algorithm>
#include <chrono>

namespace softtpu {

class SpinBudget {
 public:
  using Clock = std::chrono::steady_clock;
  // A spin that takes so much longer than it should was interrupted.
  static constexpr std::chrono::microseconds kInterrupted{100};

  bool allows_spin(Clock::time_point now) const { return now >= rest_until_; }

  // No spin was interrupted for as long as the budget remembers.
  bool is_full() const { return credit_ >= kMost; }

  // A spin has saved a wake-up.
  void earn() { credit_ = std::min<Clock::duration>(credit_ + kWakeUp, kMost); }

  // Another thread had the processor for so long during a spin.
  void lose(Clock::duration time, Clock::time_point now) {
    credit_ -= time;
    if (credit_ >= Clock::duration::zero()) return;
    rest_until_ = now + std::min<Clock::duration>(-credit_ * kRest, kLongestRest);
    credit_ = Clock::duration::zero();
  }

 private:
  static constexpr std::chrono::microseconds kWakeUp{20};  // of a sleeping processor, at least
  static constexpr std::chrono::milliseconds kMost{4};     // a time slice of another thread
  static constexpr int kRest = 64;
  static constexpr std::chrono::seconds kLongestRest{10};

  Clock::duration credit_ = kMost;
  Clock::time_point rest_until_{};
};

}  // namespace softtpu
