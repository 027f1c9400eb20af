#pragma once

typedef struct {
  unsigned long long output, left, right;  // row by row, no gaps
  int m, k, n;                             // output[m, n] = left[m, k] x right[k, n]
} __attribute__((packed)) matmul_args_t;
