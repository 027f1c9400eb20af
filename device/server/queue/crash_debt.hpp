// What a client's crashes have cost the others of a shared device, over all of the client's connections. While new
// cores start and modules are loaded again, others wait; so the client that crashed waits in turn, and its crashes take
// a small part of the device's time at most. Lives on the server's thread.
#pragma once

#include <algorithm>
#include <chrono>

namespace softtpu {

class CrashDebt {
 public:
  using Clock = std::chrono::steady_clock;
  // For each moment that a crash has cost the client waits this many. Others' modules, which new cores load later, are
  // in it. A crash delays one launch of each other client by about three times the cost; with 200, these are less than
  // one launch in a hundred of clients that launch without a pause.
  static constexpr int kFactor = 200;
  // A program with a crash in each of its tests shall come to its end.
  static constexpr std::chrono::seconds kMost{8};

  void add(Clock::time_point now, Clock::duration cost) {
    until_ = std::min<Clock::time_point>(std::max(until_, now) + kFactor * cost, now + kMost);
  }
  // How long its launches still wait; zero: they do not.
  Clock::duration left(Clock::time_point now) const { return std::max(until_, now) - now; }

 private:
  Clock::time_point until_{};
};

}  // namespace softtpu
