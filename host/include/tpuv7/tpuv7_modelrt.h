/* tpuv7_modelrt: runs compiled networks (.bmodel) in streams of tpuv7_rt. A call that fails writes one line to the log.
 */
#ifndef TPUV7_MODELRT_H_
#define TPUV7_MODELRT_H_

#include <stdbool.h>

#include "tpuv7_rt.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
  TPU_FLOAT32 = 0,
  TPU_FLOAT16 = 1,
  TPU_INT8 = 2,
  TPU_UINT8 = 3,
  TPU_INT16 = 4,
  TPU_UINT16 = 5,
  TPU_INT32 = 6,
  TPU_UINT32 = 7,
  TPU_BFLOAT16 = 8,
  TPU_INT4 = 9,
  TPU_UINT4 = 10
} tpuRtDataType_t;

typedef struct {
  int num_dims;
  int dims[8];
} tpuRtShape_t;

/* A tensor in device memory. */
typedef struct {
  tpuRtDataType_t dtype;
  tpuRtShape_t shape;
  void* data; /* device address, as tpuRtMalloc gives it */
  unsigned char reserved[64];
} tpuRtTensor_t;

/* One set of shapes that a network was compiled for. The memories are the network's own. */
typedef struct tpu_stage_info_s {
  tpuRtShape_t* input_shapes;
  tpuRtShape_t* output_shapes;
  void** input_mems;
  void** output_mems;
} tpuRtStageInfo_t;

/* Inputs, or outputs. */
typedef struct {
  int num;
  const char** names;
  float* scales;
  int* zero_points;
  tpuRtDataType_t* dtypes;
} tpuRtIOInfo_t;

/* What a network is. It points into the network, until tpuRtUnloadNet. */
typedef struct tpu_net_info_s {
  const char* name;
  bool is_dynamic;
  tpuRtIOInfo_t input;
  tpuRtIOInfo_t output;
  int stage_num;
  tpuRtStageInfo_t* stages;
  unsigned char reserved[64];
} tpuRtNetInfo_t;

typedef void* tpuRtNet_t;
typedef void* tpuRtNetContext_t;

/** Makes a place for networks on the chosen device.
 * context: receives the context */
tpuRtStatus_t tpuRtCreateNetContext(tpuRtNetContext_t* context);
/** Gives a context back; what was loaded stays until it is unloaded.
 * context: where networks are loaded */
tpuRtStatus_t tpuRtDestroyNetContext(tpuRtNetContext_t context);

/** Loads all networks of a file.
 * net_path: path of the file
 * context: where networks are loaded
 * net: what was loaded, or receives it */
tpuRtStatus_t tpuRtLoadNet(const char* net_path, tpuRtNetContext_t context, tpuRtNet_t* net);
/** Loads all networks of a file's bytes.
 * net_data: bytes of a file; need not stay
 * size: how many
 * context: where networks are loaded
 * net: what was loaded, or receives it */
tpuRtStatus_t tpuRtLoadNetFromMem(const void* net_data, size_t size, tpuRtNetContext_t context, tpuRtNet_t* net);
/** Gives what was loaded back; launches that streams were given are still carried out.
 * net: what was loaded, or receives it */
tpuRtStatus_t tpuRtUnloadNet(tpuRtNet_t net);

/** Inputs, outputs and stages of a network.
 * net: what was loaded, or receives it
 * name: name of a network of the file */
tpuRtNetInfo_t tpuRtGetNetInfo(const tpuRtNet_t net, const char* name);

/** Queues a network in a stream.
 * net: what was loaded, or receives it
 * input: tensors in device memory; their shapes choose the stage
 * output: tensors in device memory that the caller gives; types and shapes are filled in at once
 * net_name: name of a network of the file
 * stream: the stream that the network takes its place in */
tpuRtStatus_t tpuRtLaunchNetAsync(tpuRtNet_t net, const tpuRtTensor_t* input, tpuRtTensor_t* output,
                                  const char* net_name, tpuRtStream_t stream);
/** Runs a network and waits for it.
 * net: what was loaded, or receives it
 * input: tensors in device memory; their shapes choose the stage
 * output: tensors in device memory that the caller gives; types and shapes are filled in at once
 * net_name: name of a network of the file
 * stream: the stream that the network takes its place in */
tpuRtStatus_t tpuRtLaunchNet(tpuRtNet_t net, const tpuRtTensor_t* input, tpuRtTensor_t* output, const char* net_name,
                             tpuRtStream_t stream);

/** Names of the networks of a file.
 * net: what was loaded, or receives it
 * names: receives an array of names; of tpuRtFreeNetNames: the array */
int tpuRtGetNetNames(const tpuRtNet_t net, char*** names);
/** Frees an array of tpuRtGetNetNames.
 * names: receives an array of names; of tpuRtFreeNetNames: the array */
void tpuRtFreeNetNames(char** names);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
