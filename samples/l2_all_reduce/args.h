// What the host program passes to the kernel.
#pragma once

typedef struct {
  // Device addresses: an array of `count` fp32 for each core, and the sum of all arrays once for each core.
  unsigned long long in, out;
  int count;
} all_reduce_args_t;
