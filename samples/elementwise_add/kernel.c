// out = a + b for arrays of any length, larger than local memory. Two sets of buffers: while one piece is computed, the
// next is loaded and the previous stored, all in one parallel section.
#include <tpu_kernel.h>

#include "args.h"

// A buffer is an eighth of local memory, two banks of BM1684X: no two buffers share a bank, and the engines never wait
// for each other. 2 sets x 3 buffers are six eighths.
static int buffer_bytes(void) { return tpu_local_mem_size_per_npu() / 8; }
// Elements of one piece in one NPU.
static int most_in_npu(void) { return buffer_bytes() / 4; }

typedef struct {
  unsigned long long first;  // element
  dim4 shape;                // {1, NPUs, 1, elements in one NPU}
} piece_t;

static local_addr_t buffer(int set, int which) { return (local_addr_t)((set * 3 + which) * buffer_bytes()); }

static piece_t piece_of(const add_args_t* args, int index) {
  const unsigned long long npus = (unsigned long long)tpu_npu_num();
  const unsigned long long most = (unsigned long long)most_in_npu();
  const unsigned long long first = (unsigned long long)index * most * npus;
  const unsigned long long left = (args->count - first) / npus;
  const piece_t piece = {first, {1, (int)npus, 1, (int)(left < most ? left : most)}};
  return piece;
}

static void load(const add_args_t* args, int index) {
  const piece_t piece = piece_of(args, index);
  tpu_gdma_cpy_S2L(buffer(index % 2, 0), args->a + piece.first * 4, &piece.shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(buffer(index % 2, 1), args->b + piece.first * 4, &piece.shape, NULL, NULL, DT_FP32);
}

static void compute(const add_args_t* args, int index) {
  const piece_t piece = piece_of(args, index);
  const int set = index % 2;
  tpu_bdc_fp_add(buffer(set, 2), buffer(set, 0), buffer(set, 1), &piece.shape, NULL, NULL, NULL, DT_FP32);
}

static void store(const add_args_t* args, int index) {
  const piece_t piece = piece_of(args, index);
  tpu_gdma_cpy_L2S(args->out + piece.first * 4, buffer(index % 2, 2), &piece.shape, NULL, NULL, DT_FP32);
}

int add(const void* raw) {
  const add_args_t* args = raw;
  const unsigned long long per_piece = (unsigned long long)most_in_npu() * (unsigned long long)tpu_npu_num();
  TPUKERNEL_ASSERT(args->count > 0 && args->count % (unsigned long long)tpu_npu_num() == 0);
  const int pieces = (int)((args->count + per_piece - 1) / per_piece);
  tpu_initialize();
  for (int step = 0; step < pieces + 2; ++step) {
    tpu_parallel_start();
    if (step >= 2) store(args, step - 2);
    if (step < pieces) load(args, step);
    if (step >= 1 && step - 1 < pieces) compute(args, step - 1);
    tpu_parallel_end();
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(add)
