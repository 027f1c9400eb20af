#include "device/checks/describe.hpp"

#include <fmt/format.h>

namespace softtpu {

ReportedRange place_of(const Chip& chip, SpanSpace space, std::uint64_t first, std::uint64_t last) {
  if (space == SpanSpace::kStatic) return {"static", first, last};
  if (space == SpanSpace::kSystem) {
    const char* memory = chip.global_mem.contains(first) ? "global" : chip.l2_sram.contains(first) ? "L2" : "DTCM";
    return {memory, first, last};
  }
  const std::uint64_t offset = first % chip.local_bytes;
  return {"local", offset, offset + (last - first), static_cast<int>(first / chip.local_bytes),
          static_cast<int>(offset / chip.bank_bytes())};
}

std::string element_at(const Chip& chip, const Tensor& tensor, SpanSpace space, std::uint64_t byte) {
  std::string text;
  for_each_span(chip, tensor, [&](const Span& span) {
    if (!text.empty() || span.space != space || byte < span.begin || byte >= span.end) return;
    const int w = span.w + static_cast<int>((byte - span.begin) / static_cast<unsigned>(size_of(tensor.dtype)));
    text = fmt::format(", element [{}, {}, {}, {}]", span.n, span.c, span.h + w / tensor.shape.w, w % tensor.shape.w);
  });
  return text;
}

Party party_of(const Chip& chip, const CallOperand& call, SpanSpace space, std::uint64_t byte, const CallStack& stack) {
  const std::string function = call_name(call.op, stack);
  return {function,
          fmt::format("{} {} {} {}{}", function, call.writes ? "writes" : "reads", call.name,
                      to_text(Operand(*call.tensor)), element_at(chip, *call.tensor, space, byte)),
          stack,
          {}};
}

}  // namespace softtpu
