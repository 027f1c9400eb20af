/* Tensors in the chip's order, on the host: convolution weights (reorder, merge with the bias, and back), and the
 * storage modes of BM1684's 8- and 16-bit tensors.
 *
 * A network stores weights as (OC, IC, KH, KW). The chip wants output channels scattered over the NPUs and, inside one
 * NPU, ic_pack input channels side by side for each tap of the window. A block holds, for each NPU in turn, the bias of
 * its output channels (padded to a multiple of eu_bytes) and then its weights. One copy command loads a block:
 *
 *   dim4 shape = {1, softtpu_conv_block_lanes(&block), 1, softtpu_conv_block_lane_bytes(&block) / 4};
 *   tpu_gdma_cpy_S2L(local, global, &shape, NULL, NULL, DT_INT32);
 *
 * Then the bias lies at local, the weights at local + softtpu_conv_block_weight_offset(&block).
 *
 * On BM1684 (2IC) okk_gdma_32bit_cpy_S2L does the same, and okk_bdc_conv2d gets the kernel strides, in pairs of input
 * channels, {kh * kw, (ic + 1) / 2 * kh * kw, kw, 1}.
 *
 * Here local is an address in NPU 0 (any NPU when no NPU holds more than one output channel). Library:
 * -lsofttpu_layout.
 */
#ifndef SOFTTPU_LAYOUT_H
#define SOFTTPU_LAYOUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of ic_pack by storage mode. */
enum {
  SOFTTPU_1IC = 1,   /* fp32 on BM1684X */
  SOFTTPU_2IC = 2,   /* fp32 on BM1684 */
  SOFTTPU_32IC = 32, /* fp16 and bfp16 on BM1684X */
  SOFTTPU_64IC = 64  /* int8 and uint8 on BM1684X */
};

typedef struct softtpu_conv_block {
  int npu_num;        /* NPUs of the chip: 64 on BM1684X and BM1684 */
  int eu_bytes;       /* alignment of the chip's aligned layout: 64 on BM1684X, 128 on BM1684 */
  int oc, ic, kh, kw; /* extents of the weights, each 1..65535 */
  int ic_pack;        /* SOFTTPU_1IC, SOFTTPU_2IC, SOFTTPU_32IC or SOFTTPU_64IC; 1..1024 */
  int element_bytes;  /* of one weight: 1, 2 or 4 */
  int bias_bytes;     /* of one bias: 2 or 4; 0 when the block has no bias */
} softtpu_conv_block_t;

/* Sizes. All return 0 for a block that is impossible; softtpu_layout_error() then tells why. */
/** Bytes of a whole block of weights.
 * block: the convolution's weights: chip, extents, storage mode */
size_t softtpu_conv_block_bytes(const softtpu_conv_block_t* block); /* of the whole block */
/** NPUs that hold a part of a block.
 * block: the convolution's weights: chip, extents, storage mode */
size_t softtpu_conv_block_lanes(const softtpu_conv_block_t* block); /* NPUs that hold a part of it */
/** Bytes of one NPU's part, a multiple of 4.
 * block: the convolution's weights: chip, extents, storage mode */
size_t softtpu_conv_block_lane_bytes(const softtpu_conv_block_t* block); /* of one NPU's part; a multiple of 4 */
/** Where in an NPU's part the weights begin, behind the bias.
 * block: the convolution's weights: chip, extents, storage mode */
size_t softtpu_conv_block_weight_offset(const softtpu_conv_block_t* block); /* weights' offset in an NPU; 0: no bias */

/* The functions below return 0, or -1 when an argument is wrong: then nothing is written and softtpu_layout_error()
 * tells why. Each pointer is followed by the number of bytes it points to, which must be exactly what the block says.
 */

/* Weights only: block->bias_bytes must be 0. */
/** Brings weights into the chip's order.
 * block: the convolution's weights: chip, extents, storage mode
 * weights: plain (OC, IC, KH, KW)
 * weights_bytes: bytes of the plain weights, exactly
 * out: receives the result
 * out_bytes: bytes of the result, exactly */
int softtpu_conv_reorder(const softtpu_conv_block_t* block, const void* weights, size_t weights_bytes, void* out,
                         size_t out_bytes);
/** Brings weights back into plain order.
 * block: the convolution's weights: chip, extents, storage mode
 * reordered: weights in the chip's order
 * reordered_bytes: bytes of them, exactly
 * weights: plain (OC, IC, KH, KW)
 * weights_bytes: bytes of the plain weights, exactly */
int softtpu_conv_restore(const softtpu_conv_block_t* block, const void* reordered, size_t reordered_bytes,
                         void* weights, size_t weights_bytes);

/* Weights and bias: block->bias_bytes must not be 0. */
/** Makes one block of bias and weights that one copy loads.
 * block: the convolution's weights: chip, extents, storage mode
 * weights: plain (OC, IC, KH, KW)
 * weights_bytes: bytes of the plain weights, exactly
 * bias: one value per output channel
 * bias_bytes: bytes of the bias, exactly
 * out: receives the result
 * out_bytes: bytes of the result, exactly */
int softtpu_conv_merge(const softtpu_conv_block_t* block, const void* weights, size_t weights_bytes, const void* bias,
                       size_t bias_bytes, void* out, size_t out_bytes);
/** Takes a block apart into weights and bias.
 * block: the convolution's weights: chip, extents, storage mode
 * merged: block of bias and weights in the chip's order
 * merged_bytes: bytes of the block, exactly
 * weights: plain (OC, IC, KH, KW)
 * weights_bytes: bytes of the plain weights, exactly
 * bias: one value per output channel
 * bias_bytes: bytes of the bias, exactly */
int softtpu_conv_split(const softtpu_conv_block_t* block, const void* merged, size_t merged_bytes, void* weights,
                       size_t weights_bytes, void* bias, size_t bias_bytes);

/* 4N and 2N: BM1684 keeps the elements (n, c, h, w) of four (8 bits) or two (16 bits) neighbouring batches in one
 * 32-bit word, the first batch in the low end. A tensor of words has the shape {(n + n_pack - 1) / n_pack, c, h, w},
 * plain NCHW, and is copied as any tensor of 32-bit elements:
 *
 *   dim4 words = {(n + 3) / 4, c, h, w};
 *   okk_gdma_32bit_cpy_S2L(local, global, &words, NULL, NULL);  // aligned in local, continuous in global memory
 */
enum {
  SOFTTPU_2N = 2, /* int16 and uint16 */
  SOFTTPU_4N = 4  /* int8 and uint8 */
};

typedef struct softtpu_batch_words {
  int n, c, h, w; /* extents in elements, each 1..65535 */
  int n_pack;     /* SOFTTPU_4N or SOFTTPU_2N; an element has 4 / n_pack bytes */
} softtpu_batch_words_t;

/* Bytes of the words; 0 for an impossible tensor, softtpu_layout_error() then tells why. */
/** Bytes of a tensor packed for BM1684 (4N, 2N).
 * tensor: extents and packing */
size_t softtpu_batch_words_bytes(const softtpu_batch_words_t* tensor);

/* Return values and byte counts as above: plain has n * c * h * w elements, words has softtpu_batch_words_bytes().
 * Batches that fill the last word up are zero in words and dropped on the way back. */
/** Packs 8- or 16-bit batches into words.
 * tensor: extents and packing
 * plain: plain NCHW elements
 * plain_bytes: bytes of them, exactly
 * words: packed words
 * words_bytes: bytes of them, exactly */
int softtpu_batch_pack(const softtpu_batch_words_t* tensor, const void* plain, size_t plain_bytes, void* words,
                       size_t words_bytes);
/** Unpacks words into 8- or 16-bit batches.
 * tensor: extents and packing
 * words: packed words
 * words_bytes: bytes of them, exactly
 * plain: plain NCHW elements
 * plain_bytes: bytes of them, exactly */
int softtpu_batch_unpack(const softtpu_batch_words_t* tensor, const void* words, size_t words_bytes, void* plain,
                         size_t plain_bytes);

/* Why this thread's last call failed. Valid until this thread's next failing call; never NULL. */
/** Why this thread's last call failed. */
const char* softtpu_layout_error(void);

#ifdef __cplusplus
}
#endif
#endif
