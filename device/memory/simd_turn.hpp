// One turn of simd_each_target.hpp, which includes this header once for each instruction set. Highway's own headers are
// included again in a turn because HWY_TARGET_TOGGLE changes from turn to turn.
#include HWY_TARGET_INCLUDE
#ifdef HWY_TARGET_TOGGLE
#undef HWY_TARGET_TOGGLE
#else
#define HWY_TARGET_TOGGLE
#endif
