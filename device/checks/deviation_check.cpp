#include "device/checks/deviation_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "device/checks/describe.hpp"
#include "device/chip/rules.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/footprint/spans.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// Whether the result depends on the deviation: by the command's operands, or by what lies in memory.
using Depends = bool (*)(const Memories&, const Command&);

struct Deviation {
  std::string_view function;
  Depends depends;
  std::string_view emulator;  // what it does
  bool by_result = false;     // asked when the command has been carried out
};

bool always(const Memories&, const Command&) { return true; }
bool has_first_steps(const Memories& memories, const Command&) { return !memories.chip().has(Quirk::kExpByExponent); }

const Tensor* find_operand(const Command& command, std::string_view wanted) {
  const Tensor* found = nullptr;
  for_each_operand(command, [&](Access, std::string_view name, const Operand& operand) {
    if (name == wanted) found = std::get_if<Tensor>(&operand);
  });
  return found;
}
bool has_two_strides(const Memories&, const Command& command) {
  const Tensor* dst = find_operand(command, "dst");
  const Tensor* src = find_operand(command, "src");
  return dst != nullptr && src != nullptr && dst->stride != src->stride;
}
bool has_no_stride(const Memories&, const Command& command) {
  const Tensor* dst = find_operand(command, "dst");
  return dst != nullptr && dst->natural;
}
bool adds_unsigned_to_signed(const Memories&, const Command& command) {
  const auto* fixed = std::get_if<OkkFixedCmd>(&command);
  return fixed != nullptr && !fixed->old_signed && is_signed_int(fixed->dst_type);
}
bool has_odd_batches(const Memories&, const Command& command) {
  const auto* fixed = std::get_if<OkkFixedCmd>(&command);
  return fixed != nullptr && fixed->batches % 2 != 0;
}
bool compares_constant_with_tensor(const Memories&, const Command& command) {
  const auto* select = std::get_if<OkkSelectCmd>(&command);
  return select != nullptr && std::holds_alternative<Scalar>(select->a) && std::holds_alternative<Tensor>(select->b);
}
bool is_in_place(const Memories&, const Command& command) {
  const auto* arith = std::get_if<ArithCmd>(&command);
  const auto* src = arith != nullptr ? std::get_if<Tensor>(&arith->a) : nullptr;
  return src != nullptr && src->space == arith->dst.space && src->addr == arith->dst.addr;
}
bool gives_unsigned(const Memories&, const Command& command) {
  const auto* conv = std::get_if<Conv2dCmd>(&command);
  return conv != nullptr && !is_signed_int(conv->dst.dtype);
}
bool gives_signed(const Memories& memories, const Command& command) { return !gives_unsigned(memories, command); }
bool has_system_index_without_stride(const Memories& memories, const Command& command) {
  const auto* rows = std::get_if<DmaRowsCmd>(&command);
  if (rows == nullptr || !has_first_steps(memories, command)) return false;
  return rows->index.space == Space::kSystem && rows->index.natural && !(rows->dst.natural && rows->param.natural) &&
         rows->index.shape.c > 1 && rows->dst.shape.h != rows->param.shape.h;
}

// Calls f(bits) for the tensor's elements until it is true of one. Elements of less than a byte are not looked at.
template <class F>
bool is_any(const Memories& memories, const Tensor& tensor, F f) {
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  bool found = false;
  if (size == 0) return found;
  for_each_span(memories.chip(), tensor, [&](const Span& span) {
    const std::uint64_t bytes = span.end - span.begin;
    const std::uint8_t* data = nullptr;
    if (span.space == SpanSpace::kLocal) data = memories.local(0) + span.begin;
    if (span.space == SpanSpace::kSystem) data = memories.find_system(span.begin, bytes).data;
    for (std::uint64_t i = 0; data != nullptr && !found && i < bytes; i += size) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, data + i, size);
      found = f(bits);
    }
  });
  return found;
}
bool has_exceptional_index(const Memories& memories, const Command& command) {
  const auto* gather = std::get_if<GatherCmd>(&command);
  if (gather == nullptr || !gather->exception) return false;
  const std::uint32_t mark = size_of(gather->index.dtype) == 1 ? 0xFF : 0xFFFF;
  return is_any(memories, gather->index, [&](std::uint32_t bits) { return bits == mark; });
}
bool sorts_both_zeros(const Memories& memories, const Command& command) {
  const auto* sort = std::get_if<HauSortCmd>(&command);
  if (sort == nullptr || !is_float(sort->src.dtype)) return false;
  const auto has = [&](std::uint32_t zero) {
    return is_any(memories, sort->src, [&](std::uint32_t bits) { return bits == zero; });
  };
  return has(0x80000000) && has(0);
}
bool gives_nan(const Memories& memories, const Command& command) {
  const Tensor* dst = find_operand(command, "output");
  return dst != nullptr && dst->dtype == Dtype::kFp32 &&
         is_any(memories, *dst, [](std::uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; });
}

constexpr std::array kDeviations = {
#define DEVIATION(function, depends, emulator) Deviation{function, depends, emulator},
#define RESULT_DEVIATION(function, depends, emulator) Deviation{function, depends, emulator, true},
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
    if (const auto* compare = std::get_if<CompareCmd>(&command)) judge_comparison(op, *compare);
    judge(op, command, false);
  }
  void after(Op op, const Command& command) override { judge(op, command, true); }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  void judge(Op op, const Command& command, bool by_result) {
    // Documents speak of functions; instructions do what recordings show.
    if (submits_instructions()) return;
    const auto row = rows_.find(info(calling_composite().value_or(op)).name);
    if (row == rows_.end() || row->second->by_result != by_result || !row->second->depends(*memories_, command)) return;
    const std::string function(row->first);
    report(function, fmt::format("{} does what its documentation says; the vendor's emulator {}", function,
                                 row->second->emulator));
  }

  // Integers are compared as the sources' type here; the emulator reads the second one with the sign of the result's
  // type. That matters where its highest bit is set.
  void judge_comparison(Op op, const CompareCmd& command) {
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
    const std::uint32_t top = 1U << (size_of(tensor.dtype) * 8 - 1);
    return tensor.space == Space::kLocal &&
           is_any(*memories_, tensor, [&](std::uint32_t bits) { return (bits & top) != 0; });
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
