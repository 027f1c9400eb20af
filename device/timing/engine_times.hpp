// When each command would start and end: engines work through their commands in order, the control processor issues
// them one by one, and parallel sections let the engines run apart.
//
// A command starts when it has been issued, when its engine is free, and, outside a parallel section, when every engine
// is. Every point in time carries what the time before it was spent on along the chain of commands that determined it,
// so that the end of a launch says what bounds it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "device/isa/op.hpp"
#include "device/timing/command_cost.hpp"

namespace softtpu {

enum class Spent : std::uint8_t { kLaunch, kIssue, kStart, kBdc, kDdr, kOnChip, kHau, kSection, kCores, kCount };
constexpr std::size_t kSpentKinds = static_cast<std::size_t>(Spent::kCount);
std::string_view to_text(Spent what);   // in records and JSON
std::string_view to_words(Spent what);  // for people

struct Moment {
  double us = 0;
  std::array<double, kSpentKinds> spent{};
  ByBasis by_basis{};  // the same time, by what it rests on; waits for other cores are left out
  void add(Spent what, double more) {
    us += more;
    spent[static_cast<std::size_t>(what)] += more;
  }
  void add(Spent what, double more, Basis basis) {
    add(what, more);
    by_basis[static_cast<std::size_t>(basis)] += more;
  }
};

// The engines with a queue of their own.
enum class Queue : std::uint8_t { kBdc, kGdma, kSdma, kHau, kCount };
constexpr std::size_t kQueues = static_cast<std::size_t>(Queue::kCount);
std::string_view to_text(Queue queue);
// What the work of a command counts as.
Spent work_kind(Queue queue, const CommandCost& cost);

// What an engine that could have worked waited for.
enum class WaitFor : std::uint8_t { kNothing, kIssue, kBdc, kGdma, kSdma, kHau, kSectionEnd, kMessage, kCores, kCount };
constexpr std::size_t kWaitKinds = static_cast<std::size_t>(WaitFor::kCount);
std::string_view to_text(WaitFor what);

struct EngineSlot {
  Queue queue = Queue::kBdc;
  double issued_us = 0, start_us = 0, end_us = 0;
  double waited_us = 0;  // the engine was idle for so long before the command
  WaitFor waited_for = WaitFor::kNothing;
};

class EngineTimes {
 public:
  // `section_us`: what joining the engines at the end of a parallel section costs.
  EngineTimes(double launch_us, double section_us, Basis launch = Basis::kGuess, Basis issue = Basis::kGuess);

  EngineSlot add(Queue queue, const CommandCost& cost);
  void begin_section();
  void end_section();
  void wait_for(Queue queue);  // everything after it, inside or outside a section
  void wait_for_all();
  void poll();  // the control processor waits for all engines
  void poll(Queue queue);
  void send(Queue queue, int message);
  void receive(Queue queue, int message);
  // The same from and to other cores. How long the engine, or all of them, wait.
  double sent_us(Queue queue) const { return lane(queue).end.us; }
  void receive_at(Queue queue, double us);
  double barrier_at(double us);

  // The end of everything so far.
  const Moment& end() const;
  double busy_us(Queue queue) const { return lane(queue).busy_us; }
  double waited_us(Queue queue, WaitFor what) const { return lane(queue).waited_us[static_cast<std::size_t>(what)]; }
  double issue_us() const { return issue_us_; }

 private:
  struct Lane {
    Moment end;    // of its last command
    Moment floor;  // a message it has waited for
    bool in_section = false;
    double busy_us = 0;
    std::array<double, kWaitKinds> waited_us{};
  };
  Lane& lane(Queue queue) { return lanes_[static_cast<std::size_t>(queue)]; }
  const Lane& lane(Queue queue) const { return lanes_[static_cast<std::size_t>(queue)]; }

  std::array<Lane, kQueues> lanes_;
  std::map<int, Moment> messages_;
  Moment control_;  // how far the control processor is
  Moment gate_;     // no command starts before this
  WaitFor gate_reason_ = WaitFor::kNothing;
  double section_us_ = 0, issue_us_ = 0;
  Basis issue_basis_ = Basis::kGuess;
  bool open_ = false;
};

}  // namespace softtpu
