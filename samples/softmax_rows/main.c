// Softmax of short and of very long rows, compared with double precision.
#include "../common/host.h"
#include "args.h"

static const struct { int rows, columns; } kCases[] = {{200, 1}, {1, 17}, {130, 1000}, {65, 4096}, {3, 70000}};

static double worst_difference(const float* in, const float* out, int columns) {
  double largest = in[0], sum = 0, worst = 0;
  for (int i = 0; i < columns; ++i) largest = fmax(largest, in[i]);
  for (int i = 0; i < columns; ++i) sum += exp(in[i] - largest);
  for (int i = 0; i < columns; ++i) {
    const double want = exp(in[i] - largest) / sum;
    worst = larger_difference(worst, fabs(out[i] - want) / want);
  }
  return worst;
}

int main(int argc, char** argv) {
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  int good = 1;
  for (size_t test = 0; test < sizeof kCases / sizeof *kCases; ++test) {
    const int rows = kCases[test].rows, columns = kCases[test].columns;
    const size_t count = (size_t)rows * (size_t)columns, bytes = count * sizeof(float);
    float *in = malloc(bytes), *out = malloc(bytes);
    for (size_t i = 0; i < count; ++i) in[i] = 8 * random_float();
    const softmax_rows_args_t args = {allocate(bytes), upload(in, bytes), rows, columns};
    launch("softmax_rows", &args, sizeof args);
    download(out, args.out, bytes);
    double worst = 0;
    for (int row = 0; row < rows; ++row) {
      worst = larger_difference(
          worst, worst_difference(in + (size_t)row * (size_t)columns, out + (size_t)row * (size_t)columns, columns));
    }
    printf("%3d rows of %5d: largest relative difference from double precision %.1e\n", rows, columns, worst);
    good = good && worst < 1e-5;
    release(args.out, bytes), release(args.in, bytes);
    free(in), free(out);
  }
  close_device();
  return good ? 0 : 1;
}
