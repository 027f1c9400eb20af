// A product of two matrices that are stored as FP8 (E4M3), each column of the right one with a scale of its own:
// compared with the product of the stored numbers, and with that of the numbers before they were rounded.
#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"

enum { ROWS = 48, INNER = 200, COLUMNS = 96 };

static unsigned char left[ROWS][INNER], right[INNER][COLUMNS];
static double left_exact[ROWS][INNER], right_exact[INNER][COLUMNS];
static float factors[COLUMNS], out[ROWS][COLUMNS];

// The value of an E4M3: a sign, four bits of exponent with bias 7, three of mantissa.
static double value_of(int bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const double magnitude = exponent == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

// The nearest E4M3 of a number within +-448.
static unsigned char to_e4m3(double value) {
  int best = 0;
  for (int bits = 1; bits < 0x7F; ++bits)
    if (fabs(value_of(bits) - fabs(value)) < fabs(value_of(best) - fabs(value))) best = bits;
  return (unsigned char)(best | (value < 0 ? 0x80 : 0));
}

static double random_number(void) {
  static unsigned seed = 11;
  seed = seed * 1664525u + 1013904223u;
  return (double)(seed >> 8) / (1 << 23) - 1.0;
}

static bm_device_mem_t copied(bm_handle_t handle, void* data, unsigned bytes) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, bytes) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, memory, data) != BM_SUCCESS) {
    fprintf(stderr, "no device memory\n");
    exit(1);
  }
  return memory;
}

int main(int argc, char** argv) {
  setenv("SOFTTPU_CHIP", "bm1690", 0);  // a chip that has FP8, unless the user names another one
  for (int i = 0; i < ROWS * INNER; ++i) {
    const double number = 16 * random_number();
    left_exact[i / INNER][i % INNER] = number;
    left[i / INNER][i % INNER] = to_e4m3(number);
  }
  for (int j = 0; j < COLUMNS; ++j) {
    // A column's numbers are stretched so that the largest becomes 448, the largest E4M3.
    const double reach = pow(10, 2 * random_number());
    double largest = 0;
    for (int k = 0; k < INNER; ++k) {
      right_exact[k][j] = reach * random_number();
      largest = fmax(largest, fabs(right_exact[k][j]));
    }
    factors[j] = (float)(largest / 448);
    for (int k = 0; k < INNER; ++k) right[k][j] = to_e4m3(right_exact[k][j] / factors[j]);
  }

  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  bm_device_mem_t l = copied(handle, left, sizeof left), r = copied(handle, right, sizeof right);
  bm_device_mem_t f = copied(handle, factors, sizeof factors), o = copied(handle, out, sizeof out);
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argc > 1 ? argv[1] : KERNEL_MODULE);
  if (module == NULL) return fprintf(stderr, "cannot load the kernel module\n"), 1;
  fp8_matmul_args_t args = {bm_mem_get_device_addr(l),
                            bm_mem_get_device_addr(r),
                            bm_mem_get_device_addr(f),
                            bm_mem_get_device_addr(o),
                            ROWS,
                            INNER,
                            COLUMNS};
  if (tpu_kernel_launch(handle, tpu_kernel_get_function(handle, module, "fp8_matmul"), &args, sizeof args) !=
      BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;
  if (bm_memcpy_d2s(handle, out, o) != BM_SUCCESS) return 1;

  double of_stored = 0, of_exact = 0;
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      double stored = 0, exact = 0, size = 0;
      for (int k = 0; k < INNER; ++k) {
        stored += value_of(left[i][k]) * value_of(right[k][j]) * factors[j];
        exact += left_exact[i][k] * right_exact[k][j];
        size += fabs(left_exact[i][k] * right_exact[k][j]);
      }
      if (isnan(out[i][j])) of_stored = INFINITY;
      of_stored = fmax(of_stored, fabs(out[i][j] - stored) / size);
      of_exact = fmax(of_exact, fabs(out[i][j] - exact) / size);
    }
  }
  printf(
      "largest difference, in parts of the sum of magnitudes: %.1e from the stored numbers, %.1e from those before "
      "rounding\n",
      of_stored, of_exact);
  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, l);
  bm_free_device(handle, r);
  bm_free_device(handle, f);
  bm_free_device(handle, o);
  bm_dev_free(handle);
  return of_stored < 1e-6 && of_exact < 0.05 ? 0 : 1;
}
