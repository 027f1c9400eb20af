// Commands whose results are wider than a source at the same address.
#pragma once

#include <variant>

#include "device/memory/memories.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {

inline bool overwrites_narrower(const Operand& source, const Tensor& dst) {
  const auto* tensor = std::get_if<Tensor>(&source);
  return tensor != nullptr && tensor->addr == dst.addr && size_of(tensor->dtype) < size_of(dst.dtype) &&
         dst.shape.elements() > 1;
}

// Element (n, c, h, w) as a tensor of its own.
inline Tensor element_of(const Chip& chip, const Tensor& tensor, const Dim4& at) {
  const int start = chip.npu_of(tensor.addr);
  const int npu = (start + at.c) % chip.npu_num, group = (start + at.c) / chip.npu_num;
  const Stride4& step = tensor.stride;
  const std::int64_t elements = at.n * step.n + group * step.c + at.h * step.h + at.w * step.w;
  Tensor element = tensor;
  element.addr = static_cast<std::uint64_t>(std::int64_t{chip.local_bytes} * npu +
                                            static_cast<std::int64_t>(chip.offset_of(tensor.addr)) +
                                            elements * size_of(tensor.dtype));
  element.shape = {1, 1, 1, 1};
  element.stride = {1, 1, 1, 1};
  return element;
}
inline Operand element_of(const Chip& chip, const Operand& operand, const Dim4& at) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) return element_of(chip, *tensor, at);
  return operand;
}

// Carries a command out element by element from the last one on, so that every element of a source is read before a
// result overwrites it (rises_from() holds). `sources` are the command's members.
template <class Cmd, class... Sources>
void execute_from_the_end(Memories& mem, const Cmd& cmd, Sources... sources) {
  const Dim4& shape = cmd.dst.shape;
  for (int n = shape.n - 1; n >= 0; --n) {
    for (int c = shape.c - 1; c >= 0; --c) {
      for (int h = shape.h - 1; h >= 0; --h) {
        for (int w = shape.w - 1; w >= 0; --w) {
          const Dim4 at{n, c, h, w};
          Cmd element = cmd;
          element.dst = element_of(mem.chip(), cmd.dst, at);
          ((element.*sources = element_of(mem.chip(), cmd.*sources, at)), ...);
          execute(mem, element);
        }
      }
    }
  }
}

}  // namespace softtpu
