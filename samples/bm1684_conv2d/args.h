#pragma once

// output[n, out_c, oh, ow] = conv(input[n, c, h, w]) + bias[out_c]. weight: [ceil(c / 2), out_c, kernel_h, kernel_w]
// pairs of fp32, one for each of two neighbouring input channels.
typedef struct {
  unsigned long long output, input, weight, bias;
  int n, c, h, w, out_c, kernel_h, kernel_w, pad, stride, dilation;
} __attribute__((packed)) conv_args_t;
