// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, left, right;  // device addresses: m x n, m x k, k x n; fp16, row by row
  int m, k, n;
} fp16_matmul_args_t;
