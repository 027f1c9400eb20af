#include "runtime/transport/short_wait.hpp"

#include <algorithm>
#include <thread>

namespace softtpu {
namespace {

constexpr unsigned kLongestPause = 64;

}  // namespace

void ShortWait::give_way() { std::this_thread::yield(); }

bool ShortWait::is_worth_it() {
  if (left_out_ == 0) return true;
  --left_out_;
  return false;
}

void ShortWait::note(bool paid) {
  pause_ = paid ? pause_ / 2 : std::min(std::max(2 * pause_, 1U), kLongestPause);
  left_out_ = paid ? 0 : pause_;
}

}  // namespace softtpu
