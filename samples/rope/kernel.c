// Rotary position embedding: the first and second half of each head's vector are turned by an angle of position and
// column. x is [positions, heads, dim] in fp16, cosine and sine are [positions, dim / 2]. A position is a channel; all
// its heads share its angles by h stride 0.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, x, cosine, sine;
  int positions, heads, dim;
} rope_args_t;

void rope(const void* raw) {
  const rope_args_t* args = raw;
  const int npus = tpu_npu_num(), heads = args->heads, half = args->dim / 2;
  const local_addr_t vectors = (local_addr_t)tpu_aligned_feature_size(heads, args->dim, DT_FP16);
  const local_addr_t halves = (local_addr_t)tpu_aligned_feature_size(heads, half, DT_FP16);
  const local_addr_t angles = (local_addr_t)tpu_aligned_feature_size(1, half, DT_FP16);
  const local_addr_t x = 0, out = x + vectors, product = out + vectors, cosine = product + halves,
                     sine = cosine + angles;
  const local_addr_t second = 2 * (local_addr_t)half;  // bytes from the first half of a vector to its second
  TPUKERNEL_ASSERT(args->positions > 0 && heads > 0 && half > 0 && 2 * half == args->dim);
  TPUKERNEL_ASSERT(sine + angles <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  for (int first = 0; first < args->positions; first += npus) {
    const int count = MIN(npus, args->positions - first);
    const dim4 whole = {1, count, heads, args->dim}, part = {1, count, heads, half}, angle = {1, count, 1, half};
    const unsigned long long at = 2ull * (unsigned)first * (unsigned)(heads * args->dim);
    const unsigned long long angle_at = 2ull * (unsigned)first * (unsigned)half;
    dim4 in_whole, repeat;  // a half within the vectors; the angles, once for each head
    tpu_aligned_stride(&in_whole, 0, &whole, DT_FP16);
    tpu_aligned_stride(&repeat, 0, &angle, DT_FP16);
    repeat.h = 0;
    tpu_gdma_cpy_S2L(x, args->x + at, &whole, NULL, NULL, DT_FP16);
    tpu_gdma_cpy_S2L(cosine, args->cosine + angle_at, &angle, NULL, NULL, DT_FP16);
    tpu_gdma_cpy_S2L(sine, args->sine + angle_at, &angle, NULL, NULL, DT_FP16);
    // out1 = x1 * cosine - x2 * sine
    tpu_bdc_fp_mul(product, x + second, sine, &part, NULL, &in_whole, &repeat, DT_FP16);
    tpu_bdc_fp_mul(out, x, cosine, &part, &in_whole, &in_whole, &repeat, DT_FP16);
    tpu_bdc_fp_sub(out, out, product, &part, &in_whole, &in_whole, NULL, DT_FP16);
    // out2 = x2 * cosine + x1 * sine
    tpu_bdc_fp_mul(product, x, sine, &part, NULL, &in_whole, &repeat, DT_FP16);
    tpu_bdc_fp_mul(out + second, x + second, cosine, &part, &in_whole, &in_whole, &repeat, DT_FP16);
    tpu_bdc_fp_add(out + second, out + second, product, &part, &in_whole, &in_whole, NULL, DT_FP16);
    tpu_gdma_cpy_L2S(args->out + at, out, &whole, NULL, NULL, DT_FP16);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(rope)
