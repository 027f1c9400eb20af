// A kernel that includes the header first and then defines for itself what the header has already: as published headers
// have it, in other blanks. It relies on the standard headers that the published one brings. C and C++, without a
// warning.
#include "tpu_kernel.h"

/* Blanks count too. */
/* clang-format off */
#define UNUSED(x)       (void)(x)
#define MIN(x, y)       (((x)) < ((y)) ? (x) : (y))
#define MAX(x, y)       (((x)) > ((y)) ? (x) : (y))
#define ALIGN(x, a)     (((x) + (a) - 1) / (a) * (a))
#define ALIGN_DOWN(x, a) ((x) / (a) * (a))
#define DIV_UP(a, b)    ((a) == 0 ? 0 : ((a) - 1) / (b) + 1)

#define NPU_NUM         tpu_npu_num()
#define EU_NUM          tpu_eu_num(DT_FP32)
#define EU_NUM_32BIT    tpu_eu_num(DT_FP32)
#define EU_NUM_16BIT    tpu_eu_num(DT_FP16)
#define EU_NUM_8BIT     tpu_eu_num(DT_INT8)
#define ALIGN_BYTES     (EU_NUM * sizeof(float))
#define LOCAL_MEM_SIZE  tpu_local_mem_size_per_npu()
#define LOCAL_MEM_BANKS tpu_bank_num()
#define BANK_SIZE       (LOCAL_MEM_SIZE / LOCAL_MEM_BANKS)
#define LOCAL_BANK_SIZE (LOCAL_MEM_SIZE / LOCAL_MEM_BANKS)
#define L2_SRAM_SIZE    tpu_l2_sram_size()
#define L2_SRAM_START_ADDR    tpu_l2_sram_get_start_addr()
#define LOCAL_MEM_START_ADDR  tpu_local_mem_get_start_addr()
#define STATIC_MEM_START_ADDR tpu_static_mem_get_start_addr()

#define FP_ONE(dtype) \
    (dtype == DT_FP32 ? 0x3f800000 : (dtype == DT_FP16 ? 0x3c00 : 0x3f80))
#define FP_NEG_ONE(dtype) \
    (dtype == DT_FP32 ? 0xbf800000 : (dtype == DT_FP16 ? 0xbc00 : 0xbf80))

#define NO_USE       0
#define TENSOR_N_DIM 0
#define TENSOR_C_DIM 1
#define TENSOR_H_DIM 2
#define TENSOR_W_DIM 3
/* clang-format on */

typedef struct {
  uint64_t output;
  int32_t rows;
  int32_t columns;
} param_t;

void kernel_with_own_definitions(const void* raw);
void kernel_with_own_definitions(const void* raw) {
  param_t param;
  scalar_t value;
  bool small;
  memcpy(&param, raw, sizeof(param));
  small = MIN(param.rows, DIV_UP(param.columns, NPU_NUM)) < ALIGN(param.rows, EU_NUM);
  value.f32 = small ? expf(1.0f) : sqrtf(MAX(2.0f, 1.0f));
  value.u32 |= FP_NEG_ONE(DT_FP32) | FP_ONE(DT_FP16) | FP_NEG_MAX(DT_FP32) | FP_MAX(DT_BFP16);
  printf("%f\n", value.f32);
  tpu_bdc_set_C((local_addr_t)(ALIGN_BYTES + ALIGN_DOWN(BANK_SIZE, LOCAL_BANK_SIZE)), value, NULL, NULL, DT_FP32);
  UNUSED(small);
}
TPUKERNEL_FUNC_REGISTER(kernel_with_own_definitions)
