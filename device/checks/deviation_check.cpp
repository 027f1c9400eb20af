#include "device/checks/deviation_check.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "device/checks/describe.hpp"
#include "device/chip/rules.hpp"
#include "device/footprint/spans.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

struct Deviation {
  std::string_view function;
  bool (*depends)(const Chip&, const Command&);
  std::string_view emulator;  // what it does
};

bool always(const Chip&, const Command&) { return true; }
bool has_first_steps(const Chip& chip, const Command&) { return !chip.has(Quirk::kExpByExponent); }

const Tensor* find_operand(const Command& command, std::string_view wanted) {
  const Tensor* found = nullptr;
  for_each_operand(command, [&](Access, std::string_view name, const Operand& operand) {
    if (name == wanted) found = std::get_if<Tensor>(&operand);
  });
  return found;
}
bool has_two_strides(const Chip&, const Command& command) {
  const Tensor* dst = find_operand(command, "dst");
  const Tensor* src = find_operand(command, "src");
  return dst != nullptr && src != nullptr && dst->stride != src->stride;
}
bool has_no_stride(const Chip&, const Command& command) {
  const Tensor* dst = find_operand(command, "dst");
  return dst != nullptr && dst->natural;
}
bool reads_old_as_signed(const Chip&, const Command& command) {
  const auto* fixed = std::get_if<OkkFixedCmd>(&command);
  return fixed != nullptr && fixed->old_signed;
}

constexpr std::array kDeviations = {
#define DEVIATION(function, depends, emulator) Deviation{function, depends, emulator},
#include "device/checks/deviations.def"
};

class DeviationCheck final : public Observer {
 public:
  explicit DeviationCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {
    for (const Deviation& row : kDeviations) rows_.emplace(row.function, &row);
  }

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    memories_ = &memories;
    findings_->begin(kernel, core);
  }

  void before(Op op, const Command& command) override {
    if (const auto* compare = std::get_if<CompareCmd>(&command)) judge(op, *compare);
    const auto composite = calling_composite();
    const auto row = rows_.find(info(composite.value_or(op)).name);
    if (row == rows_.end() || !row->second->depends(memories_->chip(), command)) return;
    const std::string function(row->first);
    report(function, fmt::format("{} does what its documentation says; the vendor's emulator {}", function,
                                 row->second->emulator));
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  // Integers are compared as the sources' type here; the emulator reads the second one with the sign of the result's
  // type. That matters where its highest bit is set.
  void judge(Op op, const CompareCmd& command) {
    const auto* a = std::get_if<Tensor>(&command.a);
    const auto* b = std::get_if<Tensor>(&command.b);
    const Tensor* const source = a != nullptr ? a : b;
    if (source == nullptr || !is_integer(source->dtype) || !is_integer(command.dst.dtype)) return;
    if (is_signed_int(source->dtype) == is_signed_int(command.dst.dtype) || size_of(source->dtype) == 0) return;
    const auto* constant = std::get_if<Scalar>(&command.b);
    const unsigned top = static_cast<unsigned>(size_of(source->dtype)) * 8 - 1;
    if (constant != nullptr ? (constant->bits >> top & 1U) == 0 : !has_top_bit(*b)) return;
    report(call_name(op),
           fmt::format("{} compares {} numbers as {}; the vendor's emulator reads src1 with the sign of the "
                       "result's type, {}",
                       call_name(op), to_text(source->dtype), to_text(source->dtype), to_text(command.dst.dtype)));
  }

  bool has_top_bit(const Tensor& tensor) const {
    if (tensor.space != Space::kLocal) return false;
    const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
    bool found = false;
    for_each_span(memories_->chip(), tensor, [&](const Span& span) {
      const std::uint8_t* data = memories_->local(0) + span.begin;
      for (std::uint64_t i = size - 1; !found && i < span.end - span.begin; i += size) found = (data[i] & 0x80) != 0;
    });
    return found;
  }

  void report(const std::string& function, const std::string& what) {
    findings_->add(
        {"constraint/deviation", what, {{function, function + " is called", capture_call_stack(), {}}}, {}, "", {}});
  }

  std::shared_ptr<Findings> findings_;
  const Memories* memories_ = nullptr;
  std::map<std::string_view, const Deviation*> rows_;
};

}  // namespace

std::shared_ptr<Observer> make_deviation_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<DeviationCheck>(std::move(findings));
}

}  // namespace softtpu
