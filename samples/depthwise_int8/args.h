// What the host program passes to the kernel.
#pragma once

typedef struct {
  // device addresses: out (n, c, h / 2, w / 2) uint8, in (n, c, h, w) int8, weights (c, 3, 3) int8, bias int32 per
  // channel, requant per channel: three int32, multiplier, shift and offset, or two, as later chips have them:
  // multiplier, and shift in the low byte with the offset in the upper half
  unsigned long long out, in, weights, bias, requant;
  int n, c, h, w;
  int in_zero;        // zero point of the input, the value of its padding
  int requant_words;  // of each channel
} depthwise_int8_args_t;
