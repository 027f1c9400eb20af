// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, in, block;  // device addresses: fp16, fp16, merged weights and bias
  int n, ic, h, w, oc;                // the window is 3 x 3, padded by 1
  int lanes, lane_bytes;              // of the block: NPUs, bytes in one NPU
  int weight_offset;                  // of the weights behind the bias
} conv_args_t;
