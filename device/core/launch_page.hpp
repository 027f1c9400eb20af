// What the cores of one launch share: a page of shared memory with the state of each core, barriers, messages and
// locks. Each core is a process (or a thread) that changes it under the page's lock and sleeps on a word of its own.
//
// The page is enough to tell what a launch is in: when the last core that could still act goes to sleep, or ends, it
// sees that all others wait in vain. It also holds the launch's first failure: a core that fails, or sees another one
// fail, stores it here, and the others read it at their next call, or are woken. A kernel's wild write may have been
// here: numbers are checked before they are used as an index.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "device/isa/op.hpp"
#include "runtime/protocol/launch_position.hpp"

namespace softtpu {

// As many as a chip can have.
inline constexpr int kMostCores = 64;
inline constexpr int kMostMessages = 128;
// Sends that a wait, and waits that a send may name.
inline constexpr int kMostCount = 7;
// What tpu_next_msg_id gives first where a chip has several cores.
inline constexpr int kFirstMessage = 4;
inline constexpr int kMostLocks = 64;
// Waits of engines that a core can have at once.
inline constexpr int kMostWaits = 8;

// How a call that may wait has ended.
enum class WaitResult : std::uint8_t {
  kDone,
  kOver,        // the launch has failed elsewhere
  kDeadlocked,  // every core waits or has ended: no wait can end
};

struct MessageWait {
  int id = 0;
  int count = 0;  // of sends
};

class LaunchPage {
 public:
  enum class Phase : std::uint8_t { kToCome, kRuns, kWaits, kEnded };

  // A new launch of so many cores. The page is not in use yet.
  void reset(int cores, bool awaited);
  int cores() const { return cores_; }

  // ---- the cores' side; `core` counts within the launch ----

  // The core begins; start_barrier: not before all cores of the launch have come.
  WaitResult begin(int core, bool start_barrier);
  // True: it was the last one, and the launch is waited for.
  bool end(int core);

  // Waits until `count` cores have come to the barrier. `barrier` is one of those below, or a message id.
  WaitResult barrier(int core, Op op, int barrier, int count);
  // What is wrong with it, if anything.
  std::optional<std::string> send(int core, int id, int wait_count);
  bool has_come(const MessageWait& wait);
  // Until the message has come, which this wait then uses.
  WaitResult wait(int core, Op op, const MessageWait& wait);
  // Until one of them has come.
  WaitResult wait_for_any(int core, Op op, std::span<const MessageWait> waits);
  WaitResult acquire(int core, Op op, int lock);
  std::optional<std::string> release(int core, int lock);
  std::optional<std::string> check_wait(const MessageWait& wait);

  // From here on one core acts at a time, and the seed decides which is next: the same seed gives the same order.
  // Called by each core when all have begun.
  WaitResult interleave(int core, std::uint64_t seed);
  bool is_interleaved() const { return seed_.load(std::memory_order_relaxed) != 0; }
  // Whether a core has asked that they act one after the other, before they met.
  void ask_for_turns() { turns_asked_ = true; }
  bool asks_for_turns() const { return turns_asked_; }
  // The core has come to a call: maybe another one is next.
  WaitResult pass_turn(int core);

  // ---- for all cores ----

  // This core's failure is the launch's, unless there is one already. Wakes all who wait.
  void fail(int core);
  bool is_over() const { return over_.load(std::memory_order_relaxed) != 0; }
  // The core that failed first; nullopt: none, or a deadlock.
  std::optional<int> culprit() const;
  bool is_deadlocked() const { return over_ == kDeadlock; }
  Phase phase(int core) const { return states_[index(core, kMostCores)].phase; }
  // Cores that have not ended.
  int left() const { return left_; }
  // Another one for each launch on this page.
  std::uint32_t serial() const { return serial_; }
  // What the first of the launch's cores to ask has said; not 0.
  std::uint32_t agree(std::uint32_t proposal);
  // A message that was sent for more waits than have come.
  struct Unawaited {
    int wanted = 0, come = 0;
  };
  std::optional<Unawaited> find_unawaited(int message) const;
  // "waits in tpu_gdma_wait_msg for message 3 to be sent twice; it was sent once, by core 1"
  std::string wait_text(int core) const;

  static constexpr int kAllEngines = kMostMessages, kBdc = kAllEngines + 1, kGdma = kBdc + 1, kHau = kGdma + 1,
                       kSdma = kHau + 1, kStart = kSdma + 1, kBarriers = kStart + 1;

 private:
  static constexpr int kDeadlock = -1;
  enum class For : std::uint8_t { kNothing, kBarrier, kMessages, kLock };
  struct alignas(64) State {
    std::atomic<int> word{0};  // changes when the core may go on
    std::atomic<int> asleep{0};
    std::atomic<Phase> phase{Phase::kToCome};
    For waits_for = For::kNothing;
    std::uint8_t waits = 0;
    Op op{};
    int target = 0;  // barrier or lock
    std::uint32_t generation = 0;
    std::array<MessageWait, kMostWaits> messages{};
  };
  struct Barrier {
    std::uint64_t come = 0;  // cores, as bits
    std::uint32_t generation = 0;
    int count = 0;
  };
  struct Message {
    int sent = 0;
    int wait_count = 0;  // of each send: as many waits use the message up
    int waits_left = 0;
    int asked = 0;  // sends that the first wait has asked for; 0: no core has waited yet
    std::uint64_t senders = 0;
  };
  struct Lock {
    int owner = 0;  // core + 1; 0: free
  };
  class Holder;

  static std::size_t index(int number, int count) {
    return number >= 0 && number < count ? static_cast<std::size_t>(number) : 0;
  }
  bool is_satisfied(const State& state) const;
  bool nobody_can_act() const;
  WaitResult sleep(int core);
  template <class Try>
  WaitResult wait_until(int core, Try attempt);
  static void note_wait(State& state, Op op, std::span<const MessageWait> waits);
  void wake(int core);
  void wake_satisfied();
  void declare(int failure);
  void draw_turn();
  WaitResult await_turn(int core);
  std::string names_of(std::uint64_t cores) const;

  std::atomic<int> lock_{0};
  std::atomic<int> over_{0};  // 0; core + 1 of the culprit; kDeadlock
  std::atomic<int> left_{0};
  std::atomic<bool> turns_asked_{false};
  std::atomic<int> turn_{0};
  std::atomic<std::uint64_t> seed_{0};  // 0: all cores act as they like
  std::uint64_t drawn_ = 0;
  std::atomic<std::uint32_t> agreed_{0};
  int cores_ = 0;
  bool awaited_ = false;
  bool may_spin_ = false;
  int used_messages_ = kMostMessages, used_barriers_ = kBarriers;  // that reset() has to clear
  std::uint32_t serial_ = 0;
  std::array<State, kMostCores> states_{};
  std::array<Barrier, kBarriers> barriers_{};
  std::array<Message, kMostMessages> messages_{};
  std::array<Lock, kMostLocks> locks_{};
};

// The launch that a core runs.
struct RunningLaunch : LaunchPosition {
  int group = 0;               // of the position's groups
  LaunchPage* page = nullptr;  // null: the launch has one core
  int core = 0;                // this one, of the chip's; run() sets it
};

// On this thread; of a core alone where there is none.
const RunningLaunch& running_launch();
void set_running_launch(const RunningLaunch& launch);

}  // namespace softtpu
