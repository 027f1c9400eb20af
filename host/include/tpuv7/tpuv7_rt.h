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
}* tpuRtLaunchOutput_t;

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

/* May be called any number of times, or left out. */
tpuRtStatus_t tpuRtInit(void);
tpuRtStatus_t tpuRtGetDeviceCount(int* count);
/* The device that this thread has chosen, else the one that any thread chose last. */
tpuRtStatus_t tpuRtGetDevice(int* device);
tpuRtStatus_t tpuRtGetDeviceProperties(tpuRtDeviceProperties_t* props, int device_id);
/* -1: no file stands for an emulated device. */
tpuRtStatus_t tpuRtGetFd(int* fd);
/* Starts the device at its first use. Has to come before streams and memory. */
tpuRtStatus_t tpuRtSetDevice(int device);
/* Waits for all streams of the device; the first failure since they were waited for. */
tpuRtStatus_t tpuRtDeviceSynchronize(void);

/* ---- Memory ---- */

/* A device address. parallel_num 0, 1 and 15 mean one piece of memory, as every other number does. */
tpuRtStatus_t tpuRtMalloc(void** devPtr, unsigned long long size, int parallel_num);
tpuRtStatus_t tpuRtMallocMedia(void** devPtr, unsigned long long size);
/* Frees the memory at *devPtr, which keeps its value. */
tpuRtStatus_t tpuRtFree(void** devPtr, int free_num);
tpuRtStatus_t tpuRtMallocInstr(void** devPtr, unsigned long long size, int parallel_num);
tpuRtStatus_t tpuRtFreeInstr(void** devPtr, int free_num);
tpuRtStatus_t tpuRtMallocHost(void** ptr, unsigned long long size);
tpuRtStatus_t tpuRtFreeHost(void* ptr);

/* These wait for the launches that the device was given, not for what still waits in a stream behind other work. */
tpuRtStatus_t tpuRtMemcpyS2D(void* devPtr, const void* hostPtr, unsigned long long size);
tpuRtStatus_t tpuRtMemcpyD2S(void* hostPtr, const void* devPtr, unsigned long long size);
tpuRtStatus_t tpuRtMemcpyD2D(void* dstDevPtr, const void* srcDevPtr, unsigned long long size);
/* In their place in the stream. The host's memory is used then, and not before. */
tpuRtStatus_t tpuRtMemcpyS2DAsync(void* devPtr, const void* hostPtr, unsigned long long size, tpuRtStream_t stream);
tpuRtStatus_t tpuRtMemcpyD2SAsync(void* hostPtr, const void* devPtr, unsigned long long size, tpuRtStream_t stream);
tpuRtStatus_t tpuRtMemcpyD2DAsync(void* dstDevPtr, const void* srcDevPtr, unsigned long long size,
                                  tpuRtStream_t stream);

/* Bytes: of the device, of those what nobody has, and the most that this program has had at a time. */
tpuRtStatus_t tpuRtGetAllMemory(uint64_t* value);
tpuRtStatus_t tpuRtGetFreeMemory(uint64_t* value);
tpuRtStatus_t tpuRtGetPeakMemory(uint64_t* value);
tpuRtStatus_t tpuRtResetPeakMemory(void);

/* ---- Streams ---- */

tpuRtStatus_t tpuRtStreamCreate(tpuRtStream_t* pStream);
/* Returns at once; what the stream was given is still done. */
tpuRtStatus_t tpuRtStreamDestroy(tpuRtStream_t stream);
/* Waits for all that the stream was given, callbacks too; the first failure since the last time. */
tpuRtStatus_t tpuRtStreamSynchronize(tpuRtStream_t stream);
/* Calls back on a thread of the stream's own, in its place. What it returns has no effect. It may use every function, but not
 * wait for its own stream. */
tpuRtStatus_t tpuRtStreamAddCallback(tpuRtStream_t stream, pTpuRtStreamCallback callback, void* userData);
/* What the stream is given from now on waits for the event; the second form waits for the event itself as well. */
tpuRtStatus_t tpuRtStreamWaitEvent(tpuRtStream_t stream, tpuRtEvent_t event);
tpuRtStatus_t tpuRtStreamWaitEventSync(tpuRtStream_t stream, tpuRtEvent_t event);

/* ---- Events ---- */

tpuRtStatus_t tpuRtEventCreate(tpuRtEvent_t* pEvent);
tpuRtStatus_t tpuRtEventFree(tpuRtEvent_t pEvent, tpuRtStream_t stream);
tpuRtStatus_t tpuRtEventRecord(tpuRtEvent_t event, tpuRtStream_t stream);
/* tpuRtDevnotready: not yet, or never recorded. */
tpuRtStatus_t tpuRtEventQuery(tpuRtEvent_t event);
tpuRtStatus_t tpuRtEventSynchronize(tpuRtEvent_t event);
/* The estimated time on the chip of what ran between, with SOFTTPU_TIME; else the time that passed here. */
tpuRtStatus_t tpuRtEventElapsedTime(float* ms, tpuRtEvent_t start, tpuRtEvent_t end);

/* ---- Kernels ---- */

/* NULL: it cannot be loaded. The same bytes again are the same module, which is to be unloaded as often. */
tpuRtKernelModule_t tpuRtKernelLoadModuleFileForCV(const char* module_file, tpuRtStream_t stream);
tpuRtKernelModule_t tpuRtKernelLoadModuleFile(const char* module_file, tpuRtStream_t stream);
tpuRtKernelModule_t tpuRtKernelLoadModuleFileFlag(const char* module_file, tpuRtStream_t stream, uint32_t flag);
tpuRtKernelModule_t tpuRtKernelLoadModule(const char* data, size_t length, tpuRtStream_t stream);
tpuRtKernelModule_t tpuRtKernelLoadModuleFlag(const char* data, size_t length, tpuRtStream_t stream, uint32_t flag);
tpuRtStatus_t tpuRtKernelUnloadModule(tpuRtKernelModule_t p_module, tpuRtStream_t stream);
tpuRtStatus_t tpuRtKernelUnloadModuleFlag(tpuRtKernelModule_t p_module, tpuRtStream_t stream, uint32_t flag);

/* group_num groups, one after the other, of block_num workitems, each on a core of its own (at most as many as there
 * are cores). Every workitem sees all of args; size is a multiple of 4 up to 65536. */
tpuRtStatus_t tpuRtKernelLaunch(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                uint64_t group_num, uint64_t block_num, tpuRtStream_t stream);
/* Returns when the launch is queued; args are copied. A failure is the stream's. */
tpuRtStatus_t tpuRtKernelLaunchAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                     uint64_t group_num, uint64_t block_num, tpuRtStream_t stream);
tpuRtStatus_t tpuRtKernelLaunchCVOP(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint32_t channel_num, uint32_t block_num, tpuRtLaunchOutput_t output,
                                    tpuRtStream_t stream);
tpuRtStatus_t tpuRtKernelLaunchCVEx(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint32_t channel_num, uint32_t block_num, tpuRtLaunchOutput_t output,
                                    tpuRtStream_t stream);

/* ---- Several chips ---- */

/* `uuid` gets one character and a zero byte. */
tpuRtStatus_t tpuRtGetUniqueId(char* uuid);
/* With a rank_num of 1 or less like a launch of one group; more chips are not emulated. */
tpuRtStatus_t tpuRtKernelLaunchWithLock(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                        uint64_t block_num, tpuRtStream_t stream, int trans_t, char* uuid, int rank_id,
                                        int rank_num);
tpuRtStatus_t tpuRtKernelLaunchWithLockAsync(tpuRtKernelModule_t module, const char* func_name, void* args,
                                             uint32_t size, uint64_t block_num, tpuRtStream_t stream, int trans_t,
                                             char* uuid, int rank_id, int rank_num);
tpuRtStatus_t tpuRtKernelLaunchCDMA(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                    uint64_t block_num, tpuRtStream_t stream, int cdma_only, char* uuid, int rank_id,
                                    int rank_num);
tpuRtStatus_t tpuRtKernelLaunchCDMAAsync(tpuRtKernelModule_t module, const char* func_name, void* args, uint32_t size,
                                         uint64_t block_num, tpuRtStream_t stream, int cdma_only, char* uuid,
                                         int rank_id, int rank_num);
/* No chip is linked with another: these succeed, and the topology has as many entries as there are devices, without
 * ports (-1). It belongs to the library. */
tpuRtStatus_t tpuRtSetupC2C(int device_id);
tpuRtStatus_t tpuRtSetupTopology(void);
tpuRtStatus_t tpuRtGetTopology(struct c2c_port_info** topology);
tpuRtStatus_t tpuRtGetChipSN(int device_id, char* sn);
tpuRtStatus_t tpuRtGetPcieStatus(int device_id, int* pcie_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
