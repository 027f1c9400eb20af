// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long data;  // device address of fp32, one block of the size below
  float factor, summand;
  int channels, per_channel;
} step_args_t;
