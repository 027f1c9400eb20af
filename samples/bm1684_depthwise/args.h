#pragma once

// output[n, c, oh, ow] = depthwise(input[n, c, h, w], weight[c, kernel_h, kernel_w]) + bias[c].
typedef struct {
  unsigned long long output, input, weight, bias;
  int n, c, h, w, kernel_h, kernel_w, pad, stride, dilation;
} __attribute__((packed)) depthwise_args_t;
