// Convolutions of several shapes on the device, compared with double precision.
#include "../bm1684_common/host.h"
#include "../bm1684_common/windows.h"
#include "args.h"

// n, c, h, w, out_c, kernel_h, kernel_w, pad, stride, dilation
static const host_window_t kCases[] = {
    {1, 1, 3, 3, 1, 1, 1, 0, 1, 1},     {1, 3, 64, 64, 8, 3, 3, 1, 1, 1},   {2, 5, 17, 23, 66, 3, 2, 1, 2, 1},
    {1, 16, 60, 60, 16, 3, 3, 6, 1, 6}, {1, 4, 40, 40, 8, 3, 3, 12, 1, 12}, {8, 66, 9, 9, 10, 1, 1, 0, 1, 1},
    {1, 32, 56, 56, 32, 3, 3, 1, 1, 1}, {4, 7, 41, 37, 13, 5, 4, 3, 3, 2},  {1, 3, 301, 299, 24, 3, 3, 1, 1, 1}};

// [out_c, c, kh, kw] -> pairs of input channels; the missing partner of an odd last channel is 0.
static float* to_2ic(const float* weight, const host_window_t* win) {
  const int pairs = (win->c + 1) / 2, taps = win->kernel_h * win->kernel_w;
  float* packed = calloc((size_t)(2 * pairs * win->out_c * taps), sizeof *packed);
  for (int oc = 0; oc < win->out_c; ++oc)
    for (int c = 0; c < win->c; ++c)
      for (int tap = 0; tap < taps; ++tap)
        packed[((c / 2 * win->out_c + oc) * taps + tap) * 2 + c % 2] = weight[(oc * win->c + c) * taps + tap];
  return packed;
}

static double reference(const float* input, const float* weight, const host_window_t* win, int n, int oc, int y,
                        int x) {
  double sum = 0;
  for (int c = 0; c < win->c; ++c)
    for (int i = 0; i < win->kernel_h; ++i)
      for (int j = 0; j < win->kernel_w; ++j)
        sum +=
            pixel(input, win, n, c, y, x, i, j) * weight[((oc * win->c + c) * win->kernel_h + i) * win->kernel_w + j];
  return sum;
}

static double run(const host_window_t* win) {
  const int oh = host_extent(win->h, win->kernel_h, win), ow = host_extent(win->w, win->kernel_w, win);
  const int taps = win->kernel_h * win->kernel_w;
  const size_t inputs = (size_t)(win->n * win->c * win->h * win->w), outputs = (size_t)(win->n * win->out_c * oh * ow);
  float* input = numbers(inputs, 1);
  float* weight = numbers((size_t)(win->out_c * win->c * taps), 2);
  float* bias = numbers((size_t)win->out_c, 3);
  float* packed = to_2ic(weight, win);
  double* want = malloc(outputs * sizeof *want);
  size_t at = 0;
  for (int n = 0; n < win->n; ++n)
    for (int oc = 0; oc < win->out_c; ++oc)
      for (int y = 0; y < oh; ++y)
        for (int x = 0; x < ow; ++x) want[at++] = reference(input, weight, win, n, oc, y, x) + bias[oc];
  bm_device_mem_t memory[4] = {device_memory(outputs), upload(input, inputs),
                               upload(packed, (size_t)((win->c + 1) / 2 * 2 * win->out_c * taps)),
                               upload(bias, (size_t)win->out_c)};
  const conv_args_t args = {bm_mem_get_device_addr(memory[0]),
                            bm_mem_get_device_addr(memory[1]),
                            bm_mem_get_device_addr(memory[2]),
                            bm_mem_get_device_addr(memory[3]),
                            win->n,
                            win->c,
                            win->h,
                            win->w,
                            win->out_c,
                            win->kernel_h,
                            win->kernel_w,
                            win->pad,
                            win->stride,
                            win->dilation};
  launch("conv2d", &args, sizeof args);
  const double difference = compare(memory[0], want, outputs);
  printf("[%d, %d, %d, %d] -> %d channels, %dx%d, padding %d, stride %d, dilation %d: largest difference %.1e\n",
         win->n, win->c, win->h, win->w, win->out_c, win->kernel_h, win->kernel_w, win->pad, win->stride, win->dilation,
         difference);
  for (int i = 0; i < 4; ++i) bm_free_device(handle, memory[i]);
  free(input), free(weight), free(bias), free(packed), free(want);
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
