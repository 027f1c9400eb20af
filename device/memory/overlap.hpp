// Questions about the bytes that tensors occupy, so that walks know when they may reorder or share their work.
#pragma once

#include "device/memory/memories.hpp"

namespace softtpu {

// False only when no byte of `a` can be a byte of `b`. Tensors that are interleaved count as overlapping.
bool may_overlap(const Chip& chip, const Tensor& a, const Tensor& b);
inline bool may_overlap(const Chip& chip, const Tensor& a, const Operand& b) {
  const auto* tensor = std::get_if<Tensor>(&b);
  return tensor != nullptr && may_overlap(chip, a, *tensor);
}

// True only when no two elements of the tensor share an address, so that writing order does not matter.
bool writes_each_byte_once(const Chip& chip, const Tensor& tensor);

}  // namespace softtpu
