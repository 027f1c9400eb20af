/* tpuDNN: launching kernels by name, on any chip. */
#ifndef TPUDNN_H_
#define TPUDNN_H_

#include <stddef.h>
#include <stdint.h>

typedef enum { TPUDNN_STATUS_SUCCESS, TPUDNN_STATUS_FAILED } tpudnnStatus_t;

/* Programs for BM1690 and its relatives know a handle as an object's address, the others as any address. */
#if defined(__cplusplus) && \
    (defined(__bm1690__) || defined(__bm1690e__) || defined(__sg2262__) || defined(__bm1684x2__))
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

/** Makes a handle with a stream of its own.
 * deviceID: number of the device; a stream knows its own, whatever stands here */
tpudnnHandle_t tpudnnCreate(int deviceID TPUDNN_DEFAULT(0));
/** Makes a handle of a stream and a module.
 * deviceID: number of the device; a stream knows its own, whatever stands here
 * stream: of tpuRtStreamCreate, tpuStreamCreate or bm_dev_request
 * module: a loaded module; NULL: the one that PPL_KERNEL_PATH, then TPU_KERNEL_PATH names, else kernels of any
 *   module */
tpudnnHandle_t tpudnnHandleFromStream(int deviceID, void* stream, void* module);
#ifdef __cplusplus
/* As tpudnnHandleFromStream; a kernel is looked for in the first module, then in the second. */
tpudnnHandle_t tpudnnHandleFromStreamV2(int deviceID, void* stream, std::tuple<void*, void*> module);
#endif
/** Gives a handle back; stream and module stay.
 * handle: the handle */
void tpudnnDestroy(tpudnnHandle_t handle);

/* ---- Launches ---- */

/** Queues a kernel in the handle's stream.
 * handle: the handle
 * kernelName: name of the kernel: registered, or of an exported function
 * arg: its arguments, which are copied; every workitem sees all of them
 * argBytes: bytes of the arguments, up to 65536
 * groupNum: how many groups, one after the other
 * groupSize: workitems of a group */
tpudnnStatus_t tpudnnLaunchKernel(tpudnnHandle_t handle, const char* kernelName, void* arg, size_t argBytes,
                                  int groupNum, int groupSize);
/** Waits for all that the handle's stream was given; the first failure since the last time.
 * handle: the handle */
tpudnnStatus_t tpudnnSync(tpudnnHandle_t handle);
/** The same as tpudnnSync: nothing is kept back here.
 * handle: the handle */
tpudnnStatus_t tpudnnFlush(tpudnnHandle_t handle);

/* ---- Memory ---- */

/** Device memory has one address here, which this returns.
 * handle: the handle
 * addr: the address */
void* tpudnnPhysToVirt(tpudnnHandle_t handle, uint64_t addr);
/** Device memory has one address here, which this returns.
 * handle: the handle
 * addr: the address */
uint64_t tpudnnVirtToPhys(tpudnnHandle_t handle, void* addr);
/** Copies from host to device, in its place in the stream; done when it returns.
 * handle: the handle
 * dst: destination: device address, or memory of the host
 * src: source: device address, or memory of the host
 * size: bytes; 0 copies nothing */
tpudnnStatus_t tpudnnMemcpyHostToDevice(tpudnnHandle_t handle, uint64_t dst, void* src, size_t size);
/** Copies from device to host, in its place in the stream; done when it returns.
 * handle: the handle
 * dst: destination: device address, or memory of the host
 * src: source: device address, or memory of the host
 * size: bytes; 0 copies nothing */
tpudnnStatus_t tpudnnMemcpyDeviceToHost(tpudnnHandle_t handle, void* dst, uint64_t src, size_t size);

/* ---- Captured launches ---- */

/** From now on the handle's stream keeps what it is given instead of doing it.
 * handle: the handle */
tpudnnStatus_t tpudnnStreamBeginCapture(tpudnnHandle_t handle);
/** Makes a graph of what the stream was given since.
 * handle: the handle
 * graph: the graph, or receives it */
tpudnnStatus_t tpudnnStreamEndCapture(tpudnnHandle_t handle, tpudnnGraph_t* graph);
/** Makes something to launch of a graph.
 * instance: what is launched, or receives it
 * graph: the graph, or receives it
 * ext: not used */
tpudnnStatus_t tpudnnGraphInstantiate(tpudnnGraphExec_t* instance, tpudnnGraph_t graph, void* ext);
/** Queues all of a graph, in its order.
 * instance: what is launched, or receives it
 * handle: the handle */
tpudnnStatus_t tpudnnGraphLaunch(tpudnnGraphExec_t instance, tpudnnHandle_t handle);
/** Gives a graph back; what was made of it stays.
 * graph: the graph, or receives it */
tpudnnStatus_t tpudnnGraphDestroy(tpudnnGraph_t graph);
/** Gives back what was made of a graph.
 * instance: what is launched, or receives it */
tpudnnStatus_t tpudnnGraphExecDestroy(tpudnnGraphExec_t instance);

/* ---- Several chips: none is linked with another ---- */

/** Finds out which chips are linked: none. */
tpudnnStatus_t tpudnnSetupC2CTopology(void);
/** Which chips are linked.
 * chipNum: receives the number of devices
 * outTopology: receives an array with the number of each device; it belongs to the library */
tpudnnStatus_t tpudnnGetC2CTopology(int* chipNum, const int** outTopology);
/** Whether chips form a ring in this order.
 * world_size: how many chips
 * chipMap: their numbers, or receives them */
tpudnnStatus_t tpudnnCheckChipMap(int world_size, int* chipMap);
/** An order in which chips form a ring.
 * world_size: how many chips
 * chipMap: their numbers, or receives them */
tpudnnStatus_t tpudnnGetC2CRing(int world_size, int* chipMap);
/** A name for a group of ranks.
 * handle: the handle
 * uniqueId: receives one character and a zero byte */
tpudnnStatus_t tpudnnGetUniqueId(tpudnnHandle_t handle, char* uniqueId);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#undef TPUDNN_DEFAULT

#include "tpuDNNTensor.h"

#endif
