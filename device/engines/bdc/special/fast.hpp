// Rows of series, roots, quotients and tables with SIMD instructions. Each does whole vectors from the front of a row
// and returns how many elements it has done; the plain loops of sfu.cpp and lookup.cpp do the rest.
#pragma once

#include "device/engines/bdc/special/command.hpp"
#include "device/isa/types.hpp"
#include "device/numeric/root_ends.hpp"

namespace softtpu {

struct SfuRows {
  int (*taylor)(void* dst, const void* src, int count, const float* coeff, int terms) = nullptr;
  int (*root)(void* dst, const void* src, int count, RootMode mode, int iterations, RootEnds ends) = nullptr;
  int (*divide)(void* dst, const void* a, const void* b, int count, int iterations, RootEnds ends) = nullptr;
};

// Null pointers where the machine has no SIMD instructions.
SfuRows fast_sfu_rows(Dtype type);

// dst[i] = table[src[i]], or table[last] for larger indices; 32-bit elements.
struct LookupRows {
  int (*by_byte)(std::uint32_t* dst, const std::uint8_t* src, int count, const std::uint32_t* table,
                 int last) = nullptr;
  int (*by_half)(std::uint32_t* dst, const std::uint16_t* src, int count, const std::uint32_t* table,
                 int last) = nullptr;
  // The largest of a row; 0 of none.
  std::uint8_t (*largest_byte)(const std::uint8_t* values, int count) = nullptr;
  std::uint16_t (*largest_half)(const std::uint16_t* values, int count) = nullptr;
};
LookupRows fast_lookup_rows();

}  // namespace softtpu
