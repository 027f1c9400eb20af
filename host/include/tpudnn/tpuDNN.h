/* tpuDNN: launching kernels by name, on any chip. */
#ifndef TPUDNN_H_
#define TPUDNN_H_

#include <stddef.h>
#include <stdint.h>

typedef enum { TPUDNN_STATUS_SUCCESS, TPUDNN_STATUS_FAILED } tpudnnStatus_t;

/* Programs for BM1690 and its relatives know a handle as an object's address, the others as any address. */
#if defined(__cplusplus) && (defined(__bm1690__) || defined(__bm1690e__) || defined(__sg2262__) || defined(__bm1684x2__))
typedef class TPUDNNInterface* tpudnnHandle_t;
#else
typedef void* tpudnnHandle_t;
#endif
typedef void* tpudnnGraph_t;
typedef void* tpudnnGraphExec_t;

#ifdef __cplusplus
#include <tuple>
#define TPUDNN_DEFAULT(value) = value
extern "C" {
#else
#define TPUDNN_DEFAULT(value)
#endif
#pragma GCC visibility push(default)

/* ---- Handles ---- */

/* With a stream of its own. Kernels come from PPL_KERNEL_PATH, TPU_KERNEL_PATH or TPUKERNEL_FIRMWARE_PATH. NULL: no
 * device. */
tpudnnHandle_t tpudnnCreate(int deviceID TPUDNN_DEFAULT(0));
/* `stream`: of tpuRtStreamCreate, tpuStreamCreate or bm_dev_request; it decides which device it is. `module`: a loaded one, or NULL as above. */
tpudnnHandle_t tpudnnHandleFromStream(int deviceID, void* stream, void* module);
#ifdef __cplusplus
/* A kernel is looked for in the first module, then in the second. */
tpudnnHandle_t tpudnnHandleFromStreamV2(int deviceID, void* stream, std::tuple<void*, void*> module);
#endif
void tpudnnDestroy(tpudnnHandle_t handle);

/* ---- Launches ---- */

/* groupNum groups, one after the other, of groupSize workitems; returns when the launch is queued. */
tpudnnStatus_t tpudnnLaunchKernel(tpudnnHandle_t handle, const char* kernelName, void* arg, size_t argBytes,
                                  int groupNum, int groupSize);
/* Waits for all that the handle's stream was given. */
tpudnnStatus_t tpudnnSync(tpudnnHandle_t handle);
/* Nothing is kept back here: the same. */
tpudnnStatus_t tpudnnFlush(tpudnnHandle_t handle);

/* ---- Memory ---- */

/* Device memory has one address: these return it. */
void* tpudnnPhysToVirt(tpudnnHandle_t handle, uint64_t addr);
uint64_t tpudnnVirtToPhys(tpudnnHandle_t handle, void* addr);
/* In their place in the handle's stream, and done when they return. */
tpudnnStatus_t tpudnnMemcpyHostToDevice(tpudnnHandle_t handle, uint64_t dst, void* src, size_t size);
tpudnnStatus_t tpudnnMemcpyDeviceToHost(tpudnnHandle_t handle, void* dst, uint64_t src, size_t size);

/* ---- Captured launches ---- */

/* Between the two, launches are kept in the graph instead of done. */
tpudnnStatus_t tpudnnStreamBeginCapture(tpudnnHandle_t handle);
tpudnnStatus_t tpudnnStreamEndCapture(tpudnnHandle_t handle, tpudnnGraph_t* graph);
tpudnnStatus_t tpudnnGraphInstantiate(tpudnnGraphExec_t* instance, tpudnnGraph_t graph, void* ext);
/* Queues what was captured, in its order. */
tpudnnStatus_t tpudnnGraphLaunch(tpudnnGraphExec_t instance, tpudnnHandle_t handle);
tpudnnStatus_t tpudnnGraphDestroy(tpudnnGraph_t graph);
tpudnnStatus_t tpudnnGraphExecDestroy(tpudnnGraphExec_t instance);

/* ---- Several chips: none is linked with another ---- */

tpudnnStatus_t tpudnnSetupC2CTopology(void);
/* An entry for each device, of its own number; it belongs to the library. */
tpudnnStatus_t tpudnnGetC2CTopology(int* chipNum, const int** outTopology);
tpudnnStatus_t tpudnnCheckChipMap(int world_size, int* chipMap);
tpudnnStatus_t tpudnnGetC2CRing(int world_size, int* chipMap);
/* `uniqueId` gets one character and a zero byte. */
tpudnnStatus_t tpudnnGetUniqueId(tpudnnHandle_t handle, char* uniqueId);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#undef TPUDNN_DEFAULT

#include "tpuDNNTensor.h"

#endif
