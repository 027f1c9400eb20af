#pragma once

typedef struct {
  unsigned long long address;
  int value;
  int unused;
} rt_param_t;
