#include "device/core/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/isa/message_engine.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
Result<std::unique_ptr<Schedule>> Schedule::parse(const std::string& text) {
  if (text == "program" || text.empty()) return std::unique_ptr<Schedule>();
  if (text == "late") return std::make_unique<Schedule>(Order::kLate);
  if (text.starts_with("random:")) {
    if (const auto seed = find_number(std::string_view(text).substr(7))) {
      return std::make_unique<Schedule>(Order::kRandom, *seed);
    }
  }
  return Error{ErrorKind::kUsage, fmt::format("\"{}\" is not one of program, late, random:NUMBER.", text)};
}

bool Schedule::take(Op op, const Command& command) {
  const bool control = std::holds_alternative<ControlCmd>(command);
  const Engine engine = control ? message_engine(op) : info(op).engine;
  if (engine == Engine::kControl || engine == Engine::kNone) return false;
  if (std::find(engines_.begin(), engines_.end(), engine) == engines_.end()) engines_.push_back(engine);
  queues_[engine].push_back({op, command, capture_call_stack(), ++taken_});
  return true;
}

// A wait whose message has not been sent often enough yet.
bool Schedule::is_blocked(const ScheduledCommand& command, const HasCome& has_come) {
  const auto* control = std::get_if<ControlCmd>(&command.command);
  return control != nullptr && control->action == ControlAction::kWaitMessage &&
         !has_come({control->message, control->count});
}

std::vector<MessageWait> Schedule::blocked_by(const HasCome& has_come) const {
  std::vector<MessageWait> waits;
  for (const Engine engine : engines_) {
    const auto& queue = queues_.at(engine);
    if (queue.empty()) continue;
    if (!is_blocked(queue.front(), has_come)) return {};
    const auto& wait = std::get<ControlCmd>(queue.front().command);
    waits.push_back({wait.message, wait.count});
  }
  return waits;
}

std::optional<ScheduledCommand> Schedule::next(const HasCome& has_come) {
  std::deque<Engine> able, busy;
  for (const Engine engine : engines_) {
    if (queues_[engine].empty()) continue;
    busy.push_back(engine);
    if (!is_blocked(queues_[engine].front(), has_come)) able.push_back(engine);
  }
  if (busy.empty()) return std::nullopt;
  // All blocked: the wait that never ends becomes the launch's fault when it is executed.
  if (able.empty()) able = busy;
  const auto issued_first = [this](Engine a, Engine b) {
    return queues_[a].front().number < queues_[b].front().number;
  };
  Engine chosen = able.back();
  if (order_ == Order::kRandom) chosen = able[random() % able.size()];
  if (order_ == Order::kProgram) chosen = *std::min_element(able.begin(), able.end(), issued_first);
  ScheduledCommand command = std::move(queues_[chosen].front());
  queues_[chosen].pop_front();
  return command;
}

void Schedule::clear() {
  engines_.clear();
  queues_.clear();
}

// splitmix64: the same numbers everywhere.
std::uint64_t Schedule::random() {
  std::uint64_t z = seed_ + ++drawn_ * 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

}  // namespace softtpu
