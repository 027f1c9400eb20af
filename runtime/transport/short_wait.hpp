// Looks for something that is about to happen, instead of sleeping until somebody wakes the thread: the sleep and the
// wake-up of a short wait take longer than the wait, most of all where the other processor has to be woken as well.
//
// Between two looks others get the processor: who is waited for may need it. Where looking does not pay, because waits
// are long, it is left out more and more often; where the processors have other work, for a time. Used by one thread.
#pragma once

#include <chrono>

#include "runtime/base/look_credit.hpp"

namespace softtpu {

class ShortWait {
 public:
  // A program's next launch, and the end of a short kernel, come within the default.
  explicit ShortWait(std::chrono::microseconds longest = std::chrono::microseconds(50)) : longest_(longest) {}

  using Clock = LookCredit::Clock;

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
  // Looks have paid for a while, and nobody else has wanted the processor.
  bool is_undisturbed() const { return credit_.is_full(); }
  // What a look that took so long has come to; look() says so itself.
  void note(bool paid, Clock::duration taken, Clock::time_point now);

 private:
  static void give_way();

  const std::chrono::nanoseconds longest_;
  LookCredit credit_;
  unsigned left_out_ = 0;  // looks that are still to be left out
  unsigned pause_ = 0;     // how many are after one that does not pay
};

}  // namespace softtpu
