// One core of the device: runs a kernel on the calling thread and carries out the commands it issues, in program order.
//
// A violated rule is a sticky fault: the first message is kept, later commands of the launch do nothing, the launch
// fails with the text. No exception crosses the kernel's frames.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/command/functions.hpp"
#include "device/core/command_ring.hpp"
#include "device/core/lane_chain.hpp"
#include "device/core/launch_outcome.hpp"
#include "device/core/launch_page.hpp"
#include "device/core/observer.hpp"
#include "device/engines/command.hpp"
#include "device/numeric/float_unit.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

class Schedule;

using KernelFunction = void (*)(const void*);

// Numbers of commands that the engines were given (tpu_get_id_node: numerics bm1684x-dma-hau-gather.md section 7).
struct IdNode {
  std::uint32_t bdc = 0;
  std::uint32_t gdma = 0;
  bool parallel = false;
};

// A message between engines: how often it was sent, and how many waits have yet to see it.
struct MessageCount {
  int sent = 0;
  int waits_left = 0;
};

// What the core keeps between commands of a launch besides memory.
// Bytes of a system memory that commands may not read or write.
struct GuardedRange {
  std::uint64_t begin = 0, end = 0;
  bool no_reads = false, no_writes = false;
};

// What a kernel has put on the record of memory, or taken off it.
struct MemoryRecord {
  std::uint64_t begin = 0, end = 0, info = 0;
  bool deleted = false;
};

struct CoreState {
  IdNode id;
  IdNode parallel_bdc, parallel_gdma;  // the engines' own counts inside a parallel section
  bool check_id = true;
  std::uint32_t filter_num = 0;  // results of the last mask_select or nonzero
  int base_message = 0;          // messages are numbered from here
  int messages_taken = 0;        // by tpu_next_msg_id
  // By tpu_bd_set_random_gen_seed.
  std::optional<std::uint64_t> random_seed;
  std::map<int, MessageCount> messages;
  std::map<int, GuardedRange> guards;  // tpu_set_mem_guard, by number
  std::vector<MemoryRecord> records;   // tpu_mem_record_add and _del, in the order of the calls
};

class Core {
 public:
  Core(Memories& memories, int index);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The core whose kernel runs on this thread; nullptr outside a launch.
  static Core* current();

  // The launch of the next run(). Stays until another one is set.
  void set_launch(const RunningLaunch& launch) { launch_ = launch; }
  const RunningLaunch& launch() const { return launch_; }

  // Runs one kernel to its end. `args` is the kernel's own copy; `bytes` of it are what a second parameter gets.
  LaunchOutcome run(KernelFunction function, const std::string& kernel, const void* args, std::size_t bytes = 0);

  // Validates, shows to the observers and executes one command. Does nothing after a fault.
  template <class Cmd>
  auto submit(Op op, const Cmd& cmd) -> decltype(execute(std::declval<Memories&>(), cmd));
  void submit(Op op, const ControlCmd& cmd);
  // Validates one command without executing it; a violation is the launch's fault.
  template <class Cmd>
  bool accepts(Op op, const Cmd& cmd);

  // Between begin_chain() and end_chain(), element-wise commands are batched and carried out lane by lane. Disabled
  // when observers or a schedule are active. Only for code that reads no memory of the device in between.
  void begin_chain();
  void end_chain();

  // The function that the kernel called, while that issues the commands of others (CompositeScope).
  std::optional<Op> composite() const { return composite_; }
  void set_composite(std::optional<Op> function) { composite_ = function; }

  // Records the launch's first fault. `sentence` is used as it is, for faults that no API function caused.
  void fault(ErrorKind kind, const std::string& sentence);
  // Of a function, or of one of its commands.
  void fault(ErrorKind kind, const Refusal& refusal, const Command* command = nullptr);
  bool faulted() const { return !outcome_.ok; }
  // Ends the launch at once, from inside the kernel.
  [[noreturn]] void end_launch();
  // A failed assertion of the kernel: ends the launch with the text, or the program where kernels run inside it.
  [[noreturn]] void fail_assertion(const std::string& text);
  void exit_on_assertion(bool on) { exit_on_assertion_ = on; }

  // Keeps the last commands and their number where a watcher outside this thread sees them, for example the server,
  // which ends a kernel that issues none and explains how one ended.
  void set_ring(CommandRing& ring) { ring_ = &ring; }
  void add_observer(std::shared_ptr<Observer> observer) { observers_.push_back(std::move(observer)); }
  // Whether observers see what happens; they do from the start.
  void observe(bool on) { observing_ = on; }
  // The order in which commands of a parallel section are executed; nullptr: program order.
  void set_schedule(std::unique_ptr<Schedule> schedule);
  // The kernel asks whether it may read, or else write, a tensor in system memory: observers know.
  void ask(Op op, const Tensor& tensor, bool reads);
  // The kernel's own code gets a pointer to device memory (unified local address, or one of the system map).
  void note_pointer(Op op, Space space, std::uint64_t address);

  // Why the chip refuses a function whatever its arguments, as a sentence without the function; nullptr where it does
  // not.
  const std::string* refusal_of(Op op) const {
    const std::string& refusal = refusals_[static_cast<std::size_t>(op)];
    return refusal.empty() ? nullptr : &refusal;
  }

  Memories& memories() { return memories_; }
  const Chip& chip() const { return memories_.chip(); }
  int index() const { return index_; }
  CoreState& state() { return state_; }
  const std::string& kernel() const { return kernel_; }
  KernelFunction entry() const { return entry_; }

 private:
  void control(Op op, const ControlCmd& cmd);
  void wait_message(Op op, const ControlCmd& cmd);
  bool waits_in_vain(const ControlCmd& cmd) const;
  void barrier(Op op, const ControlCmd& cmd);
  void go_on_after(WaitResult meeting);
  bool has_been_stopped();
  void count(Engine engine);
  template <class Cmd>
  void count_command(Op op, const Cmd& cmd) {
    ++outcome_.commands;
    ring_->put(op, composite_, cmd);
  }
  bool defer(Op op, const Command& command);
  void drain();
  template <class Cmd>
  void execute_deferred(Op op, const Cmd& cmd);
  void observe_before(Op op, const Command& command);
  void observe_after(Op op, const Command& command);
  bool refuse(const Refusal& refusal, const Command& command);
  void keep_fault(ErrorKind kind, std::string text);
  bool breaks_guard(Op op, const Command& command);

  Memories& memories_;
  int index_;
  std::vector<std::string> refusals_;  // by function; empty: the chip does not refuse it
  std::string kernel_;
  KernelFunction entry_ = nullptr;
  CoreState state_;
  LaunchOutcome outcome_;
  std::vector<std::shared_ptr<Observer>> observers_;
  std::vector<Observer*> observed_by_;  // of this launch
  std::unique_ptr<Schedule> schedule_;
  LaneChain chain_;
  bool chaining_ = false;
  std::optional<Op> composite_;
  bool observing_ = true;
  bool exit_on_assertion_ = false;
  std::jmp_buf end_;
  CommandRing own_ring_;
  CommandRing* ring_ = &own_ring_;  // written by this thread only
  RunningLaunch launch_;
  bool section_schedule_ = false;  // schedule_ is of this section only
};

// The commands of a scope as a chain.
class ChainScope {
 public:
  explicit ChainScope(Core& core) : core_(core) { core_.begin_chain(); }
  ~ChainScope() { core_.end_chain(); }
  ChainScope(const ChainScope&) = delete;
  ChainScope& operator=(const ChainScope&) = delete;

 private:
  Core& core_;
};

template <class Cmd>
auto Core::submit(Op op, const Cmd& cmd) -> decltype(execute(std::declval<Memories&>(), cmd)) {
  using Answer = decltype(execute(memories_, cmd));
  if (faulted() || (launch_.page != nullptr && has_been_stopped())) return Answer();
  count_command(op, cmd);
  if (chaining_ && LaneChain::rules_read(cmd)) chain_.run(memories_);
  if (const Violation broken = violation(memories_, op, cmd)) {
    refuse(*broken, cmd);
    return Answer();
  }
  if (!state_.guards.empty() && breaks_guard(op, cmd)) return Answer();
  count(info(op).engine);
  if (schedule_ != nullptr) {
    if constexpr (std::is_void_v<Answer>) {
      if (defer(op, cmd)) return;
    } else {
      drain();  // the kernel waits for the answer
    }
  }
  if constexpr (LaneChain::kTakes<Cmd>) {
    if (chaining_) return chain_.add(memories_, cmd);
  }
  if (!observed_by_.empty()) observe_before(op, cmd);
  const FpuScope modes;
  if constexpr (std::is_void_v<Answer>) {
    execute(memories_, cmd);
    if (!observed_by_.empty()) observe_after(op, cmd);
  } else {
    Answer answer = execute(memories_, cmd);
    if (!observed_by_.empty()) observe_after(op, cmd);
    return answer;
  }
}

template <class Cmd>
bool Core::accepts(Op op, const Cmd& cmd) {
  if (faulted()) return false;
  const Violation broken = violation(memories_, op, cmd);
  return !broken || !refuse(*broken, cmd);
}

}  // namespace softtpu
