// Whether it is worth it to look for what is about to happen instead of sleeping: it is while nobody else wants the
// processor. A thread that looks uses up its turn; then the others get theirs, for milliseconds each, and what it
// waited for has long been there. A thread that sleeps has its turn still before it and gets the processor when it is
// woken.
//
// Looks that save a wake-up earn time, looks that are interrupted lose it. When more is lost than was earned, looks are
// left out for many times as long, so that they cost little however busy the machine is. Used by one thread.
#pragma once

#include <algorithm>
#include <chrono>

namespace softtpu {

class LookCredit {
 public:
  using Clock = std::chrono::steady_clock;
  // A look, or a part of one, that takes so much longer than it should was interrupted.
  static constexpr std::chrono::microseconds kInterrupted{100};

  bool allows_look(Clock::time_point now) const { return now >= rest_until_; }

  // Nobody else has wanted the processor for as long as can be remembered.
  bool is_full() const { return credit_ >= kMost; }

  // By looking, the thread has found what it would have had to be woken for.
  void earn() { credit_ = std::min<Clock::duration>(credit_ + kWakeUp, kMost); }

  // So long somebody else had the processor during a look.
  void lose(Clock::duration time, Clock::time_point now) {
    credit_ -= time;
    if (credit_ >= Clock::duration::zero()) return;
    rest_until_ = now + std::min<Clock::duration>(-credit_ * kRest, kLongestRest);
    credit_ = Clock::duration::zero();
  }

 private:
  static constexpr std::chrono::microseconds kWakeUp{20};  // of a sleeping processor, at least
  static constexpr std::chrono::milliseconds kMost{4};     // what one turn of somebody else takes
  static constexpr int kRest = 64;
  static constexpr std::chrono::seconds kLongestRest{10};

  Clock::duration credit_ = kMost;
  Clock::time_point rest_until_{};
};

}  // namespace softtpu
