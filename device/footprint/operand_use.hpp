// The elements of its operands that a command touches: what is declared beside the operands (Role), applied to spans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/engines/command.hpp"
#include "device/footprint/runs.hpp"

namespace softtpu {

// One operand that is a tensor, with what the command declares of it.
struct OperandUse {
  std::uint32_t index = 0;  // in the order of operands()
  const char* name = "";
  Tensor tensor;
  bool reads = false, writes = false;
  Role role;
};

void visit_uses(const Command& command, void* f, void (*call)(void* f, const OperandUse&));

// Calls f(const OperandUse&) for each operand that is a tensor.
template <class F>
void for_each_use(const Command& command, F&& f) {
  visit_uses(command, &f,
             [](void* function, const OperandUse& use) { (*static_cast<std::remove_reference_t<F>*>(function))(use); });
}

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

// The same bytes, without coordinates: calls f(SpanSpace, LaneRun) with the runs of few tensors.
template <class F>
void for_each_used_run(const Chip& chip, const OperandUse& use, F f) {
  const auto touch = [&](const Tensor& tensor) {
    const auto& [space, runs, hull] = runs_of(chip, tensor);
    for (const LaneRun& run : runs) f(space, run);
  };
  Tensor tensor = use.tensor;
  const int lanes = use.role.lanes, last_channel = use.role.last_channel;
  if (last_channel == 0) {
    if (lanes > 0) tensor.shape.c = std::min(tensor.shape.c, lanes);
    return touch(tensor);
  }
  if (lanes > 0 || tensor.shape.h > 1 || tensor.shape.c < 1 || tensor.space != Space::kLocal) {
    return for_each_used_span(chip, use, [&](const Span& span) {
      f(span.space, span.space == SpanSpace::kLocal ? run_of(chip, span) : LaneRun{span.begin, span.end});
    });
  }
  Tensor last = tensor;
  const int slot = chip.npu_of(tensor.addr) + --tensor.shape.c;
  if (tensor.shape.c > 0) touch(tensor);
  last.shape.c = 1;
  last.shape.w = std::min(last.shape.w, last_channel);
  last.addr = chip.offset_of(tensor.addr) +
              std::uint64_t{chip.local_bytes} * static_cast<unsigned>(slot % chip.npu_num) +
              static_cast<std::uint64_t>(slot / chip.npu_num * tensor.stride.c) *
                  static_cast<std::uint64_t>(size_of(tensor.dtype));
  touch(last);
}

}  // namespace softtpu
