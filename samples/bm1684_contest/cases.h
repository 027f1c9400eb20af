// The 45 cases: shapes like those of the public contest on BM1684, and the kernel of each.
#pragma once

typedef enum { CONV2D, DEPTHWISE, MATMUL, SOFTMAX } operator_t;

typedef struct {
  operator_t operator_;
  const char* kernel;
  int n, c, h, w, out_c, kernel_h, kernel_w, pad, stride, dilation; /* windows; softmax: n, c, h x w */
  int m, k, columns;                                                /* matmul: m x k, k x columns */
} case_t;

extern const case_t kCases[];
extern const int kCaseCount;
