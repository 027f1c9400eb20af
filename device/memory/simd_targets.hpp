// A file whose loops are compiled once for each instruction set: it names itself as HWY_TARGET_INCLUDE, includes this
// header, defines its functions in softtpu::HWY_NAMESPACE, and ends with SOFTTPU_DISPATCH under HWY_ONCE.
// SOFTTPU_WITH_AVX3_DL, defined before, adds a variant.
#pragma once

#ifdef SOFTTPU_FUZZ
// One instruction set that nearly every machine has, and the loops for all others: each set takes minutes to compile
// with coverage and sanitizers.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#else
// The later AVX-512 instructions (VNNI, VBMI, bit counts) only where they are used: elsewhere they would give the same
// code again.
#ifdef SOFTTPU_WITH_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// `name`, which a header declares, is `function` of the best instruction set that may be used (kernel_choice.hpp).
#define SOFTTPU_DISPATCH(result, name, parameters, function, arguments) \
  HWY_EXPORT(function);                                                 \
  result name parameters { return HWY_DYNAMIC_DISPATCH(function) arguments; }
