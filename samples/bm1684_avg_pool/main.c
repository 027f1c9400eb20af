// Average pools of several shapes on the device, compared with double precision.
#include "../bm1684_common/host.h"
#include "../bm1684_common/windows.h"
#include "args.h"

// n, c, h, w, out_c, kernel_h, kernel_w, pad, stride, dilation
static const host_window_t kCases[] = {{1, 1, 2, 2, 1, 2, 2, 0, 1, 1},
                                       {4, 67, 15, 21, 67, 3, 2, 1, 2, 1},
                                       {1, 64, 112, 112, 64, 3, 3, 1, 2, 1},
                                       {8, 200, 7, 7, 200, 7, 7, 0, 1, 1},
                                       {2, 64, 225, 224, 64, 3, 3, 0, 1, 1}};

static double run(const host_window_t* win) {
  const int oh = host_extent(win->h, win->kernel_h, win), ow = host_extent(win->w, win->kernel_w, win);
  const size_t inputs = (size_t)(win->n * win->c * win->h * win->w), outputs = (size_t)(win->n * win->c * oh * ow);
  float* input = numbers(inputs, 1);
  double* want = malloc(outputs * sizeof *want);
  size_t at = 0;
  for (int n = 0; n < win->n; ++n)
    for (int c = 0; c < win->c; ++c)
      for (int y = 0; y < oh; ++y)
        for (int x = 0; x < ow; ++x) {
          double sum = 0;
          for (int i = 0; i < win->kernel_h; ++i)
            for (int j = 0; j < win->kernel_w; ++j) sum += pixel(input, win, n, c, y, x, i, j);
          want[at++] = sum / (win->kernel_h * win->kernel_w);
        }
  bm_device_mem_t memory[2] = {device_memory(outputs), upload(input, inputs)};
  const pool_args_t args = {bm_mem_get_device_addr(memory[0]),
                            bm_mem_get_device_addr(memory[1]),
                            win->n,
                            win->c,
                            win->h,
                            win->w,
                            win->kernel_h,
                            win->kernel_w,
                            win->pad,
                            win->stride};
  launch("avg_pool", &args, sizeof args);
  const double difference = compare(memory[0], want, outputs);
  printf("[%d, %d, %d, %d], %dx%d, padding %d, stride %d: largest difference %.1e\n", win->n, win->c, win->h, win->w,
         win->kernel_h, win->kernel_w, win->pad, win->stride, difference);
  for (int i = 0; i < 2; ++i) bm_free_device(handle, memory[i]);
  free(input), free(want);
  return difference;
}

int main(int argc, char** argv) {
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  double worst = 0;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    const double difference = run(&kCases[i]);
    if (!(difference <= worst)) worst = difference;
  }
  bm_dev_free(handle);
  return worst < 1e-5 ? 0 : 1;
}
