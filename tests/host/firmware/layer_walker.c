// Stands for a chip's firmware: walks lists of layers that make_networks.py has written. It is built as compilers build
// theirs, with functions of tpu_kernel.h of its own (own_interface.c), which must not be what answers.
#include <stdlib.h>

#include "tpu_kernel.h"

// Of own_interface.c; softtpu has a function of this name, too.
void bm_atomic_conv(const void* count);

#define CHECK(holds)                                     \
  if (!(holds)) {                                        \
    printf("layer_walker.c:%d: " #holds "\n", __LINE__); \
    exit(255);                                           \
  }

enum {
  kAdd = 20001,       // parameter: a float
  kMultiply = 20002,  // the same
  kExit = 20003,      // ends the process, as a failed assertion of such a library does
  kRefused = 20004,   // calls a function that softtpu refuses, and divides by its answer
  kSilent = 20005,    // ends the launch without a shape
  kBadPointer = 20006,
  kTooLarge = 20007,  // gives its output more elements than fit
  kLoops = 20008,     // never ends
};

enum { kMostTensors = 16 };
typedef struct {
  unsigned id;
  unsigned long long address;
  int dims, sizes[8];
} tensor_t;

typedef struct {
  const unsigned char* at;
} reader_t;

static unsigned long long take(reader_t* from, int bytes) {
  unsigned long long value = 0;
  memcpy(&value, from->at, (size_t)bytes);
  from->at += bytes;
  return value;
}

static tensor_t* find(tensor_t* tensors, int count, unsigned id) {
  for (int i = 0; i < count; ++i) {
    if (tensors[i].id == id) return &tensors[i];
  }
  return NULL;
}

// Exported, as functions of layers are in firmware: traces and findings name it.
void layer_elementwise(int type, float constant, const tensor_t* from, const tensor_t* to);
void layer_elementwise(int type, float constant, const tensor_t* from, const tensor_t* to) {
  int count = 1;
  for (int i = 0; i < from->dims; ++i) count *= from->sizes[i];
  const dim4 shape = {1, 1, 1, count};
  scalar_t c;
  c.f32 = constant;
  tpu_gdma_cpy_S2L(0, from->address, &shape, NULL, NULL, DT_FP32);
  if (type == kAdd) tpu_bdc_fp_add_C(0x8000, 0, c, &shape, NULL, NULL, DT_FP32);
  if (type == kMultiply) tpu_bdc_fp_mul_C(0x8000, 0, c, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_L2S(to->address, 0x8000, &shape, NULL, NULL, DT_FP32);
}

void sg_api_dynamic_fullnet(const void* arguments);
void sg_api_dynamic_fullnet(const void* arguments) {
  reader_t args = {(const unsigned char*)arguments};
  const unsigned long long list_at = take(&args, 8);
  const unsigned words = (unsigned)take(&args, 4);
  tensor_t tensors[kMostTensors];
  unsigned long long results[kMostTensors];
  int count = (int)take(&args, 4);
  for (int i = 0; i < count; ++i) {
    tensors[i].address = take(&args, 8);
    tensors[i].dims = (int)(take(&args, 4) & 0xffff);
    for (int k = 0; k < tensors[i].dims; ++k) tensors[i].sizes[k] = (int)take(&args, 4);
    take(&args, 4);
  }
  const int outputs = (int)take(&args, 4);
  for (int i = 0; i < outputs; ++i) results[i] = take(&args, 8);
  CHECK(take(&args, 4) == 1);
  const unsigned long long shapes_at = take(&args, 8);
  const unsigned long long context = take(&args, 8);
  const int pieces = (int)take(&args, 4);
  unsigned long long ends[kMostTensors];
  unsigned long long moved[kMostTensors];
  for (int i = 0; i < pieces; ++i) ends[i] = take(&args, 8);
  for (int i = 0; i < pieces; ++i) moved[i] = take(&args, 8);
  CHECK(pieces == 2);

  tpu_initialize();
  tpu_invalidate_cache(list_at, 4ULL * words);
  reader_t list = {(const unsigned char*)tpu_global_mem_addr(list_at)};
  for (int i = 0; i < count; ++i) tensors[i].id = (unsigned)take(&list, 4);
  unsigned result_ids[kMostTensors];
  for (int i = 0; i < outputs; ++i) result_ids[i] = (unsigned)take(&list, 4);
  const int groups = (int)take(&list, 4);
  for (int group = 0; group < groups; ++group) {
    take(&list, 4);
    take(&list, 1);
    const int in = (int)take(&list, 1);
    const int out = (int)take(&list, 1);
    list.at += 1 + 1 + 3 + 4 + 4 * (in + out);
    const int type = (int)take(&list, 4);
    list.at += 4 + 4 + 16;  // mark, length, head
    CHECK(take(&list, 4) == 1);
    list.at += 1;
    const tensor_t* from = find(tensors, count, (unsigned)take(&list, 4));
    CHECK(from != NULL);
    list.at += 4;
    const int dims = (int)take(&list, 1);
    list.at += 4 * dims + 1;
    CHECK(take(&list, 4) == 1);
    list.at += 1;
    tensor_t to = *from;
    to.id = (unsigned)take(&list, 4);
    list.at += 4;
    const unsigned long long compiled = take(&list, 8);
    list.at += 1;
    to.address = compiled + moved[compiled - context < ends[0] ? 0 : 1];
    int result = 0;
    while (result < outputs && result_ids[result] != to.id) ++result;
    if (result < outputs) to.address = results[result];
    const unsigned bits = (unsigned)take(&list, 4);
    float constant;
    memcpy(&constant, &bits, sizeof constant);
    int calls = 0;
    bm_atomic_conv(&calls);
    CHECK(calls == 1);
    switch (type) {
      case kExit: exit(255);
      case kRefused: to.sizes[0] = 64 / tpu_cal_store_mode(0, NULL, NULL, DT_FP32); break;
      case kSilent: return;
      case kBadPointer: *(volatile int*)8 = 1; break;
      case kTooLarge: to.sizes[0] = 1 << 20; break;
      case kLoops:
        for (volatile int forever = 1; forever;) {
        }
        break;
      default: layer_elementwise(type, constant, from, &to);
    }
    tensors[count++] = to;
  }
  tpu_poll();
  int* shapes = (int*)tpu_global_mem_addr(shapes_at);
  for (int i = 0; i < outputs; ++i) {
    const tensor_t* tensor = find(tensors, count, result_ids[i]);
    shapes[10 * i] = tensor->dims;
    for (int k = 0; k < tensor->dims; ++k) shapes[10 * i + 1 + k] = tensor->sizes[k];
  }
  tpu_flush_cache(shapes_at, 40ULL * (unsigned)outputs);
}
TPUKERNEL_FUNC_REGISTER(sg_api_dynamic_fullnet)
