#include "device/server/queue/core_watchdog.hpp"

#include <fmt/format.h>

#include <chrono>

#include "device/server/queue/group_launch.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {
namespace {

constexpr std::uint32_t kProgressStepMs = 100;
// So long a kernel that does nothing is left alone before it is checked whether it can ever go on.
constexpr std::uint64_t kSleepMs = 1000;
// A kernel that has made no call for so long after another core of its launch has failed is ended.
constexpr std::uint64_t kTellMs = 100;

bool is_over(std::uint64_t ms, std::uint32_t limit) { return limit != 0 && ms >= limit; }

}  // namespace

void CoreWatchdog::begin() {
  if (watching_) return;
  watching_ = true;
  still_ms_ = ran_ms_ = 0;
  loop_.after(std::chrono::milliseconds(kProgressStepMs), [this] {
    watching_ = false;
    look_();
  });
}

void CoreWatchdog::note(const Sight& sight) {
  same_item_ = sight.running == seen_running_ && (sight.running != 0 || !sight.is_readable);
  const bool still = same_item_ && sight.commands == seen_commands_;
  seen_running_ = sight.running;
  seen_commands_ = sight.commands;
  const std::uint64_t still_ms = still ? still_ms_ + kProgressStepMs : 0,
                      ran_ms = same_item_ ? ran_ms_ + kProgressStepMs : 0;
  begin();
  still_ms_ = still_ms;
  ran_ms_ = ran_ms;
  const bool begins = sight.running != 0 || sight.front != seen_front_;
  seen_front_ = sight.front;
  idle_ms_ = begins ? 0 : idle_ms_ + kProgressStepMs;
}

bool CoreWatchdog::is_idle_for(std::uint32_t limit_ms) const { return is_over(idle_ms_, limit_ms); }

std::string CoreWatchdog::judge(const CoreItem& item, pid_t core) {
  const bool is_process = core != 0;
  const bool runs = item.number == seen_running_;
  const bool in_group = item.group && runs;
  // The core that failed may take its time to say how.
  const bool ended_elsewhere =
      in_group && same_item_ && item.group->is_over() && !item.group->is_culprit(item.workitem);
  over_ms_ = ended_elsewhere ? over_ms_ + kProgressStepMs : 0;
  // The core that the others wait for has the limits.
  const bool waits = in_group && item.group->waits(item.workitem);
  if (waits) still_ms_ = 0;
  if (is_process && over_ms_ > kTellMs) return "was ended with the launch's other cores";
  if (item.cancelled && runs) return "was ended, because its program was interrupted";
  if (is_over(still_ms_, item.terms.timeout_ms)) {
    return fmt::format("issued no command for {} s (limit: SOFTTPU_TIMEOUT or bm_set_sync_timeout) and was ended",
                       item.terms.timeout_ms / 1000.0);
  }
  if (!waits && is_over(ran_ms_, item.terms.limit_ms)) {
    return fmt::format("ran for {} s (limit: SOFTTPU_LAUNCH_LIMIT or bm_set_sync_timeout) and was ended",
                       item.terms.limit_ms / 1000.0);
  }
  if (is_process && still_ms_ >= kSleepMs && item.terms.timeout_ms != 0) {
    // A look costs some system calls; what it finds is certain.
    if (const std::string verdict = sleep_.look(core); !verdict.empty()) return verdict + " and was ended";
  }
  return {};
}

}  // namespace softtpu
