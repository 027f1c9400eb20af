// A thread that looks for what another one gives it holds that one up where both have one processor: between two looks
// of the one, the other has its turn. Linux may leave them there for seconds while another processor has nothing to do.
#pragma once

#include <chrono>

namespace softtpu {

class Sidestep {
 public:
  // The other one was last seen on this processor: where the calling thread is there too, it moves to another one that
  // it may use, and may be moved by the system from then on as before. -1: nobody knows.
  void avoid(int processor);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{10};  // a move costs some ten microseconds

  Clock::time_point next_{};
};

}  // namespace softtpu
