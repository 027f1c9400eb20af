// What the host program passes to the kernel.
#pragma once

typedef struct {
  // device addresses: out and in are uint8, row by row, rows x outputs and rows x inputs; weights int8, outputs x
  // inputs; bias int32, one per output; requant int32, three per output: multiplier, shift, offset
  unsigned long long out, in, weights, bias, requant;
  int rows, inputs, outputs;
  int in_zero;  // zero point of the input
} int8_matmul_args_t;
