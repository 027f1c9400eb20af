// What the host program passes to the kernel.
#pragma once

typedef struct {
  // device addresses: out (n, c, h / 2, w / 2) uint8, in (n, c, h, w) int8, weights (c, 3, 3) int8, bias int32 per
  // channel, requant three int32 per channel: multiplier, shift, offset
  unsigned long long out, in, weights, bias, requant;
  int n, c, h, w;
  int in_zero;  // zero point of the input, the value of its padding
} depthwise_int8_args_t;
