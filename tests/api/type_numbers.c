/* The numbers of data types that the headers have for a chip, which the chip's functions expect. */
#include "tpu_kernel.h"

#ifdef __bm1684x2__
_Static_assert(DT_FP16 == 21 && DT_BFP16 == 23 && DT_FP4 == 11 && DT_F16 == 3, "BM1684X2 numbers these on its own");
#else
_Static_assert(DT_FP16 == 3 && DT_BFP16 == 11, "the numbers of every other chip");
#endif
_Static_assert(DT_FP32 == 5 && DT_INT8 == 1 && DT_FP8E4M3 == 47, "the numbers of all chips");
