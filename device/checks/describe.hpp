// How checks name bytes, operands and calls in their findings.
#pragma once

#include <cstdint>
#include <string>

#include "device/checks/findings.hpp"
#include "device/engines/command.hpp"
#include "device/footprint/spans.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

// The bytes [first, last) of a span's space.
ReportedRange place_of(const Chip& chip, SpanSpace space, std::uint64_t first, std::uint64_t last);

// ", element [n, c, h, w]" of the tensor's element that holds the byte; empty when none does.
std::string element_at(const Chip& chip, const Tensor& tensor, SpanSpace space, std::uint64_t byte);

// A call and one of its operands: "tpu_bdc_fp_add reads src0 0x..., element [0, 3, 0, 0]".
struct CallOperand {
  Op op;
  const char* name;  // the operand's
  bool writes;
  const Tensor* tensor;
};
Party party_of(const Chip& chip, const CallOperand& call, SpanSpace space, std::uint64_t byte, const CallStack& stack);

// Calls f(index, Access, name, tensor) for the command's operands that are tensors, in the order of operands().
template <class F>
void for_each_tensor(const Command& command, F f) {
  std::uint32_t index = 0;
  const auto visit = [&](Access access, const char* name, const Operand& value) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) f(index, access, name, *tensor);
    ++index;
  };
  for_each_operand(command, visit);
}

}  // namespace softtpu
