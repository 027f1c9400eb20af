/* Runs the examples of the host functions of the reference: host_examples MODULE NETWORK. */
#include "tests/manual/host_frame.h"

#include <stdlib.h>

bm_handle_t handle;
bm_device_mem_t mem, other;
sg_device_mem_t sg_mem;
bm_device_mem_u64_t mem_u64, other_u64;
unsigned char data[4096];
char text[4096];
const char* module_path;
const char* module_data;
size_t module_bytes;
tpu_kernel_module_t module;
tpu_kernel_function_t function;
softtpu_conv_block_t block = {.npu_num = 64,
                              .eu_bytes = 64,
                              .oc = 64,
                              .ic = 40,
                              .kh = 3,
                              .kw = 3,
                              .ic_pack = SOFTTPU_32IC,
                              .element_bytes = 2,
                              .bias_bytes = 0};
unsigned short weights[64 * 40 * 3 * 3];
float bias[64];
unsigned char out[1 << 20];
tpuRtStream_t stream;
tpuRtEvent_t event;
void *memory, *other_memory;
tpuRtKernelModule_t rt_module;
tpudnnHandle_t dnn;
tpuRtNetContext_t context;
tpuRtNet_t net;
const char *net_path, *net_name, *net_data;
size_t net_bytes;
tpuRtTensor_t net_input, net_output;

static const char* running;
static int failures;

void example_failed(const char* claim) {
  fprintf(stderr, "%s: not true: %s\n", running, claim);
  ++failures;
}

void example_log(const char* tag, int level, const char* format, va_list arguments) {
  (void)tag, (void)level, (void)format, (void)arguments;
}

int example_callback(void* user_data) {
  (void)user_data;
  return 0;
}

static size_t read_file(const char* path, char* to, size_t most) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(2);
  const size_t bytes = fread(to, 1, most, file);
  fclose(file);
  return bytes;
}

static void set_up_rt(void) {
  static char bytes[1 << 22];
  char** names = NULL;
  if (tpuRtSetDevice(0) != tpuRtSuccess || tpuRtStreamCreate(&stream) != tpuRtSuccess) exit(2);
  tpuRtMalloc(&memory, 4096, 0);
  tpuRtMalloc(&other_memory, 4096, 0);
  tpuRtEventCreate(&event);
  tpuRtEventRecord(event, stream);
  tpuRtEventSynchronize(event);
  rt_module = tpuRtKernelLoadModuleFile(module_path, stream);
  dnn = tpudnnHandleFromStream(0, stream, rt_module);
  tpuRtCreateNetContext(&context);
  net_bytes = read_file(net_path, bytes, sizeof bytes);
  net_data = bytes;
  if (tpuRtLoadNet(net_path, context, &net) != tpuRtSuccess || tpuRtGetNetNames(net, &names) != 1) exit(2);
  net_name = names[0];
  const tpuRtNetInfo_t info = tpuRtGetNetInfo(net, net_name);
  net_input.dtype = info.input.dtypes[0];
  net_input.shape = info.stages[0].input_shapes[0];
  tpuRtMalloc(&net_input.data, 1 << 20, 0);
  tpuRtMalloc(&net_output.data, 1 << 20, 0);
}

static void set_up(void) {
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) exit(2);
  bm_malloc_device_byte(handle, &mem, 4096);
  bm_malloc_device_byte(handle, &other, 4096);
  sg_malloc_device_byte(handle, &sg_mem, 4096);
  bm_malloc_device_byte_u64(handle, &mem_u64, 4096);
  bm_malloc_device_byte_u64(handle, &other_u64, 4096);
  static char bytes[1 << 22];
  module_bytes = read_file(module_path, bytes, sizeof bytes);
  module_data = bytes;
  module = tpu_kernel_load_module_file(handle, module_path);
  function = tpu_kernel_get_function(handle, module, "nothing");
  strcpy(text, "name");
  set_up_rt();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  module_path = argv[1];
  net_path = argv[2];
  set_up();
  int count = 0;
  for (const example_t* example = examples_host; example->name != NULL; ++example, ++count) {
    running = example->name;
    example->run();
  }
  printf("%d examples, %d claims not true\n", count, failures);
  return failures == 0 && count > 350 ? 0 : 1;
}
