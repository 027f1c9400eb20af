/* Opens a device and prints how long that took (ms), then waits for the end of its input, so that the caller can look at the device. */
#include <bmlib_runtime.h>
#include <stdio.h>
#include <time.h>

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(void) {
  const double start = now_ms();
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  printf("%.3f\n", now_ms() - start);
  fflush(stdout);
  (void)getchar();
  bm_dev_free(handle);
  return 0;
}
