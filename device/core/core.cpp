#include "device/core/core.hpp"

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "device/chip/rules.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/core/call_site.hpp"
#include "device/core/execution.hpp"
#include "device/core/own_messages.hpp"
#include "device/core/processor_state.hpp"
#include "device/core/schedule.hpp"
#include "device/core/stack_paint.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/kernel_choice.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unreachable.hpp"
#include "runtime/report/fault_location.hpp"

namespace softtpu {
namespace {

// Whether a tensor in system memory has a byte in [begin, end).
bool touches(const Tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  if (tensor.space != Space::kSystem) return false;
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  const bool rows_are_whole = stride.w == 1;
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < (rows_are_whole ? 1 : shape.w); ++w) {
          const auto at = static_cast<std::uint64_t>(n * stride.n + c * stride.c + h * stride.h + w * stride.w) * size;
          const std::uint64_t first = tensor.addr + at;
          const std::uint64_t bytes = rows_are_whole ? static_cast<std::uint64_t>(shape.w) * size : size;
          if (first < end && begin < first + bytes) return true;
        }
      }
    }
  }
  return false;
}

// Whether the cores of a launch share a message.
bool is_shared(const RunningLaunch& launch, const ControlCmd& message) {
  return launch.page != nullptr && !is_own_message(message.message);
}

thread_local Core* current_core = nullptr;

// The id counts are 16 bits wide on the chip; the SDK polls and starts again when one passes this number.
constexpr std::uint32_t kIdLimit = 60000;

// What the SDK's emulators end a program with when a kernel's assertion fails (host-runtime facts, section 6).
constexpr int kAssertionExitStatus = 233;

// What a kernel gets from data, while none is computed (SOFTTPU_TIME=only).
constexpr std::string_view kPointer = "gives the kernel a pointer to memory of the device";
constexpr std::string_view kAnswer = "gives the kernel a number that depends on data";
std::string needs_data(Op op, std::string_view what) {
  return fmt::format(
      "{}: {}, and with SOFTTPU_TIME=only nothing is computed: estimate this kernel with SOFTTPU_TIME=on.",
      info(op).name, what);
}
bool has_answer(const Command& command) {
  return std::holds_alternative<DmaMaskSelectCmd>(command) || std::holds_alternative<DmaNonzeroCmd>(command);
}
// Whether its rules look at values in memory.
bool reads_values(const Command& command) {
  return std::visit(
      [](const auto& cmd) {
        if constexpr (requires { cmd.rules_read_memory(); }) {
          return static_cast<bool>(cmd.rules_read_memory());
        } else {
          return false;
        }
      },
      command);
}

std::string operands_text(const Command& command) {
  std::string text;
  for_each_operand(command, [&](Access, const char* name, const Operand& operand) {
    text += fmt::format("\n - {} {}", name, to_text(operand));
  });
  return text;
}

// Whether a command of a section is being carried out.
thread_local bool its_turn = false;

// A kernel has one parameter, or two (TPUKERNEL_FUNC2_REGISTER); C hands over both, and the first kind looks at one.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
void call_kernel(KernelFunction function, const void* args, unsigned bytes) {
  reinterpret_cast<void (*)(const void*, unsigned)>(reinterpret_cast<void (*)()>(function))(args, bytes);
}

}  // namespace

Core::Core(Memories& memories, int index) : memories_(memories), index_(index) {
  const Chip& chip = memories.chip();
  const std::string name = to_upper(chip.name);
  refusals_.resize(all_ops().size());
  for (std::size_t i = 0; i < refusals_.size(); ++i) {
    const std::string_view part = part_for(all_ops()[i]);
    if (const std::string* reason = chip.reason_to_refuse(all_ops()[i].name, part)) {
      refusals_[i] = fmt::format("{} refuses this function: {}.", name, *reason);
    } else if (!chip.has_part(part)) {
      refusals_[i] = fmt::format("{} has no {}.", name, part);
    }
  }
}
Core::~Core() = default;

Core* Core::current() { return current_core; }

LaunchOutcome Core::run(KernelFunction function, const std::string& kernel, const void* args, std::size_t bytes) {
  kernel_ = kernel;
  entry_ = function;
  outcome_ = {};
  state_ = {};
  observed_by_.clear();
  chain_.clear();
  chaining_ = false;
  composite_.reset();  // a launch that was cut off has left its scopes behind
  if (observing_) {
    for (const auto& observer : observers_) observed_by_.push_back(observer.get());
  }
  // Every command then goes through the schedule, which is where it is not carried out.
  if (computes_nothing() && schedule_ == nullptr) schedule_ = std::make_unique<Schedule>(Schedule::Order::kProgram);
  launch_.core = index_;
  set_running_launch(launch_);
  for (Observer* observer : observed_by_) observer->launch_begins(memories_, kernel_, index_);
  current_core = this;
  // end_launch() comes back here; nothing between has a destructor that matters (the kernel's frames are C).
  if (setjmp(end_) == 0) {
    // Last of all: whatever runs between it and the kernel, the loader as well, writes the same bytes of the stack.
    if (!observed_by_.empty()) paint_stack();
    call_kernel(function, args, static_cast<unsigned>(bytes));
  }
  reset_processor_state();  // the next kernel begins with the same
  if (schedule_ != nullptr) drain();
  current_core = nullptr;
  for (Observer* observer : observed_by_) {
    observer->launch_ends(outcome_.text);
    observer->add_to(outcome_);
  }
  return outcome_;
}

void Core::submit(Op op, const ControlCmd& cmd) {
  if (faulted() || (launch_.page != nullptr && has_been_stopped())) return;
  count_command(op, cmd);
  if (chaining_) chain_.run(memories_);
  // On the chip only this engine waits. Its commands, and with them the section's, wait until the message has come, or
  // all engines have to wait.
  if (schedule_ == nullptr && state_.id.parallel && waits_in_vain(cmd)) {
    schedule_ = std::make_unique<Schedule>(Schedule::Order::kProgram);
    section_schedule_ = true;
  }
  if (schedule_ != nullptr) {
    if (defer(op, cmd)) return;
    drain();
  }
  if (!observed_by_.empty()) observe_before(op, cmd);
  control(op, cmd);
  if (!observed_by_.empty() && !faulted()) observe_after(op, cmd);
}

void Core::begin_chain() {
  // What makes zeros of subnormals looks at whole tensors.
  const bool lane_local = !memories_.chip().has(Quirk::kHalfFlushes);
  chaining_ = lane_local && observed_by_.empty() && schedule_ == nullptr && !plain_kernels();
}

void Core::end_chain() {
  if (!chaining_) return;
  chain_.run(memories_);
  chaining_ = false;
}

void Core::set_schedule(std::unique_ptr<Schedule> schedule) { schedule_ = std::move(schedule); }

void Core::note_pointer(Op op, Space space, std::uint64_t address) {
  if (computes_nothing()) return fault(ErrorKind::kUnsupported, needs_data(op, kPointer));
  for (Observer* observer : observed_by_) observer->pointer(op, space, address);
}

// True: the command belongs to an open section and waits for drain(), or nothing is computed.
bool Core::defer(Op op, const Command& command) {
  if (state_.id.parallel && schedule_->take(op, command)) return true;
  if (!computes_nothing() || std::holds_alternative<ControlCmd>(command)) return false;
  observe_before(op, command);
  observe_after(op, command);
  return true;
}

template <class Cmd>
void Core::execute_deferred(Op op, const Cmd& cmd) {
  if constexpr (std::is_same_v<Cmd, ControlCmd>) {
    if (!observed_by_.empty()) observe_before(op, cmd);
    control(op, cmd);
  } else {
    if (computes_nothing()) {
      observe_before(op, cmd);
      observe_after(op, cmd);
      return;
    }
    // What its rules read from memory may have changed since it was issued.
    if (const Violation broken = violation(memories_, op, cmd)) {
      its_turn = true;
      refuse(*broken, cmd);
      its_turn = false;
      return;
    }
    if (!observed_by_.empty()) observe_before(op, cmd);
    const FpuScope modes;
    static_cast<void>(execute(memories_, cmd));
  }
  if (!observed_by_.empty() && !faulted()) observe_after(op, cmd);
}

void Core::drain() {
  const auto has_come = [this](const MessageWait& wait) {
    return !waits_in_vain({ControlAction::kWaitMessage, wait.id, wait.count});
  };
  while (!faulted()) {
    if (launch_.page != nullptr) {
      // Only the core's own commands can end what its engines wait for.
      auto waits = schedule_->blocked_by(has_come);
      std::erase_if(waits, [](const MessageWait& wait) { return is_own_message(wait.id); });
      if (!waits.empty()) {
        go_on_after(launch_.page->wait_for_any(launch_.workitem, Op::tpu_poll, waits));
        continue;
      }
    }
    const auto next = schedule_->next(has_come);
    if (!next) break;
    const CallStackScope issued(next->stack);
    std::visit([&](const auto& cmd) { execute_deferred(next->op, cmd); }, next->command);
  }
  schedule_->clear();
  if (std::exchange(section_schedule_, false)) schedule_.reset();
}

// Whether another core has failed: the launch is over for this one as well.
bool Core::has_been_stopped() {
  if (!launch_.page->is_over()) {
    if (!launch_.page->is_interleaved()) return false;
    go_on_after(launch_.page->pass_turn(launch_.workitem));
    return faulted();
  }
  go_on_after(launch_.page->is_deadlocked() ? WaitResult::kDeadlocked : WaitResult::kOver);
  return true;
}

// How a wait for other cores has ended. Each core that waits in a deadlock says for what and where; the launch's report
// is made of these lines.
void Core::go_on_after(WaitResult meeting) {
  if (meeting == WaitResult::kDone || faulted()) return;
  outcome_.ok = false;
  outcome_.kind = ErrorKind::kUsage;
  outcome_.text = fmt::format("core {} was ended", launch_.workitem);
  if (meeting != WaitResult::kDeadlocked) return;
  outcome_.text = fmt::format("core {} {} (command {})", launch_.workitem, launch_.page->wait_text(launch_.workitem),
                              outcome_.commands);
  if (const std::string site = call_site(); !site.empty()) outcome_.text += ", at " + site;
  if (schedule_ == nullptr) return;
  const auto has_come = [this](const MessageWait& wait) {
    return !waits_in_vain({ControlAction::kWaitMessage, wait.id, wait.count});
  };
  for (const Schedule::EngineWait& wait : schedule_->waits(has_come)) {
    if (wait.instruction.empty()) continue;  // of a kernel: the line above says where it waits
    outcome_.text += fmt::format(
        "\n   {} waits at {} for {}", to_text(wait.engine), wait.instruction,
        is_own_message(wait.message.id) ? "another engine of this core" : fmt::format("message {}", wait.message.id));
  }
}

bool Core::waits_in_vain(const ControlCmd& cmd) const {
  if (cmd.action != ControlAction::kWaitMessage) return false;
  if (is_shared(launch_, cmd)) return !launch_.page->has_come({cmd.message, cmd.count});
  const auto message = state_.messages.find(cmd.message);
  return message == state_.messages.end() || message->second.sent < cmd.count;
}

// All cores of the launch, or those that a barrier counts.
void Core::barrier(Op op, const ControlCmd& cmd) {
  if (launch_.page == nullptr || cmd.count == 0) return;
  const int count = cmd.count == kAllCores ? launch_.workitems : cmd.count;
  go_on_after(launch_.page->barrier(launch_.workitem, op, cmd.message, count));
}

void Core::wait_message(Op op, const ControlCmd& cmd) {
  if (is_shared(launch_, cmd)) {
    const MessageWait wait{cmd.message, cmd.count};
    if (const auto wrong = launch_.page->check_wait(wait)) {
      return fault(ErrorKind::kUsage, Refusal{.op = op, .wrong = {.what = *wrong}});
    }
    return go_on_after(launch_.page->wait(launch_.workitem, op, wait));
  }
  MessageCount& message = state_.messages[cmd.message];
  if (message.sent < cmd.count) {
    const std::string what = fmt::format(
        "waits for message {} to be sent {} times, but it was sent {} times before this call. Commands run in program "
        "order, so the wait would never end",
        cmd.message, cmd.count, message.sent);
    fault(ErrorKind::kUsage, Refusal{.op = op, .wrong = {.what = what}});
    return;
  }
  if (--message.waits_left <= 0) message = {};
}

void Core::control(Op op, const ControlCmd& cmd) {
  const auto refuse_if = [&](bool wrong, const char* text) {
    if (wrong) fault(ErrorKind::kUsage, Refusal{.op = op, .wrong = {.what = text}});
    return wrong;
  };
  switch (cmd.action) {
    case ControlAction::kInitialize:
      state_.id = state_.parallel_bdc = state_.parallel_gdma = {};
      state_.messages.clear();
      return;
    case ControlAction::kPoll:
      refuse_if(state_.id.parallel, "a parallel section is open; end it before polling");
      return;
    case ControlAction::kHauPoll: return;
    case ControlAction::kSync: barrier(op, cmd); return;
    case ControlAction::kAcquireLock:
      if (launch_.page != nullptr) go_on_after(launch_.page->acquire(launch_.workitem, op, cmd.message));
      return;
    case ControlAction::kReleaseLock:
      if (launch_.page == nullptr) return;
      if (const auto wrong = launch_.page->release(launch_.workitem, cmd.message)) refuse_if(true, wrong->c_str());
      return;
    case ControlAction::kSendMessage:
      if (is_shared(launch_, cmd)) {
        const auto wrong = launch_.page->send(launch_.workitem, cmd.message, cmd.count);
        if (wrong) refuse_if(true, wrong->c_str());
        return;
      }
      ++state_.messages[cmd.message].sent;
      state_.messages[cmd.message].waits_left = cmd.count;
      return;
    case ControlAction::kWaitMessage: wait_message(op, cmd); return;
    case ControlAction::kParallelStart:
      if (refuse_if(state_.id.parallel, "a parallel section is open already")) return;
      state_.parallel_bdc = state_.parallel_gdma = state_.id;
      state_.id.parallel = true;
      return;
    case ControlAction::kParallelEnd:
      if (refuse_if(!state_.id.parallel, "no parallel section is open")) return;
      state_.id = {state_.parallel_bdc.bdc, state_.parallel_gdma.gdma, false};
      return;
  }
  unreachable(cmd.action);
}

void Core::count(Engine engine) {
  IdNode& bdc = state_.id.parallel ? state_.parallel_bdc : state_.id;
  IdNode& gdma = state_.id.parallel ? state_.parallel_gdma : state_.id;
  if (engine == Engine::kBdc) ++bdc.bdc;
  if (engine == Engine::kGdma) ++gdma.gdma;
  if (!state_.id.parallel && state_.check_id && (state_.id.bdc > kIdLimit || state_.id.gdma > kIdLimit)) state_.id = {};
}

bool Core::refuse(const Refusal& refusal, const Command& command) {
  // Values that were not computed break no rule.
  if (computes_nothing() && reads_values(command)) {
    observe_before(refusal.op, command);
    observe_after(refusal.op, command);
    return false;
  }
  // In an open section, instructions before this one may not have stored yet what its rules read: it is asked again
  // when its turn comes.
  const bool asked_again = schedule_ != nullptr && submits_instructions() && !its_turn;
  if (asked_again && defer(refusal.op, command)) {
    count(info(refusal.op).engine);
    return false;
  }
  fault(ErrorKind::kUsage, refusal, &command);
  for (Observer* observer : observed_by_) observer->refused(refusal.op, command, refusal);
  return true;
}

void Core::keep_fault(ErrorKind kind, std::string text) {
  if (launch_.page != nullptr) launch_.page->fail(launch_.workitem);
  outcome_.ok = false;
  outcome_.kind = kind;
  outcome_.text = std::move(text);
  outcome_.text += fault_location_text(kernel_, static_cast<std::uint32_t>(index_), outcome_.commands, call_site());
}

void Core::fault(ErrorKind kind, const std::string& sentence) {
  if (!faulted()) keep_fault(kind, sentence);
}

void Core::fault(ErrorKind kind, const Refusal& refusal, const Command* command) {
  if (faulted()) return;
  keep_fault(kind, sentence(call_name(refusal.op), refusal) + (command != nullptr ? operands_text(*command) : ""));
  // What only the function knows to be wrong, before there is a command.
  if (command != nullptr || kind != ErrorKind::kUsage) return;
  for (Observer* observer : observed_by_) observer->refused(refusal.op, ControlCmd{}, refusal);
}

void Core::end_launch() { std::longjmp(end_, 1); }

void Core::fail_assertion(const std::string& text) {
  fault(ErrorKind::kUsage, text);
  if (!exit_on_assertion_) end_launch();
  std::fprintf(stdout, "[ERR] %s\n", outcome_.text.c_str());
  std::fflush(stdout);
  // The program's own exit handlers could wait for the device that this kernel still runs on.
  std::_Exit(kAssertionExitStatus);
}

void Core::ask(Op op, const Tensor& tensor, bool reads) {
  for (Observer* observer : observed_by_) observer->asked(op, tensor, reads);
}

bool Core::breaks_guard(Op op, const Command& command) {
  const auto visit = [&](Access access, const char* name, const Operand& value) {
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr || faulted()) return;
    for (const auto& [id, guard] : state_.guards) {
      const bool reads = guard.no_reads && access != Access::kWrite;
      const bool writes = guard.no_writes && access != Access::kRead;
      if ((!reads && !writes) || !touches(*tensor, guard.begin, guard.end)) continue;
      const std::string what = fmt::format("{} {} bytes of guard {}, [0x{:x}, 0x{:x})", name,
                                           writes ? "writes" : "reads", id, guard.begin, guard.end);
      return fault(ErrorKind::kUsage, Refusal{.op = op, .wrong = {.what = what}}, &command);
    }
  };
  for_each_operand(command, visit);
  return faulted();
}

void Core::observe_before(Op op, const Command& command) {
  if (computes_nothing() && has_answer(command)) fault(ErrorKind::kUnsupported, needs_data(op, kAnswer));
  for (Observer* observer : observed_by_) {
    if (observer->wants(op)) observer->before(op, command);
  }
}

void Core::observe_after(Op op, const Command& command) {
  for (Observer* observer : observed_by_) {
    if (observer->wants(op)) observer->after(op, command);
  }
}

}  // namespace softtpu
