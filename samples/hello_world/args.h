// What the host program passes to the kernel. Both sides include this file, so that they agree.
#pragma once

typedef struct {
  unsigned long long out;  // device address of fp32
  float value;
  int count;  // numbers to write
} hello_args_t;
