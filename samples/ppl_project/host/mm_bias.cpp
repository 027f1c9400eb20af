// Made by a compiler from mm_bias.pl: packs the arguments and launches the kernel.
#include "mm_bias.h"

typedef struct {
  unsigned long long v1, v2, v3, v4;
  int v5, v6, v7;
  int pad;
} mm_bias_api_t;

extern "C" int mm_bias(tpudnnHandle_t handle, unsigned long long ptr_out, unsigned long long ptr_left,
                       unsigned long long ptr_right, unsigned long long ptr_bias, int M, int K, int N, int block_num) {
  mm_bias_api_t api = {ptr_out, ptr_left, ptr_right, ptr_bias, M, K, N, 0};
  return tpudnnLaunchKernel(handle, "mm_bias", &api, sizeof(api), 1, block_num);
}
