// What the host program passes to the kernel. Both sides include this file, so that they agree.
#pragma once

typedef struct {
  unsigned long long out;  // device address: one fp32 per NPU
  float value;
} hello_args_t;
