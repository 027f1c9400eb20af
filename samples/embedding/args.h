// What the host program passes to the kernel.
#pragma once

typedef struct {
  unsigned long long out;        // device address: tokens x size, fp16
  unsigned long long table;      // words x size, fp16
  unsigned long long positions;  // tokens x size, fp16
  unsigned long long tokens;     // int32 for each token: its row of the table
  int count, words, size;
} embedding_args_t;
