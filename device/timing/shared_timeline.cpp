#include "device/timing/shared_timeline.hpp"

#include <algorithm>
#include <limits>

#include "device/core/own_messages.hpp"

namespace softtpu {
namespace {

// Keys of what one core alone sees: behind every network.
constexpr std::int64_t kOfCores = 1 << 20;

}  // namespace

bool SharedTimeline::Lane::at_ddr() const { return active && start_left <= 0 && rows[next].cost.ddr_bytes() > 0; }

std::size_t SharedTimeline::add_core(int network, double launch_us, Basis launch, double ddr_share) {
  networks_.push_back(network);
  for (std::size_t i = 0; i < kQueues; ++i) {
    Lane lane;
    lane.queue = static_cast<Queue>(i);
    lane.ddr_share = ddr_share;
    lane.at.add(Spent::kLaunch, launch_us, launch);
    lanes_.push_back(std::move(lane));
  }
  return networks_.size() - 1;
}

SharedTimeline::Key SharedTimeline::key_of(std::size_t core, int message) const {
  if (is_own_message(message)) return {kOfCores + static_cast<std::int64_t>(core), message};
  return {networks_[core], message};
}

void SharedTimeline::add(std::size_t core, Queue queue, const CommandCost& cost) {
  lane(core, queue).rows.push_back({Kind::kWork, cost, {}, 0});
}

void SharedTimeline::send(std::size_t core, Queue queue, int message, int count) {
  lane(core, queue).rows.push_back({Kind::kSend, {}, key_of(core, message), std::max(count, 1)});
}

void SharedTimeline::wait(std::size_t core, Queue queue, int message, int count) {
  lane(core, queue).rows.push_back({Kind::kWait, {}, key_of(core, message), std::max(count, 1)});
}

void SharedTimeline::join(std::size_t core) {
  const Key key{kOfCores + static_cast<std::int64_t>(core), --joins_};
  for (std::size_t i = 0; i < kQueues; ++i) {
    auto& rows = lane(core, static_cast<Queue>(i)).rows;
    rows.push_back({Kind::kSend, {}, key, static_cast<int>(kQueues)});
    rows.push_back({Kind::kWait, {}, key, static_cast<int>(kQueues)});
  }
}

// The next row of an idle engine; false: it has none, or has to wait.
bool SharedTimeline::step(Lane& lane, double now) {
  if (lane.active || lane.next == lane.rows.size()) return false;
  const Row& row = lane.rows[lane.next];
  switch (row.kind) {
    case Kind::kWork:
      lane.active = true;
      lane.start_left = std::max(0.0, lane.at.us - now) + row.cost.start_us;
      lane.work_left = row.cost.work_us;
      return true;
    case Kind::kSend: {
      Message& message = messages_[row.key];
      if (lane.at.us >= message.last.us) message.last = lane.at;
      if (++message.sent % row.count == 0) message.each.push_back(std::exchange(message.last, {}));
      break;
    }
    case Kind::kWait: {
      const Message& message = messages_[row.key];
      std::size_t& taken = lane.waits[row.key];
      if (taken == message.each.size()) return false;
      const Moment& sent = message.each[taken++];
      if (sent.us > lane.at.us) lane.at = sent;
      if (row.key.first < kOfCores) lane.at.add(Spent::kCores, message_us_, basis_);
      break;
    }
  }
  ++lane.next;
  return true;
}

bool SharedTimeline::start_all(double now) {
  bool any = false;
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane& each : lanes_) {
      while (step(each, now)) moved = true;
    }
  }
  for (const Lane& each : lanes_) any = any || each.active;
  return any;
}

// How fast those at DDR are while they share it.
double SharedTimeline::rate() const {
  double sum = 0;
  for (const Lane& each : lanes_) sum += each.at_ddr() ? each.ddr_share : 0;
  return sum > 1 ? 1 / sum : 1;
}

void SharedTimeline::finish(Lane& lane, double now) {
  const CommandCost& cost = lane.rows[lane.next].cost;
  lane.at.add(Spent::kStart, cost.start_us);
  lane.at.add(work_kind(lane.queue, cost), cost.work_us);
  for (std::size_t i = 0; i < kBases; ++i) lane.at.by_basis[i] += cost.by_basis[i];
  if (now > lane.at.us) lane.at.add(Spent::kCores, now - lane.at.us, basis_);
  lane.active = false;
  ++lane.next;
}

Result<std::vector<Moment>> SharedTimeline::run() {
  double now = 0;
  while (start_all(now)) {
    const double speed = rate();
    const auto left = [&](const Lane& each) {
      return each.start_left > 0 ? each.start_left : each.work_left / (each.at_ddr() ? speed : 1);
    };
    double least = std::numeric_limits<double>::infinity();
    for (const Lane& each : lanes_) least = each.active ? std::min(least, left(each)) : least;
    now += least;
    constexpr double kNothing = 1e-9;  // less than a cycle of any clock
    std::vector<Lane*> ended;
    for (Lane& each : lanes_) {
      if (!each.active) continue;
      const bool starting = each.start_left > 0;
      double& rest = starting ? each.start_left : each.work_left;
      rest -= least * (starting || !each.at_ddr() ? 1 : speed);
      if (rest > kNothing) continue;
      rest = 0;
      if (!starting || each.work_left <= 0) ended.push_back(&each);
    }
    for (Lane* each : ended) finish(*each, now);
  }
  std::vector<Moment> ends(networks_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& each = lanes_[i];
    if (each.next < each.rows.size())
      return Error{ErrorKind::kUsage, "engines of its cores wait for messages that are never sent"};
    Moment& end = ends[i / kQueues];
    if (each.at.us > end.us) end = each.at;
  }
  return ends;
}

}  // namespace softtpu
