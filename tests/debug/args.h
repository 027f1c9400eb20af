#pragma once

#define DEBUG_ELEMENTS 4096

typedef struct {
  unsigned long long data;
} debug_args_t;
