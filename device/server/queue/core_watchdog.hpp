// CoreWatchdog: sees that a core hangs. From time to time it gets what the core's status page says, keeps count of
// how long nothing has changed, and judges what the core works on. It ends nothing itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "device/server/core_process/sleep_check.hpp"
#include "device/server/queue/core_items.hpp"

namespace softtpu {

class EventLoop;

class CoreWatchdog {
 public:
  // `look` is called a moment after each begin().
  CoreWatchdog(EventLoop& loop, std::function<void()> look) : loop_(loop), look_(std::move(look)) {}

  // There is work: looks once more, unless that is going to happen anyway.
  void begin();

  struct Sight {
    bool is_readable = true;     // the status page is undamaged
    std::uint64_t running = 0;   // the item's number; 0: none
    std::uint64_t commands = 0;  // given in all
    std::uint64_t front = 0;     // the oldest item without an answer
  };
  // What one look has seen; there will be another.
  void note(const Sight& sight);
  // The core runs nothing, and has not begun with the oldest item for so long.
  bool is_idle_for(std::uint32_t limit_ms) const;
  // Why the item has to be ended, as the end of a sentence; empty: it need not. After note(). `core`: the process, 0
  // for a thread, which is judged by its time limits alone.
  std::string judge(const CoreItem& item, pid_t core);

 private:
  EventLoop& loop_;
  const std::function<void()> look_;
  bool watching_ = false;
  SleepCheck sleep_;
  bool same_item_ = false;  // as in the look before
  std::uint64_t seen_running_ = 0, seen_commands_ = 0, seen_front_ = 0;
  std::uint64_t still_ms_ = 0;  // without a command
  std::uint64_t ran_ms_ = 0;    // the running item in all
  std::uint64_t over_ms_ = 0;   // since another core of its launch failed
  std::uint64_t idle_ms_ = 0;   // the core has not begun with the oldest item
};

}  // namespace softtpu
