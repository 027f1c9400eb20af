#include "device/timing/engine_times.hpp"

#include <algorithm>

#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

WaitFor wait_for_queue(Queue queue) {
  switch (queue) {
    case Queue::kBdc: return WaitFor::kBdc;
    case Queue::kGdma: return WaitFor::kGdma;
    case Queue::kSdma: return WaitFor::kSdma;
    case Queue::kHau: return WaitFor::kHau;
    case Queue::kCount: break;
  }
  unreachable(queue);
}

}  // namespace

Spent work_kind(Queue queue, const CommandCost& cost) {
  switch (queue) {
    case Queue::kBdc: return Spent::kBdc;
    case Queue::kSdma:
    case Queue::kGdma: return cost.ddr_bytes() > 0 ? Spent::kDdr : Spent::kOnChip;
    case Queue::kHau: return Spent::kHau;
    case Queue::kCount: break;
  }
  unreachable(queue);
}

std::string_view to_text(Spent what) {
  switch (what) {
    case Spent::kLaunch: return "launch";
    case Spent::kIssue: return "issue";
    case Spent::kStart: return "command start-up";
    case Spent::kBdc: return "BDC";
    case Spent::kDdr: return "DDR";
    case Spent::kOnChip: return "GDMA on chip";
    case Spent::kHau: return "HAU";
    case Spent::kSection: return "section ends";
    case Spent::kCores: return "other cores";
    case Spent::kCount: break;
  }
  unreachable(what);
}

std::string_view to_words(Spent what) {
  switch (what) {
    case Spent::kLaunch: return "fixed launch cost";
    case Spent::kIssue: return "issuing commands";
    case Spent::kStart: return "start of each command";
    default: return to_text(what);
  }
}

std::string_view to_text(Queue queue) {
  switch (queue) {
    case Queue::kBdc: return "BDC";
    case Queue::kGdma: return "GDMA";
    case Queue::kSdma: return "SDMA";
    case Queue::kHau: return "HAU";
    case Queue::kCount: break;
  }
  unreachable(queue);
}

std::string_view to_text(WaitFor what) {
  switch (what) {
    case WaitFor::kNothing: return "nothing";
    case WaitFor::kIssue: return "commands to be issued";
    case WaitFor::kBdc: return "BDC";
    case WaitFor::kGdma: return "GDMA";
    case WaitFor::kSdma: return "SDMA";
    case WaitFor::kHau: return "HAU";
    case WaitFor::kSectionEnd: return "the end of a parallel section";
    case WaitFor::kMessage: return "a message";
    case WaitFor::kCores: return "other cores";
    case WaitFor::kCount: break;
  }
  unreachable(what);
}

EngineTimes::EngineTimes(double launch_us, double section_us, Basis launch, Basis issue)
    : section_us_(section_us), issue_basis_(issue) {
  control_.add(Spent::kLaunch, launch_us, launch);
  gate_ = control_;
  for (Lane& each : lanes_) each.end = control_;
}

EngineSlot EngineTimes::add(Queue queue, const CommandCost& cost) {
  Lane& own = lane(queue);
  control_.add(Spent::kIssue, cost.issue_us, issue_basis_);
  issue_us_ += cost.issue_us;
  EngineSlot placed;
  placed.queue = queue;
  placed.issued_us = control_.us;
  // The own engine first, so that it is named when several end together.
  const Moment* start = &own.end;
  const auto later = [&](const Moment& moment, WaitFor reason) {
    if (moment.us <= start->us) return;
    start = &moment;
    placed.waited_for = reason;
  };
  later(own.floor, WaitFor::kMessage);
  later(gate_, gate_reason_);
  later(control_, WaitFor::kIssue);
  placed.start_us = start->us;
  placed.waited_us = start->us - own.end.us;
  own.waited_us[static_cast<std::size_t>(placed.waited_for)] += placed.waited_us;
  Moment end = *start;
  end.add(Spent::kStart, cost.start_us);
  end.add(work_kind(queue, cost), cost.work_us);
  for (std::size_t i = 0; i < kBases; ++i) end.by_basis[i] += cost.by_basis[i];
  own.end = end;
  own.busy_us += cost.engine_us();
  own.in_section = true;
  placed.end_us = end.us;
  if (!open_) wait_for(queue);
  return placed;
}

void EngineTimes::begin_section() {
  wait_for_all();
  for (Lane& each : lanes_) each.in_section = false;
  open_ = true;
}

void EngineTimes::end_section() {
  open_ = false;
  wait_for_all();
  const auto used = std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& each) { return each.in_section; });
  if (used > 1) gate_.add(Spent::kSection, section_us_, Basis::kGuess);
  gate_reason_ = WaitFor::kSectionEnd;
}

void EngineTimes::wait_for(Queue queue) {
  if (lane(queue).end.us <= gate_.us) return;
  gate_ = lane(queue).end;
  gate_reason_ = wait_for_queue(queue);
}

void EngineTimes::wait_for_all() {
  for (std::size_t i = 0; i < kQueues; ++i) wait_for(static_cast<Queue>(i));
}

void EngineTimes::poll() {
  const Moment& now = end();
  if (now.us > control_.us) control_ = now;
}

void EngineTimes::poll(Queue queue) {
  if (lane(queue).end.us > control_.us) control_ = lane(queue).end;
}

void EngineTimes::send(Queue queue, int message) { messages_[message] = lane(queue).end; }

void EngineTimes::receive(Queue queue, int message) {
  const auto sent = messages_.find(message);
  if (sent != messages_.end() && sent->second.us > lane(queue).floor.us) lane(queue).floor = sent->second;
}

void EngineTimes::receive_at(Queue queue, double us) {
  Lane& own = lane(queue);
  Moment from = own.floor.us > own.end.us ? own.floor : own.end;
  if (us <= from.us) return;
  from.add(Spent::kCores, us - from.us);
  own.floor = from;
}

double EngineTimes::barrier_at(double us) {
  wait_for_all();
  gate_ = end();
  const double waited = us - gate_.us;
  if (waited <= 0) return 0;
  gate_.add(Spent::kCores, waited);
  gate_reason_ = WaitFor::kCores;
  return waited;
}

const Moment& EngineTimes::end() const {
  const Moment* last = &control_;
  if (gate_.us > last->us) last = &gate_;
  for (const Lane& each : lanes_) {
    if (each.end.us > last->us) last = &each.end;
  }
  return *last;
}

}  // namespace softtpu
