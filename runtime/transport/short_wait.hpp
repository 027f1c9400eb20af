// Looks for something that is about to happen, instead of sleeping until somebody wakes the thread: the sleep and the
// wake-up of a short wait take longer than the wait, most of all where the other processor has to be woken as well.
//
// Between two looks others get the processor: who is waited for may need it. Where looking does not pay, because waits
// are long or the processors have other work, it is left out more and more often. Used by one thread.
#pragma once

#include <chrono>

namespace softtpu {

class ShortWait {
 public:
  // A program's next launch, and the end of a short kernel, come within the default.
  explicit ShortWait(std::chrono::microseconds longest = std::chrono::microseconds(50)) : longest_(longest) {}

  // Whether the next look() is worth it. Counts: to be asked once for each look that is possible.
  bool is_worth_it();

  // Until ready() holds. False: it did not within the time.
  template <class Ready>
  bool look(Ready ready) {
    const auto start = Clock::now();
    for (;;) {
      const bool found = ready();
      const bool late = Clock::now() - start > longest_;
      if (found || late) {
        note(found && !late);
        return found;
      }
      give_way();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static void give_way();
  void note(bool paid);

  const std::chrono::nanoseconds longest_;
  unsigned left_out_ = 0;  // looks that are still to be left out
  unsigned pause_ = 0;     // how many are after one that does not pay
};

}  // namespace softtpu
