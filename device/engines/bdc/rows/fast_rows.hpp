// Row loops of element-wise commands with SIMD instructions: the same bits as the plain lanes, many elements at once. A
// family's fast.hpp lists its rows; where there is none (nullptr), or where fast_rows() refuses, a command walks its
// plain lanes.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/rows.hpp"
#include "device/numeric/by_type.hpp"

namespace softtpu {

// Rows of `count` adjacent elements, each operand in its stored type.
using UnaryRow = void (*)(void* dst, const void* src, int count);
using BinaryRow = void (*)(void* dst, const void* a, const void* b, int count);
using TernaryRow = void (*)(void* dst, const void* a, const void* b, const void* c, int count);
using SelectRow = void (*)(void* dst, const void* a, const void* b, RowOrOne yes, RowOrOne no, int count);

// Whether a command may run fast rows: they read several elements before they write the first, so a source is dst
// itself or lies apart from it.
bool apart_or_same(const Chip& chip, const Tensor& dst, const Operand& source);
// A few elements are done before a vector of them is gathered.
inline constexpr int kFewElements = 4;
template <class... Sources>
bool fast_rows(const Memories& mem, const Tensor& dst, const Sources&... sources) {
  return !plain_kernels() && dst.shape.elements() > kFewElements && (apart_or_same(mem.chip(), dst, sources) && ...);
}

}  // namespace softtpu
