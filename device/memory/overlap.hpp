// Questions about the bytes that tensors occupy, so that walks know when they may reorder or share their work.
#pragma once

#include "device/memory/memories.hpp"

namespace softtpu {

// From the first byte of a tensor behind the last one; of one in local memory, in the NPU that has most channels.
std::uint64_t span_bytes(const Chip& chip, const Tensor& tensor);

// False only when no byte of `a` can be a byte of `b`. Tensors that are interleaved count as overlapping.
bool may_overlap(const Chip& chip, const Tensor& a, const Tensor& b);
inline bool may_overlap(const Chip& chip, const Tensor& a, const Operand& b) {
  const auto* tensor = std::get_if<Tensor>(&b);
  return tensor != nullptr && may_overlap(chip, a, *tensor);
}

// True only when no two elements of the tensor share an address, so that writing order does not matter.
bool writes_each_byte_once(const Chip& chip, const Tensor& tensor);

// Whether the elements of `dst`, which begins where `source` does and has its shape, lie no lower than those of
// `source`, and these in the order n, c, h, w: written from the last one on, they overwrite nothing that is still to be
// read.
inline bool rises_from(const Chip& chip, const Tensor& source, const Tensor& dst) {
  const std::int64_t narrow = size_of(source.dtype), wide = size_of(dst.dtype);
  const Stride4 &from = source.stride, &to = dst.stride;
  const Dim4& shape = source.shape;
  std::int64_t extent = 1;  // elements of the source that the dimensions so far span
  const auto rises = [&](int count, std::int64_t from_step, std::int64_t to_step) {
    if (count == 1) return true;
    const bool higher = from_step >= extent && to_step * wide >= from_step * narrow;
    extent = (count - 1) * from_step + extent;
    return higher;
  };
  const int groups = (chip.npu_of(source.addr) + shape.c - 1) / chip.npu_num + 1;
  return rises(shape.w, from.w, to.w) && rises(shape.h, from.h, to.h) && rises(groups, from.c, to.c) &&
         rises(shape.n, from.n, to.n);
}

}  // namespace softtpu
