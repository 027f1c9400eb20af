// Rows of series, roots and quotients with SIMD instructions. Each does whole vectors from the front of a row and
// returns how many elements it has done; the plain loops of sfu.cpp do the rest.
#pragma once

#include "device/isa/commands/sfu.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

struct SfuRows {
  int (*taylor)(void* dst, const void* src, int count, const float* coeff, int terms) = nullptr;
  int (*root)(void* dst, const void* src, int count, RootMode mode, int iterations) = nullptr;
  int (*divide)(void* dst, const void* a, const void* b, int count, int iterations) = nullptr;
};

// Null pointers where the machine has no SIMD instructions.
SfuRows fast_sfu_rows(Dtype type);

}  // namespace softtpu
