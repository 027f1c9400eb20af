/* The frame that the examples of host functions stand in: a device, memory on it, a module with one kernel. */
#ifndef SOFTTPU_TESTS_MANUAL_HOST_FRAME_H_
#define SOFTTPU_TESTS_MANUAL_HOST_FRAME_H_

#include <bmlib_internal.h>
#include <bmlib_runtime.h>
#include <softtpu/layout.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tpu_runtime_api/tpu_runtime_api.h>
#include <tpudnn/tpuDNN.h>
#include <tpuv7/tpuv7_manager.h>
#include <tpuv7/tpuv7_modelrt.h>

typedef struct {
  const char* name;
  void (*run)(void);
  const char* lacks;
} example_t;
extern const example_t examples_host[];

extern bm_handle_t handle;
extern bm_device_mem_t mem, other; /* 4096 bytes each */
extern sg_device_mem_t sg_mem;
extern bm_device_mem_u64_t mem_u64, other_u64;
extern unsigned char data[4096];
extern char text[4096];
extern const char* module_path; /* a module with the kernel "nothing" */
extern const char* module_data;
extern size_t module_bytes;
extern tpu_kernel_module_t module;
extern tpu_kernel_function_t function;
extern softtpu_conv_block_t block; /* 64 x 40 weights of 3 x 3, fp16, in the 32IC mode */
extern unsigned short weights[64 * 40 * 3 * 3];
extern float bias[64];
extern unsigned char out[1 << 20];
/* Of the newer runtimes, on the same device. */
extern tpuRtStream_t stream;
extern tpuRtEvent_t event;          /* has happened */
extern void *memory, *other_memory; /* 4096 bytes each */
extern tpuRtKernelModule_t rt_module;
extern tpudnnHandle_t dnn;
extern tpuRtNetContext_t context;
extern tpuRtNet_t net;
extern const char *net_path, *net_name, *net_data;
extern size_t net_bytes;
extern tpuRtTensor_t net_input, net_output;
int example_callback(void* user_data);
void example_log(const char* tag, int level, const char* format, va_list arguments);

void example_failed(const char* claim);
#define EXAMPLE_CHECK(claim)              \
  do {                                    \
    if (!(claim)) example_failed(#claim); \
  } while (0)

#endif
