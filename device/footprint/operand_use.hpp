// What a command really does with the elements of its operands, where operands() alone says too much: partly used
// channels of matrices, destinations that are filled only in part, tables of which only some NPUs' copies are read.
#pragma once

#include <cstdint>
#include <functional>

#include "device/engines/command.hpp"
#include "device/footprint/spans.hpp"

namespace softtpu {

struct OperandUse {
  std::uint32_t index = 0;  // in the order of operands()
  const char* name = "";
  Tensor tensor;
  bool reads = false, writes = false;
  // False: some elements may not be touched; which ones depends on data.
  bool all = true;
  // Of the last channel only so many elements of a row are used; 0: all.
  int last_channel = 0;
  // Only in these NPUs (of `lanes` channels from the tensor's start); 0: all.
  int lanes = 0;
};

void for_each_use(const Command& command, const std::function<void(const OperandUse&)>& f);

// The spans that are touched at most.
template <class F>
void for_each_used_span(const Chip& chip, const OperandUse& use, F f) {
  const Tensor& tensor = use.tensor;
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  for_each_span(chip, tensor, [&](Span span) {
    if (use.lanes > 0 && span.c >= use.lanes) return;
    if (use.last_channel > 0 && span.c == tensor.shape.c - 1) {
      const auto used = static_cast<std::uint64_t>(use.last_channel) * size;
      if (span.w >= use.last_channel) return;
      if (span.end - span.begin > used) span.end = span.begin + used;
    }
    f(span);
  });
}

}  // namespace softtpu
