// What the host program passes to the kernel, and what the kernel tells about its run.
#pragma once

enum { kLayers = 4, kScores = 10, kSide = 8 };
enum { kFp32 = 0, kFp16 = 1, kInt8 = 2 };

typedef struct {
  unsigned long long block;  // device address: weights and bias, merged
  int lanes, lane_bytes, weight_offset;
  int oc, window, padding;
  int pool;    // 1: followed by 2 x 2 max pooling
  int rshift;  // of the integer network
} layer_t;

typedef struct {
  unsigned long long images;  // device address: count x 8 x 8 fp32 in 0..1
  unsigned long long scores;  // device address: count x 10; fp32, of the integer network int16
  unsigned long long report;  // device address: report_t
  layer_t layers[kLayers];
  int type, count, batch;
  float input_scale;  // of the integer network: 1.0 is this number
} digits_args_t;

typedef struct {
  unsigned compute_commands, copy_commands;
  unsigned long long bytes;  // moved between global and local memory
} report_t;
