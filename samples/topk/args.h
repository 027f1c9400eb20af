// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long values, places;  // device addresses: rows x k, fp32 and int32
  unsigned long long in;              // rows x columns, fp32
  int rows, columns, k;
} topk_args_t;
