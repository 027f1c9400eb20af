// A file whose loops are compiled once for each instruction set: it names itself as HWY_TARGET_INCLUDE, includes this
// header, defines its functions in softtpu::HWY_NAMESPACE, and ends with SOFTTPU_DISPATCH under HWY_ONCE.
// SOFTTPU_WITH_AVX3_DL, defined before, adds a variant.
#pragma once

// The later AVX-512 instructions (VNNI, VBMI, bit counts) only where they are used: elsewhere they would give the same
// code again.
#ifdef SOFTTPU_WITH_AVX3_DL
#define HWY_WANT_AVX3_DL
#define SOFTTPU_SIMD_TARGET SOFTTPU_ONLY_TARGET
#else
#define SOFTTPU_SIMD_TARGET (SOFTTPU_ONLY_TARGET == HWY_AVX3_DL ? HWY_AVX3 : SOFTTPU_ONLY_TARGET)
#endif
// A build for one instruction set (SOFTTPU_NATIVE_SIMD, fuzzers) names it; machines without it run the plain loops.
#ifdef SOFTTPU_ONLY_TARGET
#define HWY_DISABLED_TARGETS ((HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL) & ~SOFTTPU_SIMD_TARGET)
#else
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
// In each turn: whether there is nothing that loops could be compiled for. Then a row is nullptr, and the plain loops
// run.
#define SOFTTPU_NO_VECTORS (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)
#include "device/memory/simd_each_target.hpp"

// `name`, which a header declares, is `function` of the best instruction set that may be used (kernel_choice.hpp).
#define SOFTTPU_DISPATCH(result, name, parameters, function, arguments) \
  HWY_EXPORT(function);                                                 \
  result name parameters { return HWY_DYNAMIC_DISPATCH(function) arguments; }
