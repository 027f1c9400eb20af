// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, a, b;  // device addresses of fp32 arrays
  unsigned long long count;      // elements; a multiple of the number of NPUs
} add_args_t;
