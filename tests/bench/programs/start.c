/* Opens devices (one, or as many as its argument says) and prints how long that took (ms), then waits for the end of
 * its input, so that the caller can look at them. */
#include <bmlib_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static bm_handle_t start(int device) {
  bm_handle_t handle;
  if (bm_dev_request(&handle, device) != BM_SUCCESS) exit(1);
  return handle;
}

/* Takes memory and gives it back, as every program does. */
static void use(bm_handle_t handle) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, 4096) != BM_SUCCESS) exit(1);
  bm_free_device(handle, memory);
}

int main(int argc, char** argv) {
  enum { kMost = 64 };
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const double begin = now_ms();
  bm_handle_t handles[kMost];
  if (count < 1 || count > kMost) return fprintf(stderr, "usage: %s [DEVICES, 1 to %d]\n", argv[0], kMost), 2;
  for (int i = 0; i < count; ++i) handles[i] = start(i);
  printf("%.3f\n", now_ms() - begin);
  fflush(stdout);
  for (int i = 0; i < count; ++i) use(handles[i]);
  (void)getchar();
  for (int i = 0; i < count; ++i) bm_dev_free(handles[i]);
  return 0;
}
