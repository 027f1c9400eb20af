// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out, queries, keys, values;  // device addresses: tokens x heads x size, fp16
  int tokens, heads, size;
  float scale;  // of the scores: 1 / sqrt(size)
} attention_args_t;
