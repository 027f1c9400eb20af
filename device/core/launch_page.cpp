#include "device/core/launch_page.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <thread>

#include "runtime/base/processor_pause.hpp"

namespace softtpu {
namespace {

using Clock = std::chrono::steady_clock;

// A core that arrives within this time is seen without a sleep, where every core can have a processor.
constexpr std::chrono::nanoseconds kSpin{3000};
// A holder of the lock that was ended never gives it back; the launch is over then.
constexpr long kLockLookNs = 20'000'000;
// Nothing depends on it: a core that may go on is always woken.
constexpr long kSleepLookNs = 500'000'000;

// Between processes, unlike runtime/base/futex.hpp.
void sleep_on(const std::atomic<int>& word, int seen, long nanoseconds) {
  const timespec limit{0, nanoseconds};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}
void wake_all(const std::atomic<int>& word, int count = INT_MAX) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

// While ready() does not hold, for a moment. False: it still does not.
template <class Ready>
bool spin(Ready ready) {
  constexpr int kPauses = 16;
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < kPauses; ++i) {
      if (ready()) return true;
      pause_processor();
    }
  } while (Clock::now() < end);
  return false;
}

std::uint64_t bit(int core) { return 1ULL << (core & 63); }

std::string times(int count) {
  if (count == 1) return "once";
  return count == 2 ? "twice" : fmt::format("{} times", count);
}

}  // namespace

// The page's lock: 0 free, 1 held, 2 held, with sleeping waiters.
class LaunchPage::Holder {
 public:
  explicit Holder(LaunchPage& page) : page_(page) {
    int free = 0;
    if (page_.lock_.compare_exchange_strong(free, 1)) return;
    while (page_.lock_.exchange(2) != 0) {
      if (page_.is_over()) {
        // The holder may have ended; a waiter that goes on only reads what is final.
        held_ = false;
        return;
      }
      sleep_on(page_.lock_, 2, kLockLookNs);
    }
  }
  ~Holder() {
    if (held_ && page_.lock_.exchange(0) == 2) wake_all(page_.lock_, 1);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  LaunchPage& page_;
  bool held_ = true;
};

void LaunchPage::reset(int cores, bool awaited) {
  cores_ = std::clamp(cores, 1, kMostCores);
  left_ = cores_;
  over_ = 0;
  lock_ = 0;
  awaited_ = awaited;
  ++serial_;
  seed_ = 0;
  turns_asked_ = false;
  turn_ = 0;
  drawn_ = 0;
  agreed_ = 0;
  static const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  may_spin_ = static_cast<unsigned>(cores_) <= processors;
  for (int core = 0; core < cores_; ++core) {
    State& state = states_[index(core, kMostCores)];
    state.phase = Phase::kToCome;
    state.waits_for = For::kNothing;
    state.asleep = 0;
  }
  std::fill_n(barriers_.begin(), used_barriers_, Barrier());
  std::fill_n(messages_.begin(), used_messages_, Message());
  locks_.fill({});
  used_messages_ = 0;
  used_barriers_ = 0;
}

// ---- Waiting ----

bool LaunchPage::is_satisfied(const State& state) const {
  switch (state.waits_for) {
    case For::kNothing: return true;
    case For::kBarrier: return barriers_[index(state.target, kBarriers)].generation != state.generation;
    case For::kLock: return locks_[index(state.target, kMostLocks)].owner == 0;
    case For::kMessages: break;
  }
  const auto end = state.messages.begin() + std::min<int>(state.waits, kMostWaits);
  return std::any_of(state.messages.begin(), end, [this](const MessageWait& wait) {
    return messages_[index(wait.id, kMostMessages)].sent >= wait.count;
  });
}

// With the lock: every core has ended, or waits for what none of the others can bring about.
bool LaunchPage::nobody_can_act() const {
  bool waits = false;
  for (int core = 0; core < cores_; ++core) {
    const State& state = states_[index(core, kMostCores)];
    if (state.phase == Phase::kEnded) continue;
    if (state.phase != Phase::kWaits || is_satisfied(state)) return false;
    waits = true;
  }
  return waits;
}

void LaunchPage::wake(int core) {
  State& state = states_[index(core, kMostCores)];
  ++state.word;
  if (state.asleep.exchange(0) != 0) wake_all(state.word);
}

void LaunchPage::wake_satisfied() {
  for (int core = 0; core < cores_; ++core) {
    const State& state = states_[index(core, kMostCores)];
    if (state.phase == Phase::kWaits && is_satisfied(state)) wake(core);
  }
}

void LaunchPage::declare(int failure) {
  int none = 0;
  if (!over_.compare_exchange_strong(none, failure)) return;
  for (int core = 0; core < cores_; ++core) wake(core);
}

void LaunchPage::fail(int core) { declare(core + 1); }

std::optional<int> LaunchPage::culprit() const {
  const int over = over_;
  if (over < 1 || over > cores_) return std::nullopt;
  return over - 1;
}

// `attempt` has what it wants, with the lock, or has noted what the core waits for.
template <class Try>
WaitResult LaunchPage::wait_until(int core, Try attempt) {
  State& state = states_[index(core, kMostCores)];
  for (;;) {
    int seen = 0;
    {
      const Holder lock(*this);
      if (is_over()) return is_deadlocked() ? WaitResult::kDeadlocked : WaitResult::kOver;
      const bool turn = !is_interleaved() || turn_ == core;
      if (turn && attempt(state)) {
        state.phase = Phase::kRuns;
        state.waits_for = For::kNothing;
        return WaitResult::kDone;
      }
      state.phase = Phase::kWaits;
      seen = state.word;
      if (is_interleaved() && turn_ == core) draw_turn();
      if (nobody_can_act()) {
        declare(kDeadlock);
        return WaitResult::kDeadlocked;
      }
    }
    const auto changed = [&] { return state.word != seen || is_over(); };
    if (may_spin_ && spin(changed)) continue;
    state.asleep = 1;
    if (!changed()) sleep_on(state.word, seen, kSleepLookNs);
    state.asleep = 0;
  }
}

WaitResult LaunchPage::barrier(int core, Op op, int barrier, int count) {
  bool come = false;
  return wait_until(core, [&](State& state) {
    Barrier& place = barriers_[index(barrier, kBarriers)];
    if (come) return place.generation != state.generation;
    come = true;
    used_barriers_ = std::max(used_barriers_, barrier + 1);
    state.op = op;
    state.target = barrier;
    state.generation = place.generation;
    place.come |= bit(core);
    place.count = count;
    if (__builtin_popcountll(place.come) < count) {
      state.waits_for = For::kBarrier;
      return false;
    }
    place.come = 0;
    ++place.generation;
    wake_satisfied();
    return true;
  });
}

WaitResult LaunchPage::begin(int core, bool start_barrier) {
  if (start_barrier) return barrier(core, Op{}, kStart, cores_);
  const Holder lock(*this);
  if (is_over()) return WaitResult::kOver;
  states_[index(core, kMostCores)].phase = Phase::kRuns;
  return WaitResult::kDone;
}

bool LaunchPage::end(int core) {
  const Holder lock(*this);
  states_[index(core, kMostCores)].phase = Phase::kEnded;
  if (is_interleaved() && turn_ == core) draw_turn();
  if (!is_over() && nobody_can_act()) declare(kDeadlock);
  return --left_ == 0 && awaited_;
}

// ---- One after the other ----

WaitResult LaunchPage::interleave(int core, std::uint64_t seed) {
  const WaitResult met = barrier(core, Op{}, kStart, cores_);
  if (met != WaitResult::kDone) return met;
  seed_ = seed == 0 ? 1 : seed;
  return await_turn(core);
}

// With the lock: the next one of those that can act.
void LaunchPage::draw_turn() {
  std::array<int, kMostCores> able{};
  std::size_t count = 0;
  for (int core = 0; core < cores_; ++core) {
    const State& state = states_[index(core, kMostCores)];
    const bool acts = state.phase == Phase::kRuns || (state.phase == Phase::kWaits && is_satisfied(state));
    if (acts) able[count++] = core;
  }
  if (count == 0) return;
  // splitmix64: the same numbers everywhere.
  std::uint64_t z = seed_ + ++drawn_ * 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  turn_ = able[(z ^ z >> 31) % count];
  wake(turn_);
}

WaitResult LaunchPage::await_turn(int core) {
  State& state = states_[index(core, kMostCores)];
  for (;;) {
    const int seen = state.word;
    if (is_over()) return is_deadlocked() ? WaitResult::kDeadlocked : WaitResult::kOver;
    if (turn_ == core) return WaitResult::kDone;
    state.asleep = 1;
    if (state.word == seen && turn_ != core && !is_over()) sleep_on(state.word, seen, kSleepLookNs);
    state.asleep = 0;
  }
}

WaitResult LaunchPage::pass_turn(int core) {
  {
    const Holder lock(*this);
    if (turn_ == core) draw_turn();
  }
  return await_turn(core);
}

// ---- Messages ----

std::optional<std::string> LaunchPage::send(int core, int id, int wait_count) {
  const Holder lock(*this);
  if (is_over()) return std::nullopt;
  used_messages_ = std::max(used_messages_, id + 1);
  Message& message = messages_[index(id, kMostMessages)];
  if (message.sent > 0 && message.wait_count != wait_count) {
    return fmt::format("message {} is in use: it was sent for {} wait{}, and now for {}", id, message.wait_count,
                       message.wait_count == 1 ? "" : "s", wait_count);
  }
  if (message.asked > 0 && message.sent >= message.asked) {
    return fmt::format("message {} has been sent {}, as often as a wait asks for, and not all waits have seen it", id,
                       times(message.sent));
  }
  if (message.sent == 0) message.waits_left = message.wait_count = wait_count;
  ++message.sent;
  message.senders |= bit(core);
  wake_satisfied();
  return std::nullopt;
}

bool LaunchPage::has_come(const MessageWait& wait) {
  const Holder lock(*this);
  return messages_[index(wait.id, kMostMessages)].sent >= wait.count;
}

std::optional<std::string> LaunchPage::check_wait(const MessageWait& wait) {
  const Holder lock(*this);
  const Message& message = messages_[index(wait.id, kMostMessages)];
  if (message.sent <= wait.count) return std::nullopt;
  return fmt::format("message {} was sent {}, more often than this wait asks for ({})", wait.id, times(message.sent),
                     wait.count);
}

WaitResult LaunchPage::wait(int core, Op op, const MessageWait& wait) {
  return wait_until(core, [&](State& state) {
    used_messages_ = std::max(used_messages_, wait.id + 1);
    Message& message = messages_[index(wait.id, kMostMessages)];
    if (message.sent >= wait.count) {
      message.asked = wait.count;
      if (--message.waits_left <= 0) message = {};
      return true;
    }
    message.asked = wait.count;
    note_wait(state, op, std::span(&wait, 1));
    return false;
  });
}

WaitResult LaunchPage::wait_for_any(int core, Op op, std::span<const MessageWait> waits) {
  return wait_until(core, [&](State& state) {
    note_wait(state, op, waits);
    return is_satisfied(state);
  });
}

void LaunchPage::note_wait(State& state, Op op, std::span<const MessageWait> waits) {
  state.op = op;
  state.waits_for = For::kMessages;
  state.waits = static_cast<std::uint8_t>(std::min<std::size_t>(waits.size(), kMostWaits));
  std::copy_n(waits.begin(), state.waits, state.messages.begin());
}

// ---- Locks ----

WaitResult LaunchPage::acquire(int core, Op op, int lock) {
  return wait_until(core, [&](State& state) {
    Lock& wanted = locks_[index(lock, kMostLocks)];
    if (wanted.owner == 0) {
      wanted.owner = core + 1;
      return true;
    }
    state.op = op;
    state.waits_for = For::kLock;
    state.target = lock;
    return false;
  });
}

std::optional<std::string> LaunchPage::release(int core, int lock) {
  const Holder holder(*this);
  if (is_over()) return std::nullopt;
  Lock& held = locks_[index(lock, kMostLocks)];
  if (held.owner == 0) return fmt::format("lock {} is not held", lock);
  if (held.owner != core + 1) return fmt::format("lock {} is held by core {}", lock, held.owner - 1);
  held.owner = 0;
  wake_satisfied();
  return std::nullopt;
}

// ---- Texts ----

std::string LaunchPage::names_of(std::uint64_t cores) const {
  std::string text;
  for (int core = 0; core < cores_; ++core) {
    if ((cores & bit(core)) != 0) text += fmt::format("{}{}", text.empty() ? "core " : ", ", core);
  }
  return text;
}

std::uint32_t LaunchPage::agree(std::uint32_t proposal) {
  std::uint32_t said = 0;
  return agreed_.compare_exchange_strong(said, proposal) ? proposal : said;
}

std::optional<LaunchPage::Unawaited> LaunchPage::find_unawaited(int message) const {
  const Message& left = messages_[index(message, kMostMessages)];
  if (left.sent == 0 || left.waits_left <= 0) return std::nullopt;
  return Unawaited{left.wait_count, left.wait_count - left.waits_left};
}

std::string LaunchPage::wait_text(int core) const {
  const State& state = states_[index(core, kMostCores)];
  const auto known = static_cast<std::size_t>(state.op) < all_ops().size();
  const std::string where = known ? std::string(info(state.op).name) : "a call";
  if (state.waits_for == For::kBarrier) {
    const Barrier& barrier = barriers_[index(state.target, kBarriers)];
    const std::uint64_t all = cores_ >= 64 ? ~0ULL : (1ULL << cores_) - 1;
    const std::string here = names_of(barrier.come), missing = names_of(all & ~barrier.come);
    return fmt::format("waits in {}{}, where {} of {} cores have come ({}){}", where,
                       state.target < kMostMessages ? fmt::format(" for barrier {}", state.target) : "",
                       __builtin_popcountll(barrier.come), barrier.count, here,
                       missing.empty() ? "" : ", not " + missing);
  }
  if (state.waits_for == For::kLock) {
    const int owner = locks_[index(state.target, kMostLocks)].owner - 1;
    return fmt::format("waits in {} for lock {}, which core {} holds", where, state.target, owner);
  }
  std::string text = "waits in " + where;
  for (int i = 0; i < std::min<int>(state.waits, kMostWaits); ++i) {
    const MessageWait& wait = state.messages[index(i, kMostWaits)];
    const Message& message = messages_[index(wait.id, kMostMessages)];
    text += fmt::format("{} for message {} to be sent {}; ", i == 0 ? "" : ", and", wait.id, times(wait.count));
    text += message.sent == 0 ? "no core has sent it"
                              : fmt::format("it was sent {}, by {}", times(message.sent), names_of(message.senders));
  }
  return text;
}

namespace {
thread_local RunningLaunch launch_of_this_thread;
}

const RunningLaunch& running_launch() { return launch_of_this_thread; }
void set_running_launch(const RunningLaunch& launch) { launch_of_this_thread = launch; }

}  // namespace softtpu
