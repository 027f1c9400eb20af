#include "runtime/transport/adaptive_spin.hpp"

#include <algorithm>
#include <thread>

namespace softtpu {
namespace {

constexpr unsigned kLongestPause = 64;

}  // namespace

void AdaptiveSpin::give_way() { std::this_thread::yield(); }

bool AdaptiveSpin::is_worth_it(Clock::time_point now) {
  if (left_out_ > 0) {
    --left_out_;
    return false;
  }
  return credit_.allows_spin(now);
}

void AdaptiveSpin::note(bool paid, Clock::duration taken, Clock::time_point now) {
  if (paid) credit_.earn();
  if (taken > longest_ + SpinBudget::kInterrupted) credit_.lose(taken - longest_, now);
  pause_ = paid ? pause_ / 2 : std::min(std::max(2 * pause_, 1U), kLongestPause);
  left_out_ = paid ? 0 : pause_;
}

}  // namespace softtpu
