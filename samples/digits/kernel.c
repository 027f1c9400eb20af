// The whole network in one launch: weights are loaded once, images pass through in batches. Every layer is a
// convolution (the last one with a window as large as its input), so fp32, fp16 and int8 differ in a few calls only.
#include <tpu_kernel.h>

#include "args.h"

static const local_addr_t kWeights = 0, kBuffers[2] = {0x10000, 0x20000};
static const int kBufferBytes = 0x10000;

typedef struct {
  data_type_t dtype;
  dim4 shape;
  int buffer;  // which of kBuffers
} activation_t;

static unsigned long long moved;

static int bytes_of(const dim4* shape, data_type_t dtype) {
  return shape->n * shape->c * shape->h * shape->w * tpu_data_type_size(dtype);
}

static void load(local_addr_t dst, global_addr_t src, const dim4* shape, data_type_t dtype) {
  tpu_gdma_cpy_S2L(dst, src, shape, NULL, NULL, dtype);
  moved += (unsigned long long)bytes_of(shape, dtype);
}

static void store(global_addr_t dst, local_addr_t src, const dim4* shape, data_type_t dtype) {
  tpu_gdma_cpy_L2S(dst, src, shape, NULL, NULL, dtype);
  moved += (unsigned long long)bytes_of(shape, dtype);
}

static local_addr_t load_weights(const digits_args_t* args, local_addr_t* addrs) {
  local_addr_t next = kWeights;
  for (int i = 0; i < kLayers; ++i) {
    const dim4 shape = {1, args->layers[i].lanes, 1, args->layers[i].lane_bytes / 4};
    addrs[i] = next;
    load(next, args->layers[i].block, &shape, DT_INT32);
    next += (local_addr_t)ALIGN(args->layers[i].lane_bytes, 64);
  }
  return next;
}

// fp32 images become what the network computes with.
static activation_t load_images(const digits_args_t* args, int first, int count) {
  activation_t x = {DT_FP32, {count, 1, kSide, kSide}, 0};
  load(kBuffers[0], args->images + (unsigned long long)first * kSide * kSide * 4, &x.shape, DT_FP32);
  if (args->type == kFp32) return x;
  if (args->type == kInt8) {
    tpu_bdc_fp_mul_C(kBuffers[0], kBuffers[0], (scalar_t){.f32 = args->input_scale}, &x.shape, NULL, NULL, DT_FP32);
  }
  x.dtype = args->type == kFp16 ? DT_FP16 : DT_UINT8;
  x.buffer = 1;
  tpu_bdc_cast(kBuffers[1], kBuffers[0], &x.shape, NULL, NULL, x.dtype, DT_FP32, RM_HALF_TO_EVEN);
  return x;
}

static activation_t convolve(const digits_args_t* args, const layer_t* layer, local_addr_t block, activation_t x,
                             int last) {
  const dim2 kernel = {layer->window, layer->window}, one = {1, 1};
  const padding_t padding = {layer->padding, layer->padding, layer->padding, layer->padding};
  const int side = x.shape.h + 2 * layer->padding - layer->window + 1;
  activation_t y = {x.dtype, {x.shape.n, layer->oc, side, side}, 1 - x.buffer};
  const local_addr_t in = kBuffers[x.buffer], out = kBuffers[y.buffer],
                     weights = block + (local_addr_t)layer->weight_offset;
  if (args->type == kInt8) {
    if (last) y.dtype = DT_INT16;
    tpu_bdc_int8_sym_quant_conv2d(out, in, weights, block, &x.shape, NULL, layer->oc, &kernel, &padding, &one, &one,
                                  y.dtype, x.dtype, DT_INT8, DT_INT16, (unsigned char)layer->rshift, true, !last);
    return y;
  }
  if (last) y.dtype = DT_FP32;
  tpu_bdc_fp_conv2d(out, in, weights, block, &x.shape, NULL, layer->oc, &kernel, &padding, &one, &one, y.dtype, x.dtype,
                    true, false);
  if (!last) tpu_bdc_relu(out, out, &y.shape, NULL, NULL, y.dtype);
  return y;
}

static activation_t pool(activation_t x) {
  const dim2 two = {2, 2}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const activation_t y = {x.dtype, {x.shape.n, x.shape.c, x.shape.h / 2, x.shape.w / 2}, 1 - x.buffer};
  const local_addr_t in = kBuffers[x.buffer], out = kBuffers[y.buffer];
  const scalar_t unused = {.u32 = 0};
  if (x.dtype == DT_UINT8) {
    tpu_bdc_int8_max_pool2d(out, in, &x.shape, &two, &none, &two, &one, x.dtype, unused);
  } else {
    tpu_bdc_fp_max_pool2d(out, in, &x.shape, &two, &none, &two, &one, x.dtype, unused);
  }
  return y;
}

static void report(global_addr_t addr) {
  struct {
    unsigned bdc, gdma;
    unsigned char parallel[4];
  } node;
  tpu_get_id_node(&node);
  report_t* result = tpu_global_mem_addr(addr);
  result->compute_commands = node.bdc;
  result->copy_commands = node.gdma;
  result->bytes = moved;
  tpu_flush_cache(addr, 64);
}

int classify(const void* raw) {
  const digits_args_t* args = raw;
  TPUKERNEL_ASSERT(args->count > 0 && args->batch > 0);
  TPUKERNEL_ASSERT(args->batch * tpu_aligned_feature_size(kSide, kSide, DT_FP32) * 4 <= kBufferBytes);
  local_addr_t weights[kLayers];
  moved = 0;
  tpu_initialize();
  TPUKERNEL_ASSERT(load_weights(args, weights) <= kBuffers[0]);
  for (int first = 0; first < args->count; first += args->batch) {
    activation_t x = load_images(args, first, MIN(args->batch, args->count - first));
    for (int i = 0; i < kLayers; ++i) {
      x = convolve(args, &args->layers[i], weights[i], x, i + 1 == kLayers);
      if (args->layers[i].pool) x = pool(x);
    }
    store(args->scores + (unsigned long long)(first * kScores * tpu_data_type_size(x.dtype)), kBuffers[x.buffer],
          &x.shape, x.dtype);
  }
  tpu_poll();
  report(args->report);
  return 0;
}
TPUKERNEL_FUNC_REGISTER(classify)
