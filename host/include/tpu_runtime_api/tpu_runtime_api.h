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

/** Begins to use the runtime; may be left out or repeated. */
tpuError_t tpuInit(void);
/** Number of devices.
 * count: receives how many devices there are */
tpuError_t tpuGetDeviceCount(int* count);
/** The device that this thread has chosen, else the one that the program chose last.
 * device: number of the device, from 0; or receives it */
tpuError_t tpuGetDevice(int* device);
/** Chooses a device, and starts it at its first use; comes before streams and memory.
 * device: number of the device, from 0; or receives it */
tpuError_t tpuSetDevice(int device);
/** Finds out which chips are linked: none. */
tpuError_t tpuSetupTopology(void);
/** Which chips are linked.
 * topology: receives an array with an entry for each device, without ports (-1); it belongs to the library */
tpuError_t tpuGetTopology(tpuTopology_t** topology);

/* ---- Memory ---- */

/** Allocates device memory.
 * devPtr: receives the device address
 * size: bytes */
tpuError_t tpuMalloc(void** devPtr, size_t size);
/** Gives device memory back.
 * devPtr: device address */
tpuError_t tpuFree(void* devPtr);
/** Allocates memory of the host, a whole number of pages.
 * ptr: receives the pointer
 * size: bytes */
tpuError_t tpuMallocHost(void** ptr, size_t size);
/** Gives host memory back.
 * ptr: what tpuMallocHost gave */
tpuError_t tpuFreeHost(void* ptr);
/** Copies from host to device; waits for the launches that the device was given.
 * devPtr: device address
 * hostPtr: memory of the host
 * size: bytes */
tpuError_t tpuMemcpyH2D(void* devPtr, const void* hostPtr, size_t size);
/** Copies from device to host; waits for the launches that the device was given.
 * hostPtr: memory of the host
 * devPtr: device address
 * size: bytes */
tpuError_t tpuMemcpyD2H(void* hostPtr, const void* devPtr, size_t size);
/** Copies on the device; waits for the launches that the device was given.
 * dstPtr: device address of the destination; may overlap the source
 * srcPtr: device address of the source
 * size: bytes */
tpuError_t tpuMemcpyD2D(void* dstPtr, const void* srcPtr, size_t size);
/** Copies from host to device in a stream.
 * devPtr: device address
 * hostPtr: memory of the host
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuError_t tpuMemcpyH2DAsync(void* devPtr, const void* hostPtr, size_t size, tpuStream_t stream);
/** Copies from device to host in a stream.
 * hostPtr: memory of the host
 * devPtr: device address
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuError_t tpuMemcpyD2HAsync(void* hostPtr, const void* devPtr, size_t size, tpuStream_t stream);
/** Copies on the device in a stream.
 * dstPtr: device address of the destination; may overlap the source
 * srcPtr: device address of the source
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuError_t tpuMemcpyD2DAsync(void* dstPtr, const void* srcPtr, size_t size, tpuStream_t stream);
/** Bytes of device memory.
 * allMemSize: receives bytes */
tpuError_t tpuGetAllMemory(size_t* allMemSize);
/** Bytes of free device memory.
 * freeMemSize: receives bytes */
tpuError_t tpuGetFreeMemory(size_t* freeMemSize);
/** The most bytes of device memory that this program has had at a time.
 * peakMemSize: receives bytes */
tpuError_t tpuGetPeakMemory(size_t* peakMemSize);
/** Lets the peak begin again at what the program has now. */
tpuError_t tpuResetPeakMemory(void);

/* ---- Streams and events ---- */

/** Makes a stream on the chosen device.
 * stream: receives the stream */
tpuError_t tpuStreamCreate(tpuStream_t* stream);
/** Gives a stream back; what it was given is still done.
 * stream: the stream */
tpuError_t tpuStreamDestroy(tpuStream_t stream);
/** Waits for all that the stream was given; the first failure since the last time.
 * stream: the stream */
tpuError_t tpuStreamSynchronize(tpuStream_t stream);
/** Lets what the stream is given from now on wait for an event.
 * stream: the stream
 * event: the event */
tpuError_t tpuStreamWaitEvent(tpuStream_t stream, tpuEvent_t event);
/** Makes an event.
 * event: receives the event */
tpuError_t tpuEventCreate(tpuEvent_t* event);
/** Gives an event back; what waits for it goes on waiting.
 * event: the event
 * stream: the stream */
tpuError_t tpuEventDestroy(tpuEvent_t event, tpuStream_t stream);
/** Marks a place in a stream: the event happens when all before it is done.
 * event: the event
 * stream: the stream */
tpuError_t tpuEventRecord(tpuEvent_t event, tpuStream_t stream);
/** Whether an event has happened: tpuSuccess, or tpuErrorTimeout.
 * event: the event */
tpuError_t tpuEventQuery(tpuEvent_t event);
/** Time between two events, in milliseconds.
 * ms: receives milliseconds
 * start: the earlier event
 * end: the later event; the other way round the time is negative */
tpuError_t tpuEventElapsedTime(float* ms, tpuEvent_t start, tpuEvent_t end);
/** Waits for an event; returns at once for one that was never recorded.
 * event: the event */
tpuError_t tpuEventSynchronize(tpuEvent_t event);

/* ---- Kernels ---- */

/** Loads a kernel module from memory.
 * data: bytes of a kernel module
 * size: how many
 * stream: the stream */
tpuKernelModule_t tpuKernelModuleLoad(const char* data, size_t size, tpuStream_t stream);
/** Loads a kernel module from memory with a flag.
 * data: bytes of a kernel module
 * size: how many
 * stream: the stream
 * flag: changes nothing */
tpuKernelModule_t tpuKernelLoadModuleFlag(const char* data, size_t size, tpuStream_t stream, uint32_t flag);
/** Loads a kernel module from a file.
 * file: path of a kernel module
 * stream: the stream */
tpuKernelModule_t tpuKernelModuleLoadFromFile(const char* file, tpuStream_t stream);
/** Loads a kernel module from a file with a flag.
 * file: path of a kernel module
 * stream: the stream
 * flag: changes nothing */
tpuKernelModule_t tpuKernelModuleLoadFromFileFlag(const char* file, tpuStream_t stream, uint32_t flag);
/** Gives a module back.
 * module: the module
 * stream: the stream */
tpuError_t tpuKernelUnloadModule(tpuKernelModule_t module, tpuStream_t stream);
/** Gives a module back that was loaded with a flag.
 * module: the module
 * stream: the stream
 * flag: changes nothing */
tpuError_t tpuKernelUnloadModuleFlag(tpuKernelModule_t module, tpuStream_t stream, uint32_t flag);
/** Runs a kernel and waits for it.
 * module: the module
 * kernel_name: name of the kernel
 * args: its arguments, which are copied; every workitem sees all of them
 * arg_size: bytes of the arguments: a multiple of 4 up to 65536
 * group_num: how many groups, one after the other
 * group_size: workitems of a group, each on a core of its own
 * stream: the stream */
tpuError_t tpuKernelLaunch(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                           uint64_t group_num, uint64_t group_size, tpuStream_t stream);
/** Queues a kernel in a stream.
 * module: the module
 * kernel_name: name of the kernel
 * args: its arguments, which are copied; every workitem sees all of them
 * arg_size: bytes of the arguments: a multiple of 4 up to 65536
 * group_num: how many groups, one after the other
 * group_size: workitems of a group, each on a core of its own
 * stream: the stream */
tpuError_t tpuKernelLaunchAsync(tpuKernelModule_t module, const char* kernel_name, const void* args, uint32_t arg_size,
                                uint64_t group_num, uint64_t group_size, tpuStream_t stream);

/* ---- Graphs ---- */

/** From now on the stream keeps what it is given instead of doing it.
 * capture_stream: the stream */
tpuError_t tpuStreamBeginCapture(tpuStream_t capture_stream);
/** Makes a graph of what the stream was given since.
 * capture_stream: the stream
 * graph: the graph, or receives it */
tpuError_t tpuStreamEndCapture(tpuStream_t capture_stream, tpuGraph_t* graph);
/** Makes something to launch of a graph.
 * graph_exec: what is launched, or receives it
 * graph: the graph, or receives it
 * ext: not used */
tpuError_t tpuGraphInstantiate(tpuGraphExec_t* graph_exec, tpuGraph_t graph, void* ext);
/** Queues all of a graph, in its order.
 * graph_exec: what is launched, or receives it
 * capture_stream: the stream */
tpuError_t tpuGraphLaunch(tpuGraphExec_t graph_exec, tpuStream_t capture_stream);
/** Gives a graph back; what was made of it stays.
 * graph: the graph, or receives it */
tpuError_t tpuGraphDestroy(tpuGraph_t graph);
/** Gives back what was made of a graph.
 * graph_exec: what is launched, or receives it */
tpuError_t tpuGraphExecDestroy(tpuGraphExec_t graph_exec);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
