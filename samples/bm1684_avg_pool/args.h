#pragma once

// output[n, c, oh, ow] = mean of the windows of input[n, c, h, w]; padding counts as zeros.
typedef struct {
  unsigned long long output, input;
  int n, c, h, w, kernel_h, kernel_w, pad, stride;
} __attribute__((packed)) pool_args_t;
