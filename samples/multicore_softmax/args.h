// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, in;  // device addresses: rows x columns of fp32
  int rows, columns;
} softmax_args_t;
