// A thread that spins on the processor of the thread that it waits for slows both down, and Linux may leave them there
// for seconds while another processor is idle. Moves the spinning thread away.
#pragma once

#include <chrono>

namespace softtpu {

class SpinMigration {
 public:
  // The other one was last seen on this processor: where the calling thread is there too, it moves to another one that
  // it may use, and may be moved by the system from then on as before. -1: unknown.
  void avoid(int processor);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{10};  // a move costs some ten microseconds

  Clock::time_point next_{};
};

}  // namespace softtpu
