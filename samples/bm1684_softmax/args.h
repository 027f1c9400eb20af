#pragma once

// output[n, c, p] = softmax of input[n, c, p] over c; p counts the pixels of a feature.
typedef struct {
  unsigned long long output, input;
  int n, c, pixels;
} __attribute__((packed)) softmax_args_t;
