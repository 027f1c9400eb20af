// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, left, right, bias;  // device addresses: m x n, m x k, k x n, n; fp32, row by row
  int m, k, n;
} matmul_args_t;
