// Softmax of several shapes on the device, compared with double precision.
#include "../bm1684_common/host.h"
#include "args.h"

static const struct {
  int n, c, pixels;
} kCases[] = {{1, 2, 1}, {1, 1000, 1}, {2, 21, 777}, {8, 66, 49}, {1, 150, 5000}};

static double run(int n, int c, int pixels) {
  const size_t count = (size_t)(n * c * pixels);
  float* input = numbers(count, 1);
  double* want = malloc(count * sizeof *want);
  for (size_t i = 0; i < count; ++i) input[i] *= 60.f;
  for (int batch = 0; batch < n; ++batch)
    for (int pixel = 0; pixel < pixels; ++pixel) {
      const size_t first = (size_t)(batch * c * pixels + pixel);
      double largest = -1e30, sum = 0;
      for (int i = 0; i < c; ++i) largest = fmax(largest, input[first + (size_t)(i * pixels)]);
      for (int i = 0; i < c; ++i) sum += exp(input[first + (size_t)(i * pixels)] - largest);
      for (int i = 0; i < c; ++i)
        want[first + (size_t)(i * pixels)] = exp(input[first + (size_t)(i * pixels)] - largest) / sum;
    }
  bm_device_mem_t memory[2] = {device_memory(count), upload(input, count)};
  const softmax_args_t args = {bm_mem_get_device_addr(memory[0]), bm_mem_get_device_addr(memory[1]), n, c, pixels};
  launch("softmax", &args, sizeof args);
  const double difference = compare(memory[0], want, count);
  printf("%d batches, %d channels, %d pixels: largest difference %.1e\n", n, c, pixels, difference);
  for (int i = 0; i < 2; ++i) bm_free_device(handle, memory[i]);
  free(input), free(want);
  return difference;
}

int main(int argc, char** argv) {
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  double worst = 0;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    const double difference = run(kCases[i].n, kCases[i].c, kCases[i].pixels);
    if (!(difference <= worst)) worst = difference;
  }
  bm_dev_free(handle);
  return worst < 1e-5 ? 0 : 1;
}
