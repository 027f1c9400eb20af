/* Runs the examples of the host functions of the reference: host_examples MODULE. */
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
softtpu_conv_block_t block = {.npu_num = 64, .eu_bytes = 64, .oc = 64, .ic = 40, .kh = 3, .kw = 3,
                              .ic_pack = SOFTTPU_32IC, .element_bytes = 2, .bias_bytes = 0};
unsigned short weights[64 * 40 * 3 * 3];
float bias[64];
unsigned char out[1 << 20];

static const char* running;
static int failures;

void example_failed(const char* claim) {
  fprintf(stderr, "%s: not true: %s\n", running, claim);
  ++failures;
}

void example_log(const char* tag, int level, const char* format, va_list arguments) {
  (void)tag, (void)level, (void)format, (void)arguments;
}

static void set_up(void) {
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) exit(2);
  bm_malloc_device_byte(handle, &mem, 4096);
  bm_malloc_device_byte(handle, &other, 4096);
  sg_malloc_device_byte(handle, &sg_mem, 4096);
  bm_malloc_device_byte_u64(handle, &mem_u64, 4096);
  bm_malloc_device_byte_u64(handle, &other_u64, 4096);
  FILE* file = fopen(module_path, "rb");
  if (file == NULL) exit(2);
  static char bytes[1 << 22];
  module_bytes = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  module_data = bytes;
  module = tpu_kernel_load_module_file(handle, module_path);
  function = tpu_kernel_get_function(handle, module, "nothing");
  strcpy(text, "name");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  module_path = argv[1];
  set_up();
  int count = 0;
  for (const example_t* example = examples_host; example->name != NULL; ++example, ++count) {
    running = example->name;
    example->run();
  }
  printf("%d examples, %d claims not true\n", count, failures);
  return failures == 0 && count > 200 ? 0 : 1;
}
