// Max pooling by 2 x 2 windows that also gives where in the window the largest element was: 0 and 1 in its first row, 2
// and 3 in its second; of equal ones the first. A window's four elements are four tensors: the same bytes with strides
// of two.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, index, in;  // [c, h / 2, w / 2] fp32; the same, int32; [c, h, w] fp32
  int c, h, w;
} max_pool_index_args_t;

static variable_t tensor(local_addr_t addr) { return (variable_t){.type = TENSOR, .context.addr = addr}; }
static variable_t number(int value) { return (variable_t){.type = SCALAR, .context.scalar.s32 = value}; }

void max_pool_index(const void* raw) {
  const max_pool_index_args_t* args = raw;
  const int npus = tpu_npu_num(), h = args->h, w = args->w;
  const local_addr_t image = (local_addr_t)tpu_aligned_feature_size(h, w, DT_FP32);
  const local_addr_t quarter = (local_addr_t)tpu_aligned_feature_size(h / 2, w / 2, DT_FP32);
  const local_addr_t in = 0, element = image;
  // The best element so far and its place, in two sets: a result may not lie on its operands.
  const local_addr_t best[2] = {element + quarter, element + 2 * quarter},
                     place[2] = {element + 3 * quarter, element + 4 * quarter};
  TPUKERNEL_ASSERT(args->c > 0 && h > 0 && w > 0 && h % 2 == 0 && w % 2 == 0);
  TPUKERNEL_ASSERT(element + 5 * quarter <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  for (int first = 0; first < args->c; first += npus) {
    const dim4 whole = {1, MIN(npus, args->c - first), h, w}, part = {1, whole.c, h / 2, w / 2};
    const unsigned long long at = 4ull * (unsigned)first * (unsigned)(h * w);
    dim4 every_other;
    tpu_aligned_stride(&every_other, 0, &whole, DT_FP32);
    every_other.h = 2 * w;
    every_other.w = 2;
    tpu_gdma_cpy_S2L(in, args->in + at, &whole, NULL, NULL, DT_FP32);
    tpu_bdc_cpy(best[0], in, &part, NULL, &every_other, DT_FP32);
    tpu_bdc_set_C(place[0], (scalar_t){.s32 = 0}, &part, NULL, DT_INT32);
    for (int i = 1; i < 4; ++i) {
      const int now = i % 2, before = 1 - now;
      tpu_bdc_cpy(element, in + (local_addr_t)(4 * (i / 2 * w + i % 2)), &part, NULL, &every_other, DT_FP32);
      const variable_t candidate = tensor(element), best_before = tensor(best[before]);
      const variable_t candidate_place = number(i), place_before = tensor(place[before]);
      tpu_bdc_maximum_greater_select(best[now], place[now], &candidate, &best_before, &candidate_place, &place_before,
                                     &part, DT_FP32, DT_INT32);
    }
    tpu_gdma_cpy_L2S(args->out + at / 4, best[1], &part, NULL, NULL, DT_FP32);
    tpu_gdma_cpy_L2S(args->index + at / 4, place[1], &part, NULL, NULL, DT_INT32);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(max_pool_index)
