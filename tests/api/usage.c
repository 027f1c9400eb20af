// Source in the styles that programs in the field are written in; it must compile as C and as C++ without a warning.
#include "bmlib_runtime.h"
#include "okk.h"
#include "tpu_kernel.h"

typedef struct {
  unsigned long long output;
  int length;
} __attribute__((packed)) param_t;

void kernel_without_result(const void* args);
void kernel_without_result(const void* args) {
  const param_t* param = (const param_t*)args;
  TPUKERNEL_ASSERT(param->length > 0);
  TPUKERNEL_ASSERT_INFO(param->length > 0, "length too small");
  TPUKERNEL_ASSERT_INFO(param->length > 0, "length is %d", param->length);
  TPUKERNEL_LOG("text only\n");
  TPUKERNEL_LOG("length %d\n", param->length);
  TPUKERNEL_ERR("text only\n");
  TPUKERNEL_DBG("length %d\n", param->length);
}
TPUKERNEL_FUNC_REGISTER(kernel_without_result)

int kernel_with_result(const void* args);
int kernel_with_result(const void* args) {
  const dim4 shape = {1, NPU_NUM, 1, EU_NUM};
  dim4 stride;
  scalar_t value;
  UNUSED(args);
  value.u32 = FP_NEG_MAX(DT_FP16);
  tpu_initialize();
  tpu_aligned_stride(&stride, 0, &shape, DT_FP16);
  tpu_bdc_set_C(ALIGN(DIV_UP(3, 2), ALIGN_BYTES), value, &shape, NULL, DT_FP16);
  tpu_poll();
  return MAX(0, MIN(stride.n, 0));
}
TPUKERNEL_FUNC_REGISTER(kernel_with_result);

static int kernel_that_is_static(const void* args) {
  scalar_t value;
  optional_info_t left, right;
  UNUSED(args);
  value.s8 = 1;
  left = OPTIONAL_ADDR(DT_INT8, LOCAL_BANK_SIZE);
  right = OPTIONAL_VALUE(DT_INT8, value);
  return left.is_const + right.is_const;
}
TPUKERNEL_FUNC_REGISTER(kernel_that_is_static)

static void okk_kernel(const void* args) {
  OKKERNEL_ASSERT(args != NULL);
  OKKERNEL_LOG("text only\n");
}
OKKERNEL_FUNC_REGISTER(okk_kernel)

bm_status_t launch_in_all_forms(bm_handle_t handle, tpu_kernel_module_t module);
bm_status_t launch_in_all_forms(bm_handle_t handle, tpu_kernel_module_t module) {
  param_t param = {0, 1};
  char name_in_array[] = "kernel_with_result";
  const char* name = name_in_array;
  const tpu_kernel_function_t function = tpu_kernel_get_function(handle, module, name);
  bm_status_t (*const address)(bm_handle_t, tpu_kernel_function_t, void*, size_t) = tpu_kernel_launch_async;
  bm_device_mem_t mem = BM_MEM_NULL;
  UNUSED(mem);
  BM_CHECK_RET(tpu_kernel_launch_async(handle, "kernel_with_result", &param, sizeof(param)));
  BM_CHECK_RET(tpu_kernel_launch_async(handle, name, &param, sizeof(param)));
  BM_CHECK_RET(tpu_kernel_launch_async(handle, name_in_array, &param, sizeof(param)));
  BM_CHECK_RET(tpu_kernel_launch_async(handle, function, &param, sizeof(param)));
  BM_CHECK_RET(address(handle, function, &param, sizeof(param)));
  return tpu_kernel_sync(handle);
}
