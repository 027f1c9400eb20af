/* tpuv7_rt: how a host program uses a device of BM1690's generation. A call that fails returns a status and writes one
 * line to the log. All functions may be called from any thread. */
#ifndef __TPUV7_H__
#define __TPUV7_H__

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define FUNC_MAX_NAME_LEN 64
#define LIB_MAX_NAME_LEN 64
#define MD5SUM_LEN 16
#define PRODUCT_NAME_LEN 24

typedef enum {
  tpuRtSuccess = 0,
  tpuRtDevnotready = 1, /* not done yet; or the device has ended */
  tpuRtErrFailure = 2,  /* a kernel failed, or is not in its module */
  tpuRtErrTimeout = 3,
  tpuRtErrParam = 4,
  tpuRtErrNomem = 5,
  tpuRtErrData = 6,
  tpuRtErrBusy = 7, /* a callback waits for its own stream */
  tpuRtErrNoFeature = 8,
  tpuRtErrNotSupported = 9,
  tpuRtErrorInitializationError = 10, /* the event was never recorded */
  tpuRtErrorNoDevice = 11,            /* no device was chosen */
  tpuRtErrorNoStream = 12,
  tpuRtErrorInvalidValue = 13,
  tpuRtErrorInvalidResourceHandle = 14, /* no such stream, event or module, or it was destroyed */
  tpuRtErrorMemoryAllocation = 15
} tpuRtStatus_t;

typedef struct tpuRtDeviceProperties {
  char name[PRODUCT_NAME_LEN];
  uint64_t totalGlobalMem;
  int major;
  int minor;
  int ECCEnabled;
  uint32_t pciBusID;
  uint32_t pciDeviceID;
  uint32_t pciDomainID;
} tpuRtDeviceProperties_t;

/* A loaded kernel module: its file's name ("memory" when there was none) and the MD5 of its bytes. */
typedef struct tpuRtModule {
  char lib_name[LIB_MAX_NAME_LEN];
  unsigned char md5[MD5SUM_LEN];
  uint32_t dest;
} tpuRtModule;

struct tpuRtCheckModule {
  unsigned char md5[MD5SUM_LEN];
  int loaded;
  int dest;
  int api_id;
};

typedef struct tpuRtLaunchOutput {
  void* output_args;
  uint32_t output_size;
  int ret;
} * tpuRtLaunchOutput_t;

struct c2c_port_info {
  uint32_t chip_num;
  uint16_t src_device_id;
  uint16_t dst_device_id;
  uint8_t src_pcie_id;
  uint8_t dst_pcie_id;
  int8_t send_port;
  int8_t recv_port;
};

typedef struct tpuRtModule* tpuRtKernelModule_t;
typedef struct tpuRtStream* tpuRtStream_t;
typedef struct tpuRtEvent* tpuRtEvent_t;
typedef struct timeval tpuRtTimeRecord;
typedef int (*pTpuRtStreamCallback)(void* userData);

/* ---- Devices ---- */

/** Begins to use the runtime. */
tpuRtStatus_t tpuRtInit(void);
/** Number of devices.
 * count: receives the number */
tpuRtStatus_t tpuRtGetDeviceCount(int* count);
/** The device that this thread has chosen, else the one that the program chose last.
 * device: number of the device, from 0; or receives it */
tpuRtStatus_t tpuRtGetDevice(int* device);
/** Name and memory of a device.
 * props: receives name and memory; what only a board has is 0
 * device_id: number of the device, from 0 */
tpuRtStatus_t tpuRtGetDeviceProperties(tpuRtDeviceProperties_t* props, int device_id);
/** File of the device.
 * fd: receives -1: no file stands for an emulated device */
tpuRtStatus_t tpuRtGetFd(int* fd);
/** Chooses a device, and starts it at its first use.
 * device: number of the device, from 0; or receives it */
tpuRtStatus_t tpuRtSetDevice(int device);
/** Waits for all streams of the device. */
tpuRtStatus_t tpuRtDeviceSynchronize(void);

/* ---- Memory ---- */

/** Allocates device memory.
 * devPtr: receives the device address; of a free: where it stands, unchanged afterwards
 * size: bytes
 * parallel_num: 0, 1 or 15: one piece of memory; others too, with a warning */
tpuRtStatus_t tpuRtMalloc(void** devPtr, unsigned long long size, int parallel_num);
/** Allocates device memory for pictures; the same memory here.
 * devPtr: receives the device address; of a free: where it stands, unchanged afterwards
 * size: bytes */
tpuRtStatus_t tpuRtMallocMedia(void** devPtr, unsigned long long size);
/** Gives device memory back.
 * devPtr: receives the device address; of a free: where it stands, unchanged afterwards
 * free_num: not used */
tpuRtStatus_t tpuRtFree(void** devPtr, int free_num);
/** Allocates device memory for instructions; the same memory here.
 * devPtr: receives the device address; of a free: where it stands, unchanged afterwards
 * size: bytes
 * parallel_num: 0, 1 or 15: one piece of memory; others too, with a warning */
tpuRtStatus_t tpuRtMallocInstr(void** devPtr, unsigned long long size, int parallel_num);
/** Gives memory of tpuRtMallocInstr back.
 * devPtr: receives the device address; of a free: where it stands, unchanged afterwards
 * free_num: not used */
tpuRtStatus_t tpuRtFreeInstr(void** devPtr, int free_num);
/** Allocates memory of the host, a whole number of pages.
 * ptr: receives the pointer; of a free: the pointer itself
 * size: bytes */
tpuRtStatus_t tpuRtMallocHost(void** ptr, unsigned long long size);
/** Gives host memory back.
 * ptr: receives the pointer; of a free: the pointer itself */
tpuRtStatus_t tpuRtFreeHost(void* ptr);

/** Copies from host to device.
 * devPtr: device address, any alignment
 * hostPtr: memory of the host
 * size: bytes */
tpuRtStatus_t tpuRtMemcpyS2D(void* devPtr, const void* hostPtr, unsigned long long size);
/** Copies from device to host.
 * hostPtr: memory of the host
 * devPtr: device address, any alignment
 * size: bytes */
tpuRtStatus_t tpuRtMemcpyD2S(void* hostPtr, const void* devPtr, unsigned long long size);
/** Copies on the device.
 * dstDevPtr: device address of the destination; may overlap the source
 * srcDevPtr: device address of the source
 * size: bytes */
tpuRtStatus_t tpuRtMemcpyD2D(void* dstDevPtr, const void* srcDevPtr, unsigned long long size);
/** Copies from host to device in a stream.
 * devPtr: device address, any alignment
 * hostPtr: memory of the host
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuRtStatus_t tpuRtMemcpyS2DAsync(void* devPtr, const void* hostPtr, unsigned long long size, tpuRtStream_t stream);
/** Copies from device to host in a stream.
 * hostPtr: memory of the host
 * devPtr: device address, any alignment
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuRtStatus_t tpuRtMemcpyD2SAsync(void* hostPtr, const void* devPtr, unsigned long long size, tpuRtStream_t stream);
/** Copies on the device in a stream.
 * dstDevPtr: device address of the destination; may overlap the source
 * srcDevPtr: device address of the source
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuRtStatus_t tpuRtMemcpyD2DAsync(void* dstDevPtr, const void* srcDevPtr, unsigned long long size,
                                  tpuRtStream_t stream);

/** Fills device memory with a byte.
 * devPtr: device address, any alignment
 * value: its low byte fills each byte
 * size: bytes */
tpuRtStatus_t tpuRtMemset(void* devPtr, int value, unsigned long long size);
/** Fills device memory with a byte in a stream.
 * devPtr: device address, any alignment
 * value: its low byte fills each byte
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuRtStatus_t tpuRtMemsetAsync(void* devPtr, int value, unsigned long long size, tpuRtStream_t stream);
/** Copies from one device to another; the same device may be both.
 * dstDevPtr: device address of the destination; may overlap the source
 * dstDevice: number of the device, from 0
 * srcDevPtr: device address of the source
 * srcDevice: number of the device, from 0
 * size: bytes */
tpuRtStatus_t tpuRtMemcpyP2P(void* dstDevPtr, int dstDevice, const void* srcDevPtr, int srcDevice,
                             unsigned long long size);
/** Copies from one device to another in a stream.
 * dstDevPtr: device address of the destination; may overlap the source
 * dstDevice: number of the device, from 0
 * srcDevPtr: device address of the source
 * srcDevice: number of the device, from 0
 * size: bytes
 * stream: the stream that the copy takes its place in */
tpuRtStatus_t tpuRtMemcpyP2PAsync(void* dstDevPtr, int dstDevice, const void* srcDevPtr, int srcDevice,
                                  unsigned long long size, tpuRtStream_t stream);

/** Bytes of device memory.
 * value: receives bytes */
tpuRtStatus_t tpuRtGetAllMemory(uint64_t* value);
/** Bytes of free device memory.
 * value: receives bytes */
tpuRtStatus_t tpuRtGetFreeMemory(uint64_t* value);
/** The most bytes of device memory that this program has had at a time.
 * value: receives bytes */
tpuRtStatus_t tpuRtGetPeakMemory(uint64_t* value);
/** Lets the peak begin again at what the program has now. */
tpuRtStatus_t tpuRtResetPeakMemory(void);

/* ---- Streams ---- */

/** Makes a stream on the chosen device.
 * pStream: receives the stream */
tpuRtStatus_t tpuRtStreamCreate(tpuRtStream_t* pStream);
/** Gives a stream back; what it was given is still done.
 * stream: the stream */
tpuRtStatus_t tpuRtStreamDestroy(tpuRtStream_t stream);
/** Waits for all that the stream was given, callbacks too.
 * stream: the stream */
tpuRtStatus_t tpuRtStreamSynchronize(tpuRtStream_t stream);
/** Calls a function of the program when its turn comes.
 * stream: the stream
 * callback: called on a thread of the stream's own; its result has no effect. It may use every function, but not
 *   wait for its own stream
 * userData: passed to the callback */
tpuRtStatus_t tpuRtStreamAddCallback(tpuRtStream_t stream, pTpuRtStreamCallback callback, void* userData);
/** Lets what the stream is given from now on wait for an event.
 * stream: the stream
 * event: a recorded event */
tpuRtStatus_t tpuRtStreamWaitEvent(tpuRtStream_t stream, tpuRtEvent_t event);
/** Lets the stream wait for an event, and waits for it as well.
 * stream: the stream
 * event: a recorded event */
tpuRtStatus_t tpuRtStreamWaitEventSync(tpuRtStream_t stream, tpuRtEvent_t event);

/* ---- Events ---- */

/** Makes an event.
 * pEvent: the event, or receives it */
tpuRtStatus_t tpuRtEventCreate(tpuRtEvent_t* pEvent);
/** Gives an event back; what waits for it goes on waiting.
 * pEvent: the event, or receives it
 * stream: the stream; of tpuRtEventFree: not used */
tpuRtStatus_t tpuRtEventFree(tpuRtEvent_t pEvent, tpuRtStream_t stream);
/** Marks a place in a stream: the event happens when all before it is done.
 * event: the event
 * stream: the stream; of tpuRtEventFree: not used */
tpuRtStatus_t tpuRtEventRecord(tpuRtEvent_t event, tpuRtStream_t stream);
/** Whether an event has happened.
 * event: the event */
tpuRtStatus_t tpuRtEventQuery(tpuRtEvent_t event);
/** Waits for an event; returns at once for one that was never recorded.
 * event: the event */
tpuRtStatus_t tpuRtEventSynchronize(tpuRtEvent_t event);
/** Time between two events.
 * ms: receives milliseconds
 * start: the earlier event
 * end: the later event; the other way round the time is negative */
tpuRtStatus_t tpuRtEventElapsedTime(float* ms, tpuRtEvent_t start, tpuRtEvent_t end);

/* ---- Kernels ---- */

/** Loads a module for a processor that no emulated chip has: refused.
 * module_file: path of a kernel module
 * stream: a stream of the device; NULL: the chosen device */
tpuRtKernelModule_t tpuRtKernelLoadModuleFileForCV(const char* module_file, tpuRtStream_t stream);
/** Loads a kernel module from a file.
 * module_file: path of a kernel module
 * stream: a stream of the device; NULL: the chosen device */
tpuRtKernelModule_t tpuRtKernelLoadModuleFile(const char* module_file, tpuRtStream_t stream);
/** Loads a kernel module from a file with a flag.
 * module_file: path of a kernel module
 * stream: a stream of the device; NULL: the chosen device
 * flag: stands in the module's `dest`; changes nothing else */
tpuRtKernelModule_t tpuRtKernelLoadModuleFileFlag(const char* module_file, tpuRtStream_t stream, uint32_t flag);
/** Loads a kernel module from memory.
 * data: bytes of a kernel module
 * length: how many
 * stream: a stream of the device; NULL: the chosen device */
tpuRtKernelModule_t tpuRtKernelLoadModule(const char* data, size_t length, tpuRtStream_t stream);
/** Loads a kernel module from memory with a flag.
 * data: bytes of a kernel module
 * length: how many
 * stream: a stream of the device; NULL: the chosen device
 * flag: stands in the module's `dest`; changes nothing else */
tpuRtKernelModule_t tpuRtKernelLoadModuleFlag(const char* data, size_t length, tpuRtStream_t stream, uint32_t flag);
/** Gives a module back; launches that streams were given before still run.
 * p_module: the module
 * stream: a stream of the device; NULL: the chosen device */
tpuRtStatus_t tpuRtKernelUnloadModule(tpuRtKernelModule_t p_module, tpuRtStream_t stream);
/** Gives a module back that was loaded with a flag.
 * p_module: the module
 * stream: a stream of the device; NULL: the chosen device
 * flag: stands in the module's `dest`; changes nothing else */
tpuRtStatus_t tpuRtKernelUnloadModuleFlag(tpuRtKernelModule_t p_module, tpuRtStream_t stream, uint32_t flag);

/** Runs a kernel and waits for it.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * group_num: how many groups, at least 1
 * block_num: workitems of a group, at least 1
 * stream: the stream */
tpuRtStatus_t tpuRtKernelLaunch(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                uint64_t group_num, uint64_t block_num, tpuRtStream_t stream);
/** Queues a kernel in a stream.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * group_num: how many groups, at least 1
 * block_num: workitems of a group, at least 1
 * stream: the stream */
tpuRtStatus_t tpuRtKernelLaunchAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                     uint64_t group_num, uint64_t block_num, tpuRtStream_t stream);
/** Launches on a processor that no emulated chip has: refused.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * channel_num: channels
 * block_num: workitems of a group, at least 1
 * output: receives results
 * stream: the stream */
tpuRtStatus_t tpuRtKernelLaunchCVOP(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint32_t channel_num, uint32_t block_num, tpuRtLaunchOutput_t output,
                                    tpuRtStream_t stream);
/** Launches on a processor that no emulated chip has: refused.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * channel_num: channels
 * block_num: workitems of a group, at least 1
 * output: receives results
 * stream: the stream */
tpuRtStatus_t tpuRtKernelLaunchCVEx(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint32_t channel_num, uint32_t block_num, tpuRtLaunchOutput_t output,
                                    tpuRtStream_t stream);

/* ---- Several chips ---- */

/** A name for a group of ranks.
 * uuid: receives one character and a zero byte */
tpuRtStatus_t tpuRtGetUniqueId(char* uuid);
/** Runs a kernel that ranks take turns with; with one rank an ordinary launch of one group.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * block_num: workitems of a group, at least 1
 * stream: the stream
 * trans_t: not used by one rank
 * uuid: of tpuRtGetUniqueId; not used by one rank
 * More: softtpu api tpuRtKernelLaunchWithLock */
tpuRtStatus_t tpuRtKernelLaunchWithLock(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                        uint64_t block_num, tpuRtStream_t stream, int trans_t, char* uuid, int rank_id,
                                        int rank_num);
/** Queues a kernel that ranks take turns with; with one rank an ordinary launch of one group.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * block_num: workitems of a group, at least 1
 * stream: the stream
 * trans_t: not used by one rank
 * uuid: of tpuRtGetUniqueId; not used by one rank
 * More: softtpu api tpuRtKernelLaunchWithLockAsync */
tpuRtStatus_t tpuRtKernelLaunchWithLockAsync(tpuRtKernelModule_t module, const char* func_name, void* args,
                                             uint32_t size, uint64_t block_num, tpuRtStream_t stream, int trans_t,
                                             char* uuid, int rank_id, int rank_num);
/** Runs a kernel that moves data between chips; with one rank an ordinary launch of one group.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * block_num: workitems of a group, at least 1
 * stream: the stream
 * cdma_only: not used by one rank
 * uuid: of tpuRtGetUniqueId; not used by one rank
 * More: softtpu api tpuRtKernelLaunchCDMA */
tpuRtStatus_t tpuRtKernelLaunchCDMA(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint64_t block_num, tpuRtStream_t stream, int cdma_only, char* uuid, int rank_id,
                                    int rank_num);
/** Queues a kernel that moves data between chips; with one rank an ordinary launch of one group.
 * module: a loaded module
 * func_name: name of the kernel: registered, or of an exported function
 * args: its arguments, which are copied; NULL with size 0
 * size: bytes of the arguments: a multiple of 4 up to 65536
 * block_num: workitems of a group, at least 1
 * stream: the stream
 * cdma_only: not used by one rank
 * uuid: of tpuRtGetUniqueId; not used by one rank
 * More: softtpu api tpuRtKernelLaunchCDMAAsync */
tpuRtStatus_t tpuRtKernelLaunchCDMAAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                         uint64_t block_num, tpuRtStream_t stream, int cdma_only, char* uuid,
                                         int rank_id, int rank_num);
/** Prepares the links of a chip; there are none.
 * device_id: number of the device */
tpuRtStatus_t tpuRtSetupC2C(int device_id);
/** Finds out which chips are linked: none. */
tpuRtStatus_t tpuRtSetupTopology(void);
/** Which chips are linked.
 * topology: receives an array with an entry for each device, without ports (-1); it belongs to the library */
tpuRtStatus_t tpuRtGetTopology(struct c2c_port_info** topology);
/** Serial number of a chip.
 * device_id: number of the device
 * sn: receives the number */
tpuRtStatus_t tpuRtGetChipSN(int device_id, char* sn);
/** Slot of a board.
 * device_id: number of the device
 * pcie_id: receives the slot */
tpuRtStatus_t tpuRtGetPcieStatus(int device_id, int* pcie_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
