#include "device/observe/launch_clock.hpp"

#include <string_view>

namespace softtpu {
namespace {

std::optional<Queue> queue_of(Engine engine) {
  switch (engine) {
    case Engine::kBdc: return Queue::kBdc;
    case Engine::kGdma: return Queue::kGdma;
    case Engine::kHau: return Queue::kHau;
    case Engine::kNone:
    case Engine::kControl: return std::nullopt;
  }
  return std::nullopt;
}

// The engine that a synchronisation function names ("tpu_sync_all_bdc", "tpu_gdma_wait_msg"); none: all engines.
std::optional<Queue> queue_named_by(Op op) {
  const std::string_view name = info(op).name;
  const auto names = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (names("bdc")) return Queue::kBdc;
  if (names("gdma")) return Queue::kGdma;
  if (names("hau")) return Queue::kHau;
  return std::nullopt;
}

}  // namespace

std::optional<LaunchClock::Timed> LaunchClock::add(Op op, const Command& command) {
  if (const auto* control = std::get_if<ControlCmd>(&command)) {
    order(op, *control);
    return std::nullopt;
  }
  const auto queue = queue_of(info(op).engine);
  if (!queue) return std::nullopt;
  const CommandCost cost = model_->cost(op, command);
  return Timed{cost, schedule_.add(*queue, cost)};
}

void LaunchClock::order(Op op, const ControlCmd& control) {
  const auto queue = queue_named_by(op);
  switch (control.action) {
    case ControlAction::kInitialize: return;
    case ControlAction::kPoll:
    case ControlAction::kHauPoll: return schedule_.poll();
    case ControlAction::kParallelStart: return schedule_.begin_section();
    case ControlAction::kParallelEnd: return schedule_.end_section();
    case ControlAction::kSync: return queue ? schedule_.wait_for(*queue) : schedule_.wait_for_all();
    case ControlAction::kSendMessage: return schedule_.send(queue.value_or(Queue::kBdc), control.message);
    case ControlAction::kWaitMessage: return schedule_.receive(queue.value_or(Queue::kBdc), control.message);
    case ControlAction::kAcquireLock:
    case ControlAction::kReleaseLock: return;
  }
}

}  // namespace softtpu
