// Host references for windows that move over feature maps, in double precision.
#ifndef BM1684_WINDOWS_H
#define BM1684_WINDOWS_H

typedef struct {
  int n, c, h, w, out_c, kernel_h, kernel_w, pad, stride, dilation;
} host_window_t;

static int host_extent(int extent, int kernel, const host_window_t* win) {
  return (extent + 2 * win->pad - ((kernel - 1) * win->dilation + 1)) / win->stride + 1;
}

// The input element under tap (i, j) of output pixel (y, x); padding is 0.
static double pixel(const float* input, const host_window_t* win, int n, int c, int y, int x, int i, int j) {
  const int h = y * win->stride - win->pad + i * win->dilation;
  const int w = x * win->stride - win->pad + j * win->dilation;
  if (h < 0 || h >= win->h || w < 0 || w >= win->w) return 0;
  return input[((n * win->c + c) * win->h + h) * win->w + w];
}

#endif
