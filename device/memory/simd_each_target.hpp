// Includes HWY_TARGET_INCLUDE once for each instruction set of the build but the one that the compiler assumes anyway,
// which follows when the file goes on. hwy/foreach_target.h does the same; but what a system header includes is a
// system header too, and compilers give no warnings for it.
#pragma once

#include <hwy/detect_targets.h>

#ifdef HWY_HIGHWAY_INCLUDED
#error "hwy/highway.h may not be included before this header: it would choose an instruction set"
#endif
#if (HWY_TARGETS & ~HWY_STATIC_TARGET & \
     ~(HWY_EMU128 | HWY_SCALAR | HWY_NEON | HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)) != 0
#error "an instruction set of the build has no turn in this header"
#endif

#undef HWY_ONCE
#define HWY_ONCE 0

#if (HWY_TARGETS & HWY_EMU128) != 0 && HWY_STATIC_TARGET != HWY_EMU128
#undef HWY_TARGET
#define HWY_TARGET HWY_EMU128
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_SCALAR) != 0 && HWY_STATIC_TARGET != HWY_SCALAR
#undef HWY_TARGET
#define HWY_TARGET HWY_SCALAR
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_NEON) != 0 && HWY_STATIC_TARGET != HWY_NEON
#undef HWY_TARGET
#define HWY_TARGET HWY_NEON
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_SSSE3) != 0 && HWY_STATIC_TARGET != HWY_SSSE3
#undef HWY_TARGET
#define HWY_TARGET HWY_SSSE3
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_SSE4) != 0 && HWY_STATIC_TARGET != HWY_SSE4
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE4
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_AVX2) != 0 && HWY_STATIC_TARGET != HWY_AVX2
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_AVX3) != 0 && HWY_STATIC_TARGET != HWY_AVX3
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include "device/memory/simd_turn.hpp"
#endif

#if (HWY_TARGETS & HWY_AVX3_DL) != 0 && HWY_STATIC_TARGET != HWY_AVX3_DL
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3_DL
#include "device/memory/simd_turn.hpp"
#endif

#undef HWY_ONCE
#define HWY_ONCE 1
#undef HWY_TARGET
#define HWY_TARGET HWY_STATIC_TARGET
#include <hwy/highway.h>
