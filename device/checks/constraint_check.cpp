#include "device/checks/constraint_check.hpp"

#include <fmt/format.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>

#include "device/checks/describe.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/isa/message_engine.hpp"
#include "runtime/base/image_range.hpp"
#include "runtime/base/text.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

Party call_of(Op op, const Command& command) {
  const CallStack stack = capture_call_stack();
  const std::string function = call_name(op, stack);
  std::string text = function;
  for_each_tensor(command, [&](std::uint32_t, Access, const char* name, const Tensor& tensor) {
    text += fmt::format("{} {} {}", text == function ? "" : ",", name, to_text(Operand(tensor)));
  });
  return {function, text, stack, {}};
}

// The nearest legal value, and of which argument: "0x00041000 for src0".
std::string nearest(const Refusal& refusal) {
  if (refusal.nearest.empty() || refusal.wrong.argument.empty()) return refusal.nearest;
  return fmt::format("{} for {}", refusal.nearest, refusal.wrong.argument);
}

class RefusalReport final : public Observer {
 public:
  RefusalReport(std::shared_ptr<Findings> findings, std::set<std::string> checks)
      : findings_(std::move(findings)), checks_(std::move(checks)) {}

  bool wants(Op) const override { return false; }
  void launch_begins(const Memories&, const std::string& kernel, int core) override { findings_->begin(kernel, core); }
  void refused(Op op, const Command& command, const Refusal& refusal) override {
    if (!checks_.contains(std::string(rule(refusal.rule).check))) return;
    findings_->add(
        {refusal.rule, sentence(call_name(refusal.op), refusal), {call_of(op, command)}, {}, nearest(refusal), {}});
  }
  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  std::shared_ptr<Findings> findings_;
  std::set<std::string> checks_;
};

// The kernel's own part of the stack: from the function that the core called to the call of a softtpu function.
class StackWalk {
 public:
  // 0: not known, because kernel and softtpu are one program.
  static std::uint64_t kernel_bytes() {
    StackWalk walk;
    _Unwind_Backtrace(&StackWalk::visit, &walk);
    return walk.ended_ ? walk.outer_ - walk.inner_ : 0;
  }

 private:
  static _Unwind_Reason_Code visit(_Unwind_Context* context, void* self) {
    auto& walk = *static_cast<StackWalk*>(self);
    const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
    const auto frame = static_cast<std::uint64_t>(_Unwind_GetCFA(context));
    const bool own = walk.own_.contains(reinterpret_cast<const void*>(address - 1));
    if (own && walk.in_kernel_) {
      walk.ended_ = true;
      return _URC_END_OF_STACK;
    }
    if (own) walk.inner_ = frame;
    if (!own) {
      walk.in_kernel_ = true;
      walk.outer_ = frame;
    }
    return _URC_NO_REASON;
  }

  static ImageRange own_image() {
    static const ImageRange range = image_range_of(reinterpret_cast<const void*>(&make_constraint_check));
    return range;
  }

  const ImageRange own_ = own_image();
  std::uint64_t inner_ = 0, outer_ = 0;
  bool in_kernel_ = false, ended_ = false;
};

class ConstraintCheck final : public Observer {
 public:
  ConstraintCheck(std::shared_ptr<Findings> findings, std::uint64_t stack_limit)
      : findings_(std::move(findings)), stack_limit_(stack_limit) {}

  void launch_begins(const Memories&, const std::string& kernel, int core) override {
    findings_->begin(kernel, core);
    lowest_ = UINTPTR_MAX;
    deepest_ = 0;
    pending_.reset();
    pending_sdma_.reset();
    initialized_ = false;
  }

  void before(Op op, const Command& command) override {
    look_at_stack(op, command);
    const auto* control = std::get_if<ControlCmd>(&command);
    if (control != nullptr && control->action != ControlAction::kInitialize) return;
    if (control == nullptr && !initialized_) tell_uninitialized(op, command);
    initialized_ = true;
  }

  void after(Op op, const Command& command) override {
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      const bool polls = control->action == ControlAction::kPoll, syncs = control->action == ControlAction::kSync;
      const bool sdma_only = polled_engine(op) == Engine::kSdma;
      if (polls || (syncs && !sdma_only)) pending_.reset();
      if (syncs) pending_sdma_.reset();  // tpu_poll() does not wait for it
      return;
    }
    (info(op).engine == Engine::kSdma ? pending_sdma_ : pending_) = {op, capture_call_stack()};
  }

  void launch_ends(const std::string& fault) override {
    if (deepest_ > stack_limit_) {
      findings_->add({"constraint/stack",
                      fmt::format("the kernel's stack has {} bytes at this call (limit {})", deepest_, stack_limit_),
                      {deepest_call_},
                      {},
                      fmt::format("{} bytes", stack_limit_),
                      {}});
    }
    for (const auto& pending : {pending_, pending_sdma_}) {
      if (pending && fault.empty()) tell_unpolled(*pending);
    }
    findings_->report();
  }

 private:
  struct Issued {
    Op op;
    CallStack stack;
  };

  void tell_unpolled(const Issued& last) {
    const std::string name = call_name(last.op, last.stack);
    findings_->add({"constraint/unpolled",
                    fmt::format("the kernel returns without waiting for {}", name),
                    {{name, name + " was issued last", last.stack, {}}},
                    {},
                    "",
                    {}});
  }

  void tell_uninitialized(Op op, const Command& command) {
    const Party call = call_of(op, command);
    findings_->add({"constraint/uninitialized",
                    fmt::format("the kernel calls {} before {}_initialize", call.function,
                                call.function.substr(0, call.function.find('_'))),
                    {call},
                    {},
                    "",
                    {}});
  }

  // Unwinding takes microseconds: only where the stack is deeper than ever before in this launch.
  void look_at_stack(Op op, const Command& command) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here >= lowest_) return;
    lowest_ = here;
    if (!capture_call_stack().step.empty()) return;  // an instruction of a network: no kernel's stack
    const std::uint64_t bytes = StackWalk::kernel_bytes();
    if (bytes <= deepest_) return;
    deepest_ = bytes;
    if (bytes > stack_limit_) deepest_call_ = call_of(op, command);
  }

  std::shared_ptr<Findings> findings_;
  const std::uint64_t stack_limit_;
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uint64_t deepest_ = 0;
  Party deepest_call_;
  bool initialized_ = false;                      // or reported already that it is not
  std::optional<Issued> pending_, pending_sdma_;  // the last command that the kernel has not waited for
};

class PortabilityCheck final : public Observer {
 public:
  PortabilityCheck(std::shared_ptr<Findings> findings, std::vector<Chip> targets)
      : findings_(std::move(findings)), targets_(std::move(targets)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    most_ = 0;
  }

  void before(Op op, const Command& command) override {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.tensor.space != Space::kLocal) return;
      const std::uint64_t end = end_offset(use.tensor);
      if (end <= most_) return;
      most_ = end;
      const bool too_much =
          std::any_of(targets_.begin(), targets_.end(), [&](const Chip& c) { return end > c.local_bytes; });
      if (too_much) most_call_ = call_of(op, command);
    });
  }

  void launch_ends(const std::string&) override {
    for (const Chip& target : targets_) {
      if (target.api != chip_->api || most_ <= target.local_bytes) continue;
      findings_->add({"constraint/portable-memory",
                      fmt::format("the kernel uses {} bytes of each NPU's local memory; {} has {}", most_,
                                  to_upper(target.name), target.local_bytes),
                      {most_call_},
                      {},
                      fmt::format("{} bytes", target.local_bytes),
                      {}});
    }
    findings_->report();
  }

 private:
  // The end of the tensor's last byte within an NPU.
  std::uint64_t end_offset(const Tensor& tensor) const {
    const auto& [shape, stride] = std::tie(tensor.shape, tensor.stride);
    const std::int64_t groups = (chip_->npu_of(tensor.addr) + std::int64_t{shape.c} - 1) / chip_->npu_num;
    const std::int64_t last =
        (shape.n - 1) * stride.n + groups * stride.c + (shape.h - 1) * stride.h + (shape.w - 1) * stride.w + 1;
    return chip_->offset_of(tensor.addr) + static_cast<std::uint64_t>(last * size_of(tensor.dtype));
  }

  std::shared_ptr<Findings> findings_;
  std::vector<Chip> targets_;
  const Chip* chip_ = nullptr;
  std::uint64_t most_ = 0;
  Party most_call_;
};

}  // namespace

std::shared_ptr<Observer> make_refusal_report(std::shared_ptr<Findings> findings, const std::set<std::string>& checks) {
  return std::make_shared<RefusalReport>(std::move(findings), checks);
}

std::shared_ptr<Observer> make_constraint_check(std::shared_ptr<Findings> findings, std::uint64_t stack_limit) {
  return std::make_shared<ConstraintCheck>(std::move(findings), stack_limit);
}

std::shared_ptr<Observer> make_portability_check(std::shared_ptr<Findings> findings, std::vector<Chip> targets) {
  return std::make_shared<PortabilityCheck>(std::move(findings), std::move(targets));
}

}  // namespace softtpu
