// What the host program passes to the kernel.
#pragma once

typedef struct {
  // device addresses: out uint8, in int8, row by row, rows x outputs and rows x inputs; weights int8, outputs x
  // inputs; bias int32, one per output; requant int32, three per output on BM1684X: multiplier,
  // shift, offset; two on later chips, where shift and offset are the low byte and the high half of the second
  unsigned long long out, in, weights, bias, requant;
  int rows, inputs, outputs;
  int in_zero;        // zero point of the input
  int requant_words;  // 3 or 2
} int8_matmul_args_t;
