#include "device/timing/launch_clock.hpp"

#include <string_view>

#include "device/core/own_messages.hpp"
#include "device/isa/message_engine.hpp"

namespace softtpu {
namespace {

std::optional<Queue> queue_of(Engine engine) {
  switch (engine) {
    case Engine::kBdc: return Queue::kBdc;
    case Engine::kGdma: return Queue::kGdma;
    case Engine::kSdma: return Queue::kSdma;
    case Engine::kHau: return Queue::kHau;
    case Engine::kNone:
    case Engine::kControl: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Queue> queue_named_by(Op op) {
  const std::string_view name = info(op).name;
  const auto names = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (names("bdc")) return Queue::kBdc;
  if (names("gdma")) return Queue::kGdma;
  if (names("sdma")) return Queue::kSdma;
  if (names("hau")) return Queue::kHau;
  return std::nullopt;
}

double LaunchClock::begin(double now_us) {
  times_ = EngineTimes(model_->launch_us(), model_->section_us(), model_->launch_basis(), model_->issue_basis());
  ddr_us_ = waited_us_ = 0;
  return clocks_ ? clocks_->begin(running_launch(), now_us) : now_us;
}

bool LaunchClock::meets_others(const ControlCmd& control) const {
  return clocks_ && clocks_->has_others() && control.action == ControlAction::kSync && control.count != 0;
}

void LaunchClock::arrive(Op op, const ControlCmd& control) {
  if (meets_others(control)) {
    times_.wait_for_all();
    const int count = control.count == kAllCores ? running_launch().workitems : control.count;
    clocks_->arrive(control.message, count, times_.end().us, ddr_us_);
    if (count == running_launch().workitems) ddr_us_ = 0;
  } else if (clocks_ && clocks_->has_others() && !is_own_message(control.message) &&
             control.action == ControlAction::kSendMessage) {
    clocks_->send(control.message, times_.sent_us(queue_named_by(op).value_or(Queue::kBdc)));
  }
}

double LaunchClock::end() {
  const double us = times_.end().us;
  if (!clocks_ || !clocks_->has_others()) return us;
  return clocks_->end(us, ddr_us_);
}

std::optional<LaunchClock::Timed> LaunchClock::add(Op op, const Command& command) {
  if (const auto* control = std::get_if<ControlCmd>(&command)) {
    order(op, *control);
    return std::nullopt;
  }
  const auto queue = queue_of(info(op).engine);
  if (!queue) return std::nullopt;
  const CommandCost cost = model_->cost(op, command);
  if (cost.ddr_bytes() > 0) ddr_us_ += cost.work_us * model_->ddr_share();
  return Timed{cost, times_.add(*queue, cost)};
}

void LaunchClock::order(Op op, const ControlCmd& control) {
  const auto queue = queue_named_by(op);
  waited_us_ = 0;
  if (meets_others(control)) {
    waited_us_ = times_.barrier_at(clocks_->barrier(control.message));
    return;
  }
  if (clocks_ && clocks_->has_others() && !is_own_message(control.message) &&
      control.action == ControlAction::kWaitMessage) {
    return times_.receive_at(queue.value_or(Queue::kBdc), clocks_->received(control.message));
  }
  order_engines(times_, op, control);
}

void order_engines(EngineTimes& times, Op op, const ControlCmd& control) {
  const auto queue = queue_named_by(op);
  switch (control.action) {
    case ControlAction::kInitialize: return;
    case ControlAction::kPoll:
    case ControlAction::kHauPoll: return times.poll();
    case ControlAction::kParallelStart: return times.begin_section();
    case ControlAction::kParallelEnd: return times.end_section();
    case ControlAction::kSync:
      if (polled_engine(op) == Engine::kSdma) return times.poll(Queue::kSdma);
      return queue ? times.wait_for(*queue) : times.wait_for_all();
    case ControlAction::kSendMessage: return times.send(queue.value_or(Queue::kBdc), control.message);
    case ControlAction::kWaitMessage: return times.receive(queue.value_or(Queue::kBdc), control.message);
    case ControlAction::kAcquireLock:
    case ControlAction::kReleaseLock: return;
  }
}

}  // namespace softtpu
