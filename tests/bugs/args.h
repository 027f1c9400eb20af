// What the host program passes to every kernel of the corpus. Each buffer holds 4096 fp32 numbers.
#pragma once

#define BUFFER_ELEMENTS 4096

typedef struct {
  unsigned long long out;      // allocated first, to be filled by the kernel
  unsigned long long a, b;     // written by the host
  unsigned long long scratch;  // allocated, not written by the host
  unsigned long long freed;    // freed before the launch
  int pass;                    // 0 in the first launch, 1 in the second ...
} bug_args_t;
