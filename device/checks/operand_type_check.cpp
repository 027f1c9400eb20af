#include "device/checks/operand_type_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "device/checks/describe.hpp"
#include "device/footprint/local_map.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostWrites = 256;

bool is_other_kind(Dtype a, Dtype b) { return is_float(a) != is_float(b) || (is_float(a) && a != b); }

struct TypedWrite {
  Op op;
  const char* name;
  Tensor tensor;
  bool has_meaning;
  CallStack stack;
  LocalBlock box;
};

class OperandTypeCheck final : public Observer {
 public:
  explicit OperandTypeCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    writes_.clear();
  }

  void before(Op op, const Command& command) override {
    for_each_operand(command, [&](Access, const char* name, const Operand& operand, const Role& role) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (role.fixed_type && tensor != nullptr) compare(op, name, *tensor);
    });
  }

  void after(Op op, const Command& command) override {
    for_each_tensor(command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      if (access != Access::kRead) note(op, command, name, tensor);
    });
  }

  void pointer(Op, Space space, std::uint64_t) override {
    if (space == Space::kLocal) writes_.clear();
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  void note(Op op, const Command& command, const char* name, const Tensor& tensor) {
    auto box = box_of(*chip_, tensor);
    if (!box) return;
    std::erase_if(writes_, [&](const TypedWrite& known) { return box->covers(known.box); });
    writes_.push_back({op, name, tensor, traits_of(command).typed_result, capture_call_stack(), *std::move(box)});
    if (writes_.size() > kMostWrites) writes_.pop_front();
  }

  void compare(Op op, const char* name, const Tensor& operand) {
    const auto box = box_of(*chip_, operand);
    if (!box) return;
    const auto write =
        std::find_if(writes_.rbegin(), writes_.rend(), [&](const TypedWrite& known) { return known.box.meets(*box); });
    if (write == writes_.rend() || write->tensor.addr != operand.addr) return;
    const Dtype given = write->tensor.dtype;
    const bool other_size = size_of(given) != size_of(operand.dtype) && size_of(given) > 0;
    const bool other_kind = write->has_meaning && is_other_kind(given, operand.dtype);
    if (write->tensor.shape.elements() != operand.shape.elements() || !(other_size || other_kind)) return;
    const CallStack here = capture_call_stack();
    const std::string reader = call_name(op, here);
    const std::string writer = call_name(write->op, write->stack);
    Finding finding;
    finding.rule = "constraint/operand-type";
    finding.what =
        fmt::format("{} reads {} as {}, and {} wrote {}", reader, name, to_text(operand.dtype), writer, to_text(given));
    finding.parties = {
        {writer, fmt::format("{} wrote {} {}", writer, write->name, to_text(Operand(write->tensor))), write->stack, {}},
        {reader, fmt::format("{} reads {} {}", reader, name, to_text(Operand(operand))), here, {}}};
    finding.nearest = std::string(to_text(operand.dtype));
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  std::deque<TypedWrite> writes_;
};

}  // namespace

std::shared_ptr<Observer> make_operand_type_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<OperandTypeCheck>(std::move(findings));
}

}  // namespace softtpu
