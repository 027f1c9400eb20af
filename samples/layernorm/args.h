// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, in;      // device addresses: rows x columns, fp16
  unsigned long long gamma, beta;  // columns, fp16
  int rows, columns;
  float epsilon;
} layernorm_args_t;
