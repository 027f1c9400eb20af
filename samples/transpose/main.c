// Four transposes of a tensor (2, 70, 9, 50), each element compared.
#include "../common/host.h"
#include "args.h"

static const int kShape[4] = {2, 70, 9, 50};
enum { COUNT = 2 * 70 * 9 * 50 };

// order[i]: the dimension of the input that becomes dimension i of the output.
static const struct {
  const char* kernel;
  int order[4];
} kCases[] = {{"nchw_to_nhwc", {0, 2, 3, 1}},
              {"swap_n_and_c", {1, 0, 2, 3}},
              {"swap_c_and_h", {0, 2, 1, 3}},
              {"swap_c_and_w", {0, 3, 2, 1}}};

static int in[COUNT], out[COUNT];

// Place in the input of the element at place `index` of the output.
static int source_of(int index, const int* order) {
  int position[4];
  for (int i = 3; i >= 0; --i) {
    position[order[i]] = index % kShape[order[i]];
    index /= kShape[order[i]];
  }
  return ((position[0] * kShape[1] + position[1]) * kShape[2] + position[2]) * kShape[3] + position[3];
}

int main(int argc, char** argv) {
  for (int i = 0; i < COUNT; ++i) in[i] = i;
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  const transpose_args_t args = {
      allocate(sizeof out), upload(in, sizeof in), kShape[0], kShape[1], kShape[2], kShape[3]};
  int all = 0;
  for (size_t test = 0; test < sizeof kCases / sizeof *kCases; ++test) {
    launch(kCases[test].kernel, &args, sizeof args);
    download(out, args.out, sizeof out);
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) wrong += out[i] != in[source_of(i, kCases[test].order)];
    printf("%s: %d elements, %d wrong\n", kCases[test].kernel, COUNT, wrong);
    all += wrong;
  }
  release(args.out, sizeof out), release(args.in, sizeof in);
  close_device();
  return all == 0 ? 0 : 1;
}
