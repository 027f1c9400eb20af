#include "cases.h"

#define CONV(n, c, h, w, out_c, kh, kw, pad, stride, dilation) \
  { CONV2D, "conv2d", n, c, h, w, out_c, kh, kw, pad, stride, dilation, 0, 0, 0 }
#define DEPTH(n, c, h, w, kh, kw, pad, stride, dilation) \
  { DEPTHWISE, "depthwise", n, c, h, w, c, kh, kw, pad, stride, dilation, 0, 0, 0 }
#define PRODUCT(kernel, m, k, n) \
  { MATMUL, kernel, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, m, k, n }
#define SOFT(n, c, h, w) \
  { SOFTMAX, "softmax", n, c, h, w, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

const case_t kCases[] = {
    CONV(4, 3, 640, 640, 16, 3, 3, 1, 2, 1),
    CONV(4, 3, 512, 960, 16, 7, 7, 3, 1, 1),
    CONV(4, 3, 1080, 1920, 16, 3, 3, 1, 1, 1),
    CONV(4, 3, 384, 384, 24, 7, 7, 2, 4, 1),
    CONV(4, 3, 227, 227, 96, 11, 11, 0, 4, 1),
    CONV(4, 3, 127, 127, 192, 11, 11, 0, 2, 1),
    CONV(4, 18, 192, 256, 36, 3, 3, 1, 2, 1),
    CONV(4, 72, 160, 160, 72, 3, 3, 1, 2, 1),
    CONV(4, 128, 50, 50, 256, 3, 3, 2, 1, 2),
    CONV(4, 160, 30, 30, 192, 7, 1, 0, 1, 1),
    CONV(4, 256, 128, 128, 512, 1, 1, 0, 2, 1),
    CONV(4, 512, 28, 28, 512, 3, 3, 4, 1, 4),
    CONV(4, 1024, 10, 10, 546, 3, 3, 1, 1, 1),
    CONV(4, 2048, 28, 28, 256, 3, 3, 12, 1, 12),
    CONV(4, 4032, 11, 11, 672, 1, 1, 0, 1, 1),
    DEPTH(4, 3, 224, 224, 11, 11, 2, 4, 1),
    DEPTH(4, 3, 256, 256, 7, 7, 3, 2, 1),
    DEPTH(4, 3, 640, 640, 3, 3, 1, 2, 1),
    DEPTH(4, 96, 150, 150, 3, 3, 1, 2, 1),
    DEPTH(4, 144, 75, 75, 3, 3, 1, 1, 1),
    DEPTH(4, 192, 38, 38, 3, 3, 1, 2, 1),
    DEPTH(4, 336, 29, 29, 5, 5, 2, 2, 1),
    DEPTH(4, 512, 14, 14, 3, 3, 1, 2, 1),
    DEPTH(4, 960, 28, 28, 3, 3, 4, 1, 4),
    DEPTH(4, 2048, 33, 33, 3, 3, 6, 1, 6),
    PRODUCT("matmul_by_steps", 2, 100352, 2048),
    PRODUCT("matmul", 2, 1280, 1000),
    PRODUCT("matmul", 2, 25088, 4096),
    PRODUCT("matmul", 4, 25088, 1024),
    PRODUCT("matmul", 24, 256, 384),
    PRODUCT("matmul", 64, 9216, 4096),
    PRODUCT("matmul", 100, 827, 1000),
    PRODUCT("matmul", 200, 1296, 1024),
    PRODUCT("matmul", 256, 768, 3072),
    PRODUCT("matmul", 256, 3072, 768),
    PRODUCT("matmul", 96, 800, 640),
    PRODUCT("matmul", 1024, 1024, 1024),
    PRODUCT("matmul", 4, 2048, 1024),
    PRODUCT("matmul", 2, 1024, 12544),
    PRODUCT("matmul", 1, 25088, 4096),
    SOFT(1, 370, 13, 13),
    SOFT(1, 1000, 1, 1),
    SOFT(1, 8, 1, 44431),
    SOFT(1, 79, 1, 4090),
    SOFT(2, 21, 1, 3066),
};
const int kCaseCount = sizeof kCases / sizeof *kCases;
