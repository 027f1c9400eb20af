/* What both kernel interfaces (tpu_kernel.h for the BM1684X family, okk.h for BM1684) share: addresses, shapes, and
 * what the log, assert and registration macros expand to. Included by them; kernels need not include it. */
#ifndef SOFTTPU_KERNEL_COMMON_H_
#define SOFTTPU_KERNEL_COMMON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef unsigned int local_addr_t;        /* unified local address: NPU * local memory size + offset */
typedef unsigned long long system_addr_t; /* any memory outside the NPUs */
typedef unsigned long long global_addr_t; /* DDR */

/* A shape, or a stride in elements. */
typedef struct {
  int n;
  int c;
  int h;
  int w;
} dim4;

typedef struct {
  int h;
  int w;
} dim2;

/* Ends the running launch with the text of a failed assertion. A program that holds its kernels itself ends with status
 * 233. */
void softtpu_kernel_assert_fail(const char* expression, const char* file, int line, const char* function)
    __attribute__((noreturn));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#define SOFTTPU_ASSERT(assertion) \
  ((assertion) ? (void)0 : softtpu_kernel_assert_fail(#assertion, __FILE__, __LINE__, __func__))

/* Runs register_function("func", func) when the program or module that holds the kernel is loaded. A kernel returns
 * nothing or an int; the detour over void (*)(void) is the conversion that -Wcast-function-type accepts for both. */
#define SOFTTPU_REGISTER(func, function_type, register_function)           \
  __attribute__((constructor)) static void softtpu_register_##func(void) { \
    register_function(#func, (function_type)(void (*)(void))func);         \
  }

#endif
