// The corpus: kernels with one planted defect each (bug_NAME) and their twins without it (ok_NAME). A comment
// "finds RULE" marks the line that a finding has to name; "options ..." gives options of `softtpu run`, and
// "launches N" how often the kernel is launched, "cores N" on how many cores. tests/bugs/corpus_test.py reads them.
#pragma once

#include <tpu_kernel.h>

#include "../args.h"

// Local buffers, each in a bank of its own.
#define BANK(i) ((local_addr_t)((i)*16384))

#define KERNEL_WITHOUT_POLL(name)                  \
  static void name##_body(const bug_args_t* args); \
  void name(const void* raw) {                     \
    tpu_initialize();                              \
    name##_body(raw);                              \
  }                                                \
  TPUKERNEL_FUNC_REGISTER(name)                    \
  static void name##_body(const bug_args_t* args)

#define KERNEL_WITHOUT_INITIALIZE(name)            \
  static void name##_body(const bug_args_t* args); \
  void name(const void* raw) {                     \
    name##_body(raw);                              \
    tpu_poll();                                    \
  }                                                \
  TPUKERNEL_FUNC_REGISTER(name)                    \
  static void name##_body(const bug_args_t* args)

#define KERNEL(name)                               \
  static void name##_work(const bug_args_t* args); \
  KERNEL_WITHOUT_POLL(name) {                      \
    name##_work(args);                             \
    tpu_poll();                                    \
  }                                                \
  static void name##_work(const bug_args_t* args)

// One function, whose variables no call has written over before.
#define KERNEL_WITHOUT_PARTS(name) \
  void name(const void* raw);      \
  TPUKERNEL_FUNC_REGISTER(name)    \
  void name(const void* raw)

#define LOAD(dst, src, shape) tpu_gdma_cpy_S2L(dst, src, &(shape), NULL, NULL, DT_FP32)
#define STORE(dst, src, shape) tpu_gdma_cpy_L2S(dst, src, &(shape), NULL, NULL, DT_FP32)
#define ADD(dst, x, y, shape) tpu_bdc_fp_add(dst, x, y, &(shape), NULL, NULL, NULL, DT_FP32)

// One buffer: 64 channels of 4 x 16.
static const dim4 kWhole = {1, 64, 4, 16};
