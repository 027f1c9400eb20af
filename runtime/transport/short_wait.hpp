// Looks for something that is about to happen, instead of sleeping until somebody wakes the thread: the sleep and the
// wake-up of a short wait take longer than the wait.
//
// Where looking does not pay, because waits are long or the processors have other work, it is left out more and more
// often. Used by one thread.
#pragma once

#include <chrono>

namespace softtpu {

class ShortWait {
 public:
  explicit ShortWait(std::chrono::microseconds longest) : longest_(longest) {}

  // Whether the next look() is worth it. Counts: to be asked once for each look that is possible.
  bool is_worth_it();

  // Whether whoever is waited for has another processor, or needs this one.
  enum class Other { kElsewhere, kHere };
  // Until ready() holds. False: it did not within the time.
  template <class Ready>
  bool look(Other other, Ready ready) {
    const auto start = Clock::now();
    auto last = start;
    bool displaced = false;
    for (;;) {
      const bool found = ready();
      const auto now = Clock::now();
      displaced = displaced || now - last > kTurn;
      if (found || now - start > longest_) {
        // Here the other one is expected to take turns, as long as it takes them soon.
        note(found && (other == Other::kHere ? now - start <= longest_ : !displaced));
        return found;
      }
      last = now;
      other == Other::kHere ? give_way() : relax();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  // One turn of the loop takes a fraction of this, unless somebody is given the processor.
  static constexpr std::chrono::microseconds kTurn{8};
  static void give_way();
  static void relax();
  void note(bool paid);

  const std::chrono::nanoseconds longest_;
  unsigned left_out_ = 0;  // looks that are still to be left out
  unsigned pause_ = 0;     // how many are after one that does not pay
};

}  // namespace softtpu
