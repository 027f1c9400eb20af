/* tpuDNN: tensors, and what is measured of a handle's launches. The SDK's operators on tensors are not part of softtpu.
 */
#ifndef TPUDNN_TENSOR_H_
#define TPUDNN_TENSOR_H_

#include "tpuDNN.h"

typedef enum {
  TPUDNN_DTYPE_FP32 = 0,
  TPUDNN_DTYPE_FP16 = 1,
  TPUDNN_DTYPE_INT8 = 2,
  TPUDNN_DTYPE_UINT8 = 3,
  TPUDNN_DTYPE_INT16 = 4,
  TPUDNN_DTYPE_UINT16 = 5,
  TPUDNN_DTYPE_INT32 = 6,
  TPUDNN_DTYPE_UINT32 = 7,
  TPUDNN_DTYPE_BF16 = 8,
  TPUDNN_DTYPE_INT4 = 9,
  TPUDNN_DTYPE_UINT4 = 10,
  TPUDNN_DTYPE_FP20 = 11,
  TPUDNN_DTYPE_FP8E5M2 = 12,
  TPUDNN_DTYPE_FP8E4M3 = 13,
  TPUDNN_DTYPE_INT64 = 14,
  TPUDNN_DTYPE_TF32 = 15,
  TPUDNN_DTYPE_BOOL = 16,
  TPUDNN_DTYPE_UNKNOWN = -1
} tpudnnDataType_t;

typedef enum {
  TPUDNN_NO_FORMATED = 0,
  TPUDNN_CONV_W_INFER_FORMAT = 1,
  TPUDNN_CONV_W_TRAIN_FORMAT = 2,
  TPUDNN_CONV_DW_TRAIN_FORMAT = 3
} TpudnnFormatedType_t;

typedef struct {
  void* addr;
  int dim;
  int shape[8];
  int stride[8];
  tpudnnDataType_t dtype;
  TpudnnFormatedType_t format_casted;
} tpudnnTensor_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Begins to count estimated time.
 * handle: the handle
 * max_record_num: not used
 * mode: not used */
tpudnnStatus_t tpudnnEnableProfile(tpudnnHandle_t handle, int max_record_num, int mode);
/** Says in the log how long the handle's kernels since tpudnnEnableProfile take on the chip.
 * handle: the handle */
tpudnnStatus_t tpudnnDisableProfile(tpudnnHandle_t handle);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
