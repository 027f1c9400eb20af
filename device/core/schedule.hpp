// Another legal order for the commands of a parallel section. Each engine works in its own order; messages between
// engines are respected; everything else is free on the chip.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/core/call_site.hpp"
#include "device/core/core.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

struct ScheduledCommand {
  Op op{};
  Command command;
  CallStack stack;
  std::uint64_t number = 0;  // in the order of the calls
};

class Schedule {
 public:
  // kProgram: as they were issued, but for those behind a message that has not come.
  // kLate: the engine whose first command was issued first does its work last.
  enum class Order : std::uint8_t { kProgram, kLate, kRandom };
  explicit Schedule(Order order, std::uint64_t seed = 0) : order_(order), seed_(seed) {}

  // "program" (nullptr), "late" or "random:SEED".
  static Result<std::unique_ptr<Schedule>> parse(const std::string& text);

  // Keeps a command of an open section until next() gives it. False: it waits for the engines, or is no engine's.
  bool take(Op op, const Command& command);
  // The next command to execute, until others are taken; nullptr: none is left. `has_come` answers for messages.
  using HasCome = std::function<bool(const MessageWait&)>;
  const ScheduledCommand* next(const HasCome& has_come);
  // The messages that all engines with work wait for; empty: one can go on, or none has work.
  std::vector<MessageWait> blocked_by(const HasCome& has_come) const;
  // What each engine with work waits for now, where that is a message.
  struct EngineWait {
    Engine engine = Engine::kNone;
    MessageWait message;
    std::string_view instruction;  // that waits; empty: a call
  };
  std::vector<EngineWait> waits(const HasCome& has_come) const;
  void clear();

 private:
  // What one engine has still to do.
  struct Queue {
    Engine engine{};
    std::vector<ScheduledCommand> commands;
    std::size_t done = 0;

    bool empty() const { return done == commands.size(); }
    const ScheduledCommand& front() const { return commands[done]; }
  };
  static bool is_blocked(const ScheduledCommand& command, const HasCome& has_come);
  std::uint64_t random();

  const Order order_;
  const std::uint64_t seed_;
  std::uint64_t drawn_ = 0, taken_ = 0;
  std::vector<Queue> queues_;  // in the order of their first commands
  std::vector<Queue*> able_;   // of next(), which allocates nothing
};

}  // namespace softtpu
