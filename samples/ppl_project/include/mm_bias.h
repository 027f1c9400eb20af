// Made by a compiler from mm_bias.pl: what the host calls.
#pragma once

#include <tpuDNN.h>

#ifdef __cplusplus
extern "C" {
#endif

int mm_bias(tpudnnHandle_t handle, unsigned long long ptr_out, unsigned long long ptr_left,
            unsigned long long ptr_right, unsigned long long ptr_bias, int M, int K, int N, int block_num);

#ifdef __cplusplus
}
#endif
