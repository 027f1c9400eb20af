// Launches the kernels of device_atomic.c.
#include <cstdio>

#include "bm_atomic.h"
#include "bmlib_runtime.h"

int main() {
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  const int included = okkernel_launch_sync(handle, "atomic_included", nullptr, 0);
  const int called = okkernel_launch_sync(handle, "atomic_called", nullptr, 0);
  std::printf("atomic: statuses %d and %d\n", included, called);
  bm_dev_free(handle);
  return included == BM_SUCCESS && called == BM_NOT_SUPPORTED ? 0 : 2;
}
