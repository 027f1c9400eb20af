/* tpu_runtime_api: one interface for host programs of every chip. It is a form of tpuv7_rt: what that says of its
 * functions holds for these. A call that fails returns an error and writes one line to the log. */
#ifndef TPU_RUNTIME_API_H_
#define TPU_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
  tpuSuccess = 0,
  tpuErrorInvalidDevice = 1,
  tpuErrorNoDevice = 2,
  tpuErrorFailure = 3,
  tpuErrorTimeout = 4,
  tpuErrorInvalidParam = 5,
  tpuErrorOutOfMemory = 6,
  tpuErrorNotSupported = 7,
  tpuErrorInvalidValue = 8,
  tpuErrorMemoryAllocation = 9,
  tpuErrorKernelModuleLoad = 10
} tpuError_t;

typedef struct {
  uint32_t device_num;
  uint16_t parent_dev;
  uint16_t child_dev;
  uint8_t parent_pcie;
  uint8_t child_pcie;
  int8_t parent_port;
  int8_t child_port;
} tpuTopology_t;

typedef void* tpuStream_t;
typedef void* tpuEvent_t;
typedef void* tpuKernelModule_t;
typedef void* tpuGraph_t;
typedef void* tpuGraphExec_t;

/* ---- Devices ---- */

tpuError_t tpuInit(void);
tpuError_t tpuGetDeviceCount(int* count);
tpuError_t tpuGetDevice(int* device);
/* Comes before streams and memory. */
tpuError_t tpuSetDevice(int device);
tpuError_t tpuSetupTopology(void);
/* An entry without ports (-1) for each device; it belongs to the library. */
tpuError_t tpuGetTopology(tpuTopology_t** topology);

/* ---- Memory ---- */

tpuError_t tpuMalloc(void** devPtr, size_t size);
tpuError_t tpuFree(void* devPtr);
tpuError_t tpuMallocHost(void** ptr, size_t size);
tpuError_t tpuFreeHost(void* ptr);
/* These wait for the launches that the device was given. */
tpuError_t tpuMemcpyH2D(void* devPtr, const void* hostPtr, size_t size);
tpuError_t tpuMemcpyD2H(void* hostPtr, const void* devPtr, size_t size);
tpuError_t tpuMemcpyD2D(void* dstPtr, const void* srcPtr, size_t size);
/* In their place in the stream. */
tpuError_t tpuMemcpyH2DAsync(void* devPtr, const void* hostPtr, size_t size, tpuStream_t stream);
tpuError_t tpuMemcpyD2HAsync(void* hostPtr, const void* devPtr, size_t size, tpuStream_t stream);
tpuError_t tpuMemcpyD2DAsync(void* dstPtr, const void* srcPtr, size_t size, tpuStream_t stream);
tpuError_t tpuGetAllMemory(size_t* allMemSize);
tpuError_t tpuGetFreeMemory(size_t* freeMemSize);
tpuError_t tpuGetPeakMemory(size_t* peakMemSize);
tpuError_t tpuResetPeakMemory(void);

/* ---- Streams and events ---- */

tpuError_t tpuStreamCreate(tpuStream_t* stream);
/* Returns at once; what the stream was given is still done. */
tpuError_t tpuStreamDestroy(tpuStream_t stream);
tpuError_t tpuStreamSynchronize(tpuStream_t stream);
tpuError_t tpuStreamWaitEvent(tpuStream_t stream, tpuEvent_t event);
tpuError_t tpuEventCreate(tpuEvent_t* event);
tpuError_t tpuEventDestroy(tpuEvent_t event, tpuStream_t stream);
tpuError_t tpuEventRecord(tpuEvent_t event, tpuStream_t stream);
/* tpuErrorTimeout: it has not happened yet. */
tpuError_t tpuEventQuery(tpuEvent_t event);
/* The estimate for the chip with SOFTTPU_TIME, else the time that passed here. */
tpuError_t tpuEventElapsedTime(float* ms, tpuEvent_t start, tpuEvent_t end);
tpuError_t tpuEventSynchronize(tpuEvent_t event);

/* ---- Kernels ---- */

/* NULL: it cannot be loaded. */
tpuKernelModule_t tpuKernelModuleLoad(const char* data, size_t size, tpuStream_t stream);
tpuKernelModule_t tpuKernelLoadModuleFlag(const char* data, size_t size, tpuStream_t stream, uint32_t flag);
tpuKernelModule_t tpuKernelModuleLoadFromFile(const char* file, tpuStream_t stream);
tpuKernelModule_t tpuKernelModuleLoadFromFileFlag(const char* file, tpuStream_t stream, uint32_t flag);
tpuError_t tpuKernelUnloadModule(tpuKernelModule_t module, tpuStream_t stream);
tpuError_t tpuKernelUnloadModuleFlag(tpuKernelModule_t module, tpuStream_t stream, uint32_t flag);
/* group_num groups of group_size workitems, each of which sees all of args. */
tpuError_t tpuKernelLaunch(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                           uint64_t group_num, uint64_t group_size, tpuStream_t stream);
/* Returns when the launch is queued; args are copied. */
tpuError_t tpuKernelLaunchAsync(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                                uint64_t group_num, uint64_t group_size, tpuStream_t stream);

/* ---- Graphs ---- */

/* Between the two, what the stream is given is kept in the graph instead of done. */
tpuError_t tpuStreamBeginCapture(tpuStream_t capture_stream);
tpuError_t tpuStreamEndCapture(tpuStream_t capture_stream, tpuGraph_t* graph);
tpuError_t tpuGraphInstantiate(tpuGraphExec_t* graph_exec, tpuGraph_t graph, void* ext);
/* Queues what was captured, in its order. */
tpuError_t tpuGraphLaunch(tpuGraphExec_t graph_exec, tpuStream_t capture_stream);
tpuError_t tpuGraphDestroy(tpuGraph_t graph);
tpuError_t tpuGraphExecDestroy(tpuGraphExec_t graph_exec);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
