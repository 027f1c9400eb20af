// What the host program passes to the kernels.
#pragma once

typedef struct {
  unsigned long long out, in;  // device addresses, 32-bit elements
  int n, c, h, w;              // shape of the input
} transpose_args_t;
