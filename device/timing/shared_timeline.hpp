// Several cores on one timeline: each works through its own streams, they wait for each other's messages and share DDR.
// The commands are known beforehand, as those of compiled networks are, so that the time goes from event to event.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "device/timing/engine_times.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

class SharedTimeline {
 public:
  // What passing a message between cores costs, and what that and the wait for shared DDR rest on.
  explicit SharedTimeline(double message_us = 0, Basis basis = Basis::kGuess)
      : message_us_(message_us), basis_(basis) {}

  // A core that begins with a launch. Cores of one network send each other messages; `ddr_share` is the part of its
  // time at DDR for which a core keeps it busy (CostModel::ddr_share).
  std::size_t add_core(int network, double launch_us, Basis launch, double ddr_share);

  void add(std::size_t core, Queue queue, const CommandCost& cost);
  // A message that `count` have to send before those that wait go on. Those of one core (own_messages.hpp) cost
  // nothing.
  void send(std::size_t core, Queue queue, int message, int count);
  void wait(std::size_t core, Queue queue, int message, int count);
  // Every engine of the core waits for all others of it.
  void join(std::size_t core);

  // When each core ends. Fails when cores wait for messages that are never sent.
  Result<std::vector<Moment>> run();

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // the network or core, the message
  enum class Kind : std::uint8_t { kWork, kSend, kWait };
  struct Row {
    Kind kind = Kind::kWork;
    CommandCost cost;
    Key key;
    int count = 0;
  };
  struct Lane {
    Queue queue = Queue::kBdc;
    double ddr_share = 0;
    std::vector<Row> rows;
    std::size_t next = 0;
    Moment at;  // the end of its last command, or of what it has waited for
    bool active = false;
    double start_left = 0, work_left = 0;
    std::map<Key, std::size_t> waits;  // how many of the message it has taken
    bool at_ddr() const;
  };
  struct Message {
    int sent = 0;
    Moment last;               // of those that are sent since it was complete
    std::vector<Moment> each;  // when it was complete
  };

  Key key_of(std::size_t core, int message) const;
  Lane& lane(std::size_t core, Queue queue) { return lanes_[core * kQueues + static_cast<std::size_t>(queue)]; }
  bool step(Lane& lane, double now);
  bool start_all(double now);
  double rate() const;
  void finish(Lane& lane, double now);

  double message_us_;
  Basis basis_;
  std::vector<int> networks_;  // of each core
  std::vector<Lane> lanes_;    // kQueues of each core
  std::map<Key, Message> messages_;
  std::int64_t joins_ = 0;
};

}  // namespace softtpu
