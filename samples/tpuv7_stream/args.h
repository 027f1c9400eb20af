// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, a, b;  // device addresses of fp32
  int per_npu;                   // elements in each NPU, of all workitems together
  int factor;                    // out = a + factor * b
} axpy_args_t;
