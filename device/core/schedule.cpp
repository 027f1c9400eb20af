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
  auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& one) { return one.engine == engine; });
  if (queue == queues_.end()) queue = queues_.insert(queue, Queue{engine, {}, 0});
  queue->commands.push_back({op, command, capture_call_stack(), ++taken_});
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
  for (const Queue& queue : queues_) {
    if (queue.empty()) continue;
    if (!is_blocked(queue.front(), has_come)) return {};
    const auto& wait = std::get<ControlCmd>(queue.front().command);
    waits.push_back({wait.message, wait.count});
  }
  return waits;
}

std::vector<Schedule::EngineWait> Schedule::waits(const HasCome& has_come) const {
  std::vector<EngineWait> all;
  for (const Queue& queue : queues_) {
    if (queue.empty() || !is_blocked(queue.front(), has_come)) continue;
    const auto& wait = std::get<ControlCmd>(queue.front().command);
    // A wait for the other unit of the same core belongs to the instruction behind it.
    const auto named =
        std::find_if(queue.commands.begin() + static_cast<std::ptrdiff_t>(queue.done), queue.commands.end(),
                     [](const ScheduledCommand& one) { return !one.stack.step.empty(); });
    all.push_back({queue.engine,
                   {wait.message, wait.count},
                   named == queue.commands.end() ? std::string_view() : named->stack.step});
  }
  return all;
}

const ScheduledCommand* Schedule::next(const HasCome& has_come) {
  able_.clear();
  for (Queue& queue : queues_) {
    if (!queue.empty() && !is_blocked(queue.front(), has_come)) able_.push_back(&queue);
  }
  if (able_.empty()) {
    // All blocked: the wait that never ends becomes the launch's fault when it is executed.
    for (Queue& queue : queues_) {
      if (!queue.empty()) able_.push_back(&queue);
    }
  }
  if (able_.empty()) return nullptr;
  const auto issued_first = [](const Queue* a, const Queue* b) { return a->front().number < b->front().number; };
  Queue* chosen = able_.back();
  if (order_ == Order::kRandom) chosen = able_[random() % able_.size()];
  if (order_ == Order::kProgram) chosen = *std::min_element(able_.begin(), able_.end(), issued_first);
  return &chosen->commands[chosen->done++];
}

void Schedule::clear() { queues_.clear(); }

// splitmix64: the same numbers everywhere.
std::uint64_t Schedule::random() {
  std::uint64_t z = seed_ + ++drawn_ * 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

}  // namespace softtpu
