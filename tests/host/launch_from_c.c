// tpu_kernel_launch_async in its two forms, called from C, where the type of the second argument chooses.
#include "bmlib_runtime.h"

bm_status_t launch_async_by_id_from_c(bm_handle_t handle, tpu_kernel_function_t function, void* args, unsigned size);
bm_status_t launch_async_by_name_from_c(bm_handle_t handle, const char* name, void* args, unsigned size);

bm_status_t launch_async_by_id_from_c(bm_handle_t handle, tpu_kernel_function_t function, void* args, unsigned size) {
  return tpu_kernel_launch_async(handle, function, args, size);
}

bm_status_t launch_async_by_name_from_c(bm_handle_t handle, const char* name, void* args, unsigned size) {
  return tpu_kernel_launch_async(handle, name, args, size);
}
