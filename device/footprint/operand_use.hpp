// The elements of its operands that a command touches: what is declared beside the operands (Role), applied to spans.
#pragma once

#include <cstdint>
#include <functional>

#include "device/engines/command.hpp"
#include "device/footprint/spans.hpp"

namespace softtpu {

// One operand that is a tensor, with what the command declares of it.
struct OperandUse {
  std::uint32_t index = 0;  // in the order of operands()
  const char* name = "";
  Tensor tensor;
  bool reads = false, writes = false;
  Role role;
};

void for_each_use(const Command& command, const std::function<void(const OperandUse&)>& f);

// Every element is touched at most, so that runs of the tensor (runs.hpp) are those of the use.
inline bool is_whole(const OperandUse& use) { return use.role.lanes == 0 && use.role.last_channel == 0; }

// The spans that are touched at most.
template <class F>
void for_each_used_span(const Chip& chip, const OperandUse& use, F f) {
  const Tensor& tensor = use.tensor;
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  for_each_span(chip, tensor, [&](Span span) {
    if (use.role.lanes > 0 && span.c >= use.role.lanes) return;
    if (use.role.last_channel > 0 && span.c == tensor.shape.c - 1) {
      const auto used = static_cast<std::uint64_t>(use.role.last_channel) * size;
      if (span.w >= use.role.last_channel) return;
      if (span.end - span.begin > used) span.end = span.begin + used;
    }
    f(span);
  });
}

}  // namespace softtpu
