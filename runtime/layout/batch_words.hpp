// Tensors of 8 and 16 bits between plain NCHW and the words of the 4N and 2N modes: neighbours of the N dimension side
// by side in one 32-bit word, the first in its low end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/layout/shape.hpp"

namespace softtpu {

constexpr int kWordBytes = 4;

// The sizes have been checked by the caller.
struct BatchWords {
  Dim4 shape;    // as the user counts elements
  int pack = 4;  // batches that share a word: 4 (4N) or 2 (2N)

  int element_bytes() const { return kWordBytes / pack; }
  std::int64_t plain_bytes() const { return shape.elements() * element_bytes(); }
  std::int64_t bytes() const;
};

// words gets every byte; the batches that fill the last word up are zero.
void pack_batches(const BatchWords& tensor, const std::byte* plain, std::byte* words);
void unpack_batches(const BatchWords& tensor, const std::byte* words, std::byte* plain);

}  // namespace softtpu
