// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, in;  // device addresses: rows x columns of fp32, row by row
  int rows, columns;           // any
} softmax_rows_args_t;
