#include "device/checks/operand_type_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "device/checks/describe.hpp"
#include "device/footprint/local_map.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostWrites = 256;

bool is_other_kind(Dtype a, Dtype b) { return is_float(a) != is_float(b) || (is_float(a) && a != b); }
bool is_other_size(Dtype a, Dtype b) { return size_of(a) != size_of(b) && size_of(a) > 0 && size_of(b) > 0; }
bool are_other_floats(Dtype a, Dtype b) { return is_float(a) && is_float(b) && a != b; }

// Its operands are numbers of their types, not bytes.
bool computes(const Command& command) { return traits_of(command).typed_result || traits_of(command).is_product; }

struct TypedWrite {
  Op op;
  const char* name;
  Tensor tensor;
  bool has_meaning;  // the elements are numbers of the type, not bytes that were moved as it
  CallStack stack;
  bool has_source = true;  // false: a constant, which may clear more or less than what is computed with
  bool of_array = false;   // the type is the one that the program has named, not the copy
  bool follows = false;    // the command has computed with an operand of another type, or with what follows from one
  bool reported = false;   // further readers add nothing to the finding
};

// Most of what is asked of a write its place answers: places lie side by side, writes are large.
struct WritePlace {
  LocalBox box;
  std::unique_ptr<TypedWrite> write;
};

class OperandTypeCheck final : public Observer {
 public:
  OperandTypeCheck(std::shared_ptr<Findings> findings, std::shared_ptr<AllocationTable> allocations)
      : findings_(std::move(findings)), allocations_(std::move(allocations)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    writes_.clear();
  }

  void before(Op op, const Command& command) override {
    follows_ = has_source_ = false;
    // The call of a command without operands is not asked for, and slow to find.
    if (!std::holds_alternative<ControlCmd>(command)) here_ = capture_call_stack();
    for_each_operand(command, [&](Access access, const char* name, const Operand& operand, const Role& role) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr) return;
      if (access != Access::kWrite) {
        has_source_ = true;
        follow(*tensor);
      }
      if (role.fixed_type) {
        compare(op, name, *tensor);
      } else if (access != Access::kWrite) {
        exchange(op, command, name, *tensor);
      }
    });
    findings_->set_follows(follows_);
  }

  void after(Op op, const Command& command) override {
    const std::optional<Dtype> given = type_of_source(command);
    for_each_tensor(command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      if (access != Access::kRead) note(op, command, name, tensor, given);
    });
    if (const auto* copy = std::get_if<DmaCopyCmd>(&command)) compare_with_array(op, *copy);
  }

  void pointer(Op, Space space, std::uint64_t) override {
    if (space == Space::kLocal) writes_.clear();
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  // What the program has said of the allocation; nullopt: nothing, or no float: integers stand for bits of any type.
  std::optional<Dtype> type_of_array(const Tensor& tensor) {
    if (tensor.space != Space::kSystem || !chip_->global_mem.contains(tensor.addr)) return std::nullopt;
    allocations_->update(known_);
    const AllocationRecord* record = known_.find(tensor.addr);
    if (record == nullptr) return std::nullopt;
    for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16, Dtype::kFp8E5M2, Dtype::kFp8E4M3}) {
      if (record->type == to_text(type)) return type;
    }
    return std::nullopt;
  }

  std::optional<Dtype> type_of_source(const Command& command) {
    const auto* copy = std::get_if<DmaCopyCmd>(&command);
    return copy == nullptr ? std::nullopt : type_of_array(copy->src);
  }

  void note(Op op, const Command& command, const char* name, const Tensor& tensor, std::optional<Dtype> of_array) {
    const auto box = box_of(*chip_, tensor);
    if (!box) return;
    std::erase_if(writes_, [&](const WritePlace& known) { return box->covers(known.box); });
    writes_.push_back(
        {*box, std::make_unique<TypedWrite>(TypedWrite{op, name, tensor, traits_of(command).typed_result, here_})});
    TypedWrite& write = *writes_.back().write;
    write.has_source = has_source_;
    write.follows = follows_;
    // Elements of another size may be parts of whatever the program keeps there.
    if (of_array && !is_other_size(*of_array, tensor.dtype)) {
      write.tensor.dtype = *of_array;
      write.has_meaning = write.of_array = true;
    }
    if (writes_.size() > kMostWrites) writes_.erase(writes_.begin());
  }

  // The last write of any of these bytes.
  TypedWrite* last(const Tensor& operand) {
    const auto box = box_of(*chip_, operand);
    if (!box) return nullptr;
    const auto write =
        std::find_if(writes_.rbegin(), writes_.rend(), [&](const WritePlace& known) { return known.box.meets(*box); });
    return write == writes_.rend() ? nullptr : write->write.get();
  }

  TypedWrite* latest(const Tensor& operand) {
    TypedWrite* write = last(operand);
    return write == nullptr || write->tensor.addr != operand.addr ? nullptr : write;
  }

  void follow(const Tensor& operand) {
    const TypedWrite* write = last(operand);
    if (write != nullptr && write->follows) follows_ = true;
  }

  // The function fixes the type of the operand.
  void compare(Op op, const char* name, const Tensor& operand) {
    TypedWrite* write = latest(operand);
    if (write == nullptr || write->tensor.shape.elements() != operand.shape.elements()) return;
    const Dtype given = write->tensor.dtype;
    const bool other_kind =
        write->of_array ? are_other_floats(given, operand.dtype) : is_other_kind(given, operand.dtype);
    if (!is_other_size(given, operand.dtype) && !(write->has_meaning && other_kind)) return;
    follows_ = true;
    report(op, name, operand, *write, true);
  }

  // The type is an argument of both calls: the same elements have the same one.
  void exchange(Op op, const Command& command, const char* name, const Tensor& operand) {
    if (!here_.step.empty() || operand.space != Space::kLocal) return;
    TypedWrite* write = latest(operand);
    if (write == nullptr || !write->has_source || write->stack == here_ || !(write->tensor.shape == operand.shape))
      return;
    const Dtype given = write->tensor.dtype;
    // The low part of each element, which is all of a row of one.
    const bool rows = operand.shape.w > 1 || operand.shape.h > 1;
    const bool other_size = rows && operand.natural && write->tensor.natural && is_other_size(given, operand.dtype) &&
                            (write->has_meaning || computes(command));
    const bool other_format = write->has_meaning && computes(command) && are_other_floats(given, operand.dtype);
    if (!other_size && !other_format) return;
    follows_ = true;
    report(op, name, operand, *write, false);
  }

  // Results that are stored to an array of another float type.
  void compare_with_array(Op op, const DmaCopyCmd& copy) {
    const std::optional<Dtype> array = type_of_array(copy.dst);
    if (!array || copy.src.space != Space::kLocal) return;
    const TypedWrite* write = latest(copy.src);
    if (write == nullptr || write->follows || !write->has_meaning || write->of_array) return;
    const Dtype given = write->tensor.dtype;
    if (!are_other_floats(given, *array) || is_other_size(given, *array) || copy.src.dtype != given) return;
    const std::string writer = call_name(write->op, write->stack), mover = call_name(op, here_);
    Finding finding;
    finding.rule = "constraint/operand-type";
    finding.what = fmt::format("{} stores {} of {}{} to an array of {}", mover, to_text(given), writer,
                               at(write->stack), to_text(*array));
    finding.calls = {
        {writer, fmt::format("{} wrote {} {}", writer, write->name, to_text(Operand(write->tensor))), write->stack, {}},
        {mover, fmt::format("{} stores to {}", mover, to_text(Operand(copy.dst))), here_, {}}};
    findings_->add_cause(finding);
  }

  static std::string at(const CallStack& stack) {
    const SourceLine line = find_caller(stack);
    return line.line > 0 ? " at " + line.text() : "";
  }

  void report(Op op, const char* name, const Tensor& operand, TypedWrite& write, bool fixed) {
    if (write.follows || std::exchange(write.reported, true)) return;
    const std::string reader = call_name(op, here_);
    const std::string writer = call_name(write.op, write.stack);
    const std::string_view given = to_text(write.tensor.dtype), read = to_text(operand.dtype);
    const char* const verb = info(write.op).engine == Engine::kBdc ? "written" : "loaded";
    Finding finding;
    finding.rule = "constraint/operand-type";
    finding.what = write.of_array ? fmt::format("{} of {} comes from an array of {}, loaded{}, and is read as {}{}",
                                                name, reader, given, at(write.stack), read, at(here_))
                                  : fmt::format("{} of {} was {} as {}{} and is read as {}{}", name, reader, verb,
                                                given, at(write.stack), read, at(here_));
    finding.calls = {
        {writer, fmt::format("{} wrote {} {}", writer, write.name, to_text(Operand(write.tensor))), write.stack, {}},
        {reader, fmt::format("{} reads {} {}", reader, name, to_text(Operand(operand))), here_, {}}};
    if (fixed) finding.nearest = fmt::format("{} for {}", read, name);
    findings_->add_cause(finding);
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<AllocationTable> allocations_;
  KnownAllocations known_;
  const Chip* chip_ = nullptr;
  std::vector<WritePlace> writes_;
  CallStack here_;        // the call of the command that is carried out
  bool follows_ = false;  // the command computes with an operand of another type, or with what follows from one
  bool has_source_ = false;
};

}  // namespace

std::shared_ptr<Observer> make_operand_type_check(std::shared_ptr<Findings> findings,
                                                  std::shared_ptr<AllocationTable> allocations) {
  return std::make_shared<OperandTypeCheck>(std::move(findings), std::move(allocations));
}

}  // namespace softtpu
