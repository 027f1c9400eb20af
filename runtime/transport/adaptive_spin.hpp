// Spins for a short time before the thread blocks: blocking and waking take longer than a short wait, most of all where
// the other processor has to be woken as well.
//
// Between two checks the thread yields: the thread that it waits for may need the processor. Where spinning does not
// pay, because waits are long, it is left out more and more often; where the processors are busy, for a time. Used by
// one thread.
#pragma once

#include <chrono>

#include "runtime/base/spin_budget.hpp"

namespace softtpu {

class AdaptiveSpin {
 public:
  // A program's next launch, and the end of a short kernel, come within the default.
  explicit AdaptiveSpin(std::chrono::microseconds longest = std::chrono::microseconds(50)) : longest_(longest) {}

  using Clock = SpinBudget::Clock;

  // Whether the next look() is worth it. Counts: to be asked once for each look that is possible.
  bool is_worth_it(Clock::time_point now = Clock::now());

  // Until ready() holds. False: it did not within the time.
  template <class Ready>
  bool look(Ready ready) {
    if (ready()) return true;  // says nothing about looking
    const auto start = Clock::now();
    for (;;) {
      give_way();
      const bool found = ready();
      const auto now = Clock::now();
      const bool late = now - start > longest_;
      if (!found && !late) continue;
      note(found && !late, now - start, now);
      return found;
    }
  }
  // Spins have paid for a while, and none was interrupted.
  bool is_undisturbed() const { return credit_.is_full(); }
  // What a look that took so long has come to; look() says so itself.
  void note(bool paid, Clock::duration taken, Clock::time_point now);

 private:
  static void give_way();

  const std::chrono::nanoseconds longest_;
  SpinBudget credit_;
  unsigned left_out_ = 0;  // looks that are still to be left out
  unsigned pause_ = 0;     // how many are after one that does not pay
};

}  // namespace softtpu
