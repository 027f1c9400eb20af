// What a host program has to know of the chip, as functions of the kernel interface answer.
#pragma once

typedef struct {
  int npu_num;      // tpu_npu_num()
  int eu_bytes;     // tpu_eu_num() of bytes: the alignment of the aligned layout
  int ic_parallel;  // tpu_get_ic_parallel() of fp16: products that are summed at once, input channels side by side
} chip_t;

typedef struct {
  unsigned long long out;  // device address of a chip_t
} chip_args_t;
