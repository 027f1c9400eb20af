// What the host program passes to the kernel.
#pragma once

typedef struct {
  // Device addresses: E4M3 of rows x inner and inner x columns, a factor for each column, the fp32 result.
  unsigned long long left, right, factors, out;
  int rows, inner, columns;
} fp8_matmul_args_t;
