/* The OKKernel interface: what a kernel for BM1684 calls.
 *
 * Strides are in elements; a NULL stride means the 128-byte aligned layout for a local tensor and the continuous layout
 * for a system tensor. A call that breaks a rule ends the launch with a message; the rules of each function are listed
 * by `softtpu api`. */
#ifndef OKK_H
#define OKK_H

#include "softtpu/kernel_common.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Types ---- */

typedef void (*okk_kernel_func_t)(const void* args);

typedef struct {
  int top;
  int bottom;
  int left;
  int right;
} Padding;

/* Elements packed into one 32-bit word: four of 8 bits (4N mode), two of 16 bits (2N mode). */
typedef char s8x4[4];
typedef unsigned char u8x4[4];
typedef short s16x2[2];
typedef unsigned short u16x2[2];

typedef union {
  float fp32;
  int s32;
  unsigned int u32;
  s8x4 _4N_s8;
  u8x4 _4N_u8;
  s16x2 _2N_s16;
  u16x2 _2N_u16;
} x32;

typedef union {
  short s16;
  unsigned short u16;
} x16;

typedef union {
  char s8;
  unsigned char u8;
} x8;

/* An operand of a select: a tensor when is_addr, else a constant. */
typedef struct {
  bool is_addr;
  union {
    float val;
    local_addr_t addr;
  } context;
} fp32_or_addr_t;

typedef struct {
  bool is_addr;
  union {
    x32 val;
    local_addr_t addr;
  } context;
} x32_or_addr_t;

/* Sources and result of a fixed-point operation, one bit each: 8-bit sources, signed source 0, signed source 1, 8-bit
 * result, signed result. */
#define OP_TYPE(src_bit, src0_sign, src1_sign, dst_bit, dst_sign) \
  ((src_bit) | (src0_sign) << 1 | (src1_sign) << 2 | (dst_bit) << 3 | (dst_sign) << 4)

typedef enum {
  S8_OP_S8_TO_S8 = OP_TYPE(1, 1, 1, 1, 1),
  S8_OP_S8_TO_S16 = OP_TYPE(1, 1, 1, 0, 1),
  S8_OP_U8_TO_S8 = OP_TYPE(1, 1, 0, 1, 1),
  S8_OP_U8_TO_S16 = OP_TYPE(1, 1, 0, 0, 1),
  U8_OP_S8_TO_S8 = OP_TYPE(1, 0, 1, 1, 1),
  U8_OP_S8_TO_S16 = OP_TYPE(1, 0, 1, 0, 1),
  U8_OP_U8_TO_S8 = OP_TYPE(1, 0, 0, 1, 1),
  U8_OP_U8_TO_S16 = OP_TYPE(1, 0, 0, 0, 1),
  U8_OP_U8_TO_U8 = OP_TYPE(1, 0, 0, 1, 0),
  U8_OP_U8_TO_U16 = OP_TYPE(1, 0, 0, 0, 0),
  S16_OP_S16_TO_S8 = OP_TYPE(0, 1, 1, 1, 1),
  S16_OP_S16_TO_S16 = OP_TYPE(0, 1, 1, 0, 1),
  S16_OP_U16_TO_S8 = OP_TYPE(0, 1, 0, 1, 1),
  S16_OP_U16_TO_S16 = OP_TYPE(0, 1, 0, 0, 1),
  U16_OP_S16_TO_S8 = OP_TYPE(0, 0, 1, 1, 1),
  U16_OP_S16_TO_S16 = OP_TYPE(0, 0, 1, 0, 1),
  U16_OP_U16_TO_S8 = OP_TYPE(0, 0, 0, 1, 1),
  U16_OP_U16_TO_S16 = OP_TYPE(0, 0, 0, 0, 1),
  U16_OP_U16_TO_U8 = OP_TYPE(0, 0, 0, 1, 0),
  U16_OP_U16_TO_U16 = OP_TYPE(0, 0, 0, 0, 0)
} op_type_t;

/* Product of a 16-bit and an 8-bit value, one bit each: signed source 0, signed source 1, signed result. */
#define MUL_TYPE(src0_sign, src1_sign, dst_sign) ((src0_sign) | (src1_sign) << 1 | (dst_sign) << 2)

typedef enum {
  S16_MUL_S8_TO_S16 = MUL_TYPE(1, 1, 1),
  U16_MUL_S8_TO_S16 = MUL_TYPE(0, 1, 1),
  U16_MUL_U8_TO_U16 = MUL_TYPE(0, 0, 0),
  S16_MUL_U8_TO_S16 = MUL_TYPE(1, 0, 1)
} mul_type_t;

/* ---- Registration: OKKERNEL_FUNC_REGISTER uses these ---- */

/** Makes a kernel known by name; OKKERNEL_FUNC_REGISTER calls it.
 * name: name of the kernel, at most 64 characters
 * func: the kernel: it gets the address of a copy of the launch's arguments */
void okk_register_kernel_func(const char* name, okk_kernel_func_t func);
/** Prints the names of all registered kernels. */
void okk_dump_registered_kernel_funcs(void);

/* ---- Command counters (id nodes), waiting, parallel sections ---- */

/** Sets the command counters to what okk_get_id_node filled.
 * node: memory for the counters */
void okk_set_id_node(void* node);
/** Copies the command counters.
 * node: memory for the counters */
void okk_get_id_node(void* node);
/** Lets the counters start again when they grow large (the default). */
void okk_enable_check_id_node(void);
/** Lets the counters go on. */
void okk_disable_check_id_node(void);
/** Begins a kernel. */
void okk_initialize(void);
/** Waits until all commands are finished; the last call of a kernel. */
void okk_poll(void);
/** Begins a section in which BDC and GDMA do not wait for each other. */
void okk_parallel_start(void);
/** Ends a parallel section: both engines wait for each other. */
void okk_parallel_end(void);
/** Whether a parallel section is open. */
bool okk_is_parallel_state(void);

/* ---- The chip: number of NPUs, sizes, start addresses, pointers for the kernel's own loads and stores ---- */

/** First address of global memory. */
unsigned long long okk_global_mem_start_addr(void);
/** First system address of the window onto local memory. */
unsigned int okk_local_mem_start_addr(void);
/** Number of banks of an NPU's local memory. */
unsigned int okk_local_mem_bank_per_npu(void);
/** First address of L2 SRAM. */
unsigned int okk_l2_sram_start_addr(void);
/** First address of DTCM. */
unsigned int okk_dtcm_start_addr(void);
/** First address of lookup table memory. */
unsigned int okk_lookup_table_start_addr(void);
/** Bytes of lookup table memory. */
unsigned int okk_lookup_table_size(void);
/** fp32 elements that an NPU works on at once. */
unsigned int okk_eu_num(void);
/** Pointer to global memory for the kernel's own loads and stores.
 * addr: absolute system address, or an offset in the NPU */
unsigned char* okk_global_mem_addr(unsigned long long addr);
/** Pointer to local memory of one NPU.
 * idx: number of the NPU
 * addr: absolute system address, or an offset in the NPU */
unsigned char* okk_local_mem_addr(unsigned int idx, unsigned int addr);
/** Pointer to L2 SRAM.
 * addr: absolute system address, or an offset in the NPU */
unsigned char* okk_l2_sram_addr(unsigned int addr);
/** Pointer to DTCM.
 * addr: absolute system address, or an offset in the NPU */
unsigned char* okk_dtcm_addr(unsigned int addr);
/** Bytes of local memory of each NPU. */
unsigned int okk_local_mem_size_per_npu(void);
/** Bytes of L2 SRAM. */
unsigned int okk_l2_sram_size(void);
/** Bytes of DTCM, the processor's own memory. */
unsigned int okk_dtcm_size(void);
/** Number of NPUs. */
int okk_npu_num(void);

/* ---- Layouts: where a tensor's elements lie in local memory ---- */

/** NPU of a unified local address.
 * addr: unified local address */
int okk_start_npu_index(local_addr_t addr);
/** Channels that the busiest NPU holds (the published name has this spelling).
 * start_idx: NPU of channel 0, 0..63
 * num_channels: number of channels */
int okk_channle_num_per_npu(int start_idx, int num_channels);
/** Strides of the aligned layout for 32-bit elements.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor */
void okk_128_byte_aligned_stride_for_32bit(dim4* stride, int start_idx, const dim4* shape);
/** Strides of the aligned layout for 16-bit elements.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor */
void okk_128_byte_aligned_stride_for_16bit(dim4* stride, int start_idx, const dim4* shape);
/** Strides of the aligned layout for 8-bit elements.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor */
void okk_128_byte_aligned_stride_for_8bit(dim4* stride, int start_idx, const dim4* shape);
/** Strides of the compact layout: channels without gaps.
 * stride: receives the strides in elements
 * start_idx: NPU of channel 0, 0..63
 * shape: n, c, h, w of the tensor */
void okk_compact_stride(dim4* stride, int start_idx, const dim4* shape);
/** Strides of plain NCHW, as in system memory.
 * stride: receives the strides in elements
 * shape: n, c, h, w of the tensor */
void okk_continuous_stride(dim4* stride, const dim4* shape);

/* ---- GDMA (S is any system memory, L is local memory) ---- */

/** Copies 32-bit elements from system to local memory. */
void okk_gdma_32bit_cpy_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 32-bit elements from local to system memory. */
void okk_gdma_32bit_cpy_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 32-bit elements inside local memory, from any NPU to any NPU. */
void okk_gdma_32bit_cpy_L2L(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 32-bit elements inside system memory. */
void okk_gdma_32bit_cpy_S2S(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Loads a matrix of 32-bit elements, its columns spread over channels.
 * rows: rows of the matrix
 * cols: columns of the matrix
 * cols_per_channel: columns in each channel of the local tensor (rows, ceil(cols / cols_per_channel), 1,
 *   cols_per_channel)
 * row_stride: elements from row to row in system memory */
void okk_gdma_32bit_matrix_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, int rows, int cols, int cols_per_channel, int row_stride);
/** Stores a matrix of 32-bit elements from the layout of okk_gdma_32bit_matrix_S2L.
 * rows: rows of the matrix
 * cols: columns of the matrix
 * cols_per_channel: columns in each channel of the local tensor (rows, ceil(cols / cols_per_channel), 1,
 *   cols_per_channel)
 * row_stride: elements from row to row in system memory */
void okk_gdma_32bit_matrix_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, int rows, int cols, int cols_per_channel, int row_stride);
/** Fills a system tensor of 32-bit elements.
 * C: the constant */
void okk_gdma_32bit_set_C_system(system_addr_t dst_addr, x32 C, const dim4* shape, const dim4* dst_stride);
/** Fills a local tensor of 32-bit elements.
 * C: the constant */
void okk_gdma_32bit_set_C_local(local_addr_t dst_addr, x32 C, const dim4* shape, const dim4* dst_stride);
/** Copies 16-bit elements from system to local memory. */
void okk_gdma_16bit_cpy_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 16-bit elements from local to system memory. */
void okk_gdma_16bit_cpy_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 16-bit elements inside local memory. */
void okk_gdma_16bit_cpy_L2L(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies 16-bit elements inside system memory. */
void okk_gdma_16bit_cpy_S2S(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Fills a system tensor of 16-bit elements.
 * C: the constant */
void okk_gdma_16bit_set_C_system(system_addr_t dst_addr, x16 C, const dim4* shape, const dim4* dst_stride);
/** Fills a local tensor of 16-bit elements.
 * C: the constant */
void okk_gdma_16bit_set_C_local(local_addr_t dst_addr, x16 C, const dim4* shape, const dim4* dst_stride);
/** Copies bytes from system to local memory. */
void okk_gdma_8bit_cpy_S2L(
    local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies bytes from local to system memory. */
void okk_gdma_8bit_cpy_L2S(
    system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies bytes inside local memory. */
void okk_gdma_8bit_cpy_L2L(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Copies bytes inside system memory. */
void okk_gdma_8bit_cpy_S2S(
    system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Fills a system tensor of bytes.
 * C: the constant */
void okk_gdma_8bit_set_C_system(system_addr_t dst_addr, x8 C, const dim4* shape, const dim4* dst_stride);
/** Fills a local tensor of bytes.
 * C: the constant */
void okk_gdma_8bit_set_C_local(local_addr_t dst_addr, x8 C, const dim4* shape, const dim4* dst_stride);

/* ---- BDC: copies and conversion ---- */

/** Copies 32-bit elements inside the NPUs: dst = src. */
void okk_bdc_32bit_cpy(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Fills a tensor of 32-bit elements.
 * C: the constant, 32 bits */
void okk_bdc_32bit_set_C(local_addr_t dst_addr, x32 C, const dim4* shape, const dim4* dst_stride);
/** Converts fp32 to int32, towards zero and clamped.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand */
void okk_bdc_fp32_to_int32(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Converts int32 of -128..127 to fp32 by a table.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand */
void okk_bdc_lookup_int32_to_fp32(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Converts packed bytes to fp32.
 * Layout: src holds bytes, in 4N words or one by one; dst holds fp32. is_aligned_layout chooses the aligned or the
 *   compact layout of src.
 * work_addr: local address of a work buffer of the chip; softtpu does not use it
 * is_signed: true: int8; false: uint8
 * is_aligned_layout: whether src lies in the aligned layout */
void okk_bdc_4N_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
    bool is_signed, bool is_aligned_layout);
/** Converts bytes to fp32.
 * Layout: src holds bytes, in 4N words or one by one; dst holds fp32. is_aligned_layout chooses the aligned or the
 *   compact layout of src.
 * work_addr: local address of a work buffer of the chip; softtpu does not use it
 * is_signed: true: int8; false: uint8
 * is_aligned_layout: whether src lies in the aligned layout */
void okk_bdc_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
    bool is_signed, bool is_aligned_layout);

/* ---- BDC: 32-bit logic and shifts ---- */

/** Bit-wise and of two tensors. */
void okk_bdc_32bit_and(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Bit-wise and with a constant.
 * C: the constant, 32 bits */
void okk_bdc_32bit_and_C(local_addr_t dst_addr, local_addr_t src_addr, x32 C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Bit-wise or of two tensors. */
void okk_bdc_32bit_or(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Bit-wise or with a constant.
 * C: the constant, 32 bits */
void okk_bdc_32bit_or_C(local_addr_t dst_addr, local_addr_t src_addr, x32 C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Bit-wise exclusive or of two tensors. */
void okk_bdc_32bit_xor(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Bit-wise exclusive or with a constant.
 * C: the constant, 32 bits */
void okk_bdc_32bit_xor_C(local_addr_t dst_addr, local_addr_t src_addr, x32 C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Shifts each element by the amount in another tensor, keeping the sign.
 * src0_addr: local address of the values
 * src1_addr: local address of the amounts, int32 */
void okk_bdc_32bit_arithmetic_shift(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Shifts each element by the amount in another tensor, filling with zeros.
 * src0_addr: local address of the values
 * src1_addr: local address of the amounts, int32 */
void okk_bdc_32bit_logical_shift(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Shifts each element by a constant amount, keeping the sign.
 * C: the constant */
void okk_bdc_32bit_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Shifts each element by a constant amount, filling with zeros.
 * C: the constant */
void okk_bdc_32bit_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Shifts a constant by the amount in each element, keeping the sign.
 * C: the constant */
void okk_bdc_32bit_C_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Shifts a constant by the amount in each element, filling with zeros.
 * C: the constant */
void okk_bdc_32bit_C_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, unsigned int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);

/* ---- BDC: functions of one fp32 tensor ---- */

/** Reciprocal square root of fp32. */
void okk_bdc_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Square root of fp32. */
void okk_bdc_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Series of the exponential, for small arguments.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * num_series: terms of the series, 1..64; the forms without this argument take 32 */
void okk_bdc_taylor_exp(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_series);
/** Exponential of int32 by a table: dst = e^src.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand */
void okk_bdc_lookup_exp(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Exponential of fp32.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst */
void okk_bdc_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape);
/** Exponential of fp32 with a chosen number of terms.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst
 * num_series: terms of the series, 1..64; the forms without this argument take 32 */
void okk_bdc_exp_tunable(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape, int num_series);
/** Logistic function of fp32: 1 / (1 + e^-src).
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst */
void okk_bdc_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape);
/** Logistic function of fp32 with a chosen number of terms.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst
 * num_series: terms of the series, 1..64; the forms without this argument take 32 */
void okk_bdc_sigmoid_tunable(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape, int num_series);
/** Hyperbolic tangent of fp32.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst */
void okk_bdc_tanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape);
/** Hyperbolic tangent of fp32 with a chosen number of terms.
 * Layout: dst, src and work lie in the aligned layout.
 * src_addr: local address of the operand
 * work_addr: local address of a work buffer as large as dst
 * num_series: terms of the series, 1..64; the forms without this argument take 32 */
void okk_bdc_tanh_tunable(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape, int num_series);
/** Rectifier: dst = max(src, 0). */
void okk_bdc_relu(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Reciprocal of fp32: dst = 1 / src. */
void okk_bdc_reciprocal(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Negation: dst = 0 - src. */
void okk_bdc_neg(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);

/* ---- BDC: fp32 arithmetic ---- */

/** Adds two fp32 tensors: dst = src0 + src1. */
void okk_bdc_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Adds a constant: dst = src + C. */
void okk_bdc_add_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Subtracts two fp32 tensors: dst = src0 - src1. */
void okk_bdc_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Subtracts a constant: dst = src - C. */
void okk_bdc_sub_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Subtracts from a constant: dst = C - src. */
void okk_bdc_C_sub(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Multiplies two fp32 tensors element by element: dst = src0 * src1. */
void okk_bdc_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Multiplies by a constant: dst = src * C. */
void okk_bdc_mul_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Quotient of two fp32 tensors: dst = src0 / src1. */
void okk_bdc_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Quotient of an fp32 tensor and a constant: dst = src / C. */
void okk_bdc_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Quotient of a constant and an fp32 tensor: dst = C / src. */
void okk_bdc_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Multiplies and adds to the destination: dst = src0 * src1 + dst. */
void okk_bdc_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Multiplies by a constant and adds to the destination: dst = src * C + dst. */
void okk_bdc_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Larger element of two fp32 tensors. */
void okk_bdc_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Larger of element and constant. */
void okk_bdc_max_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);
/** Smaller element of two fp32 tensors. */
void okk_bdc_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Smaller of element and constant. */
void okk_bdc_min_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride);

/* ---- BDC: compare and select ---- */

/** Writes select_val where src0 > src1, else 0.
 * select_val: the value written where the comparison holds, 32 bits; 0 is written elsewhere
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_greater_select_value(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, x32 select_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Writes select_val where src > C, else 0.
 * select_val: the value written where the comparison holds, 32 bits; 0 is written elsewhere
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_greater_C_select_value(local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Writes select_val where C > src, else 0.
 * select_val: the value written where the comparison holds, 32 bits; 0 is written elsewhere
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_C_greater_select_value(local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Writes select_val where src0 and src1 have the same bits, else 0.
 * select_val: the value written where the comparison holds, 32 bits; 0 is written elsewhere
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_equal_select_value(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, x32 select_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride);
/** Writes select_val where src and C have the same bits, else 0.
 * select_val: the value written where the comparison holds, 32 bits; 0 is written elsewhere
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_equal_C_select_value(local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** dst = src0 > src1 ? select0 : select1.
 * src0: first operand: a tensor (is_addr) or a constant
 * src1: second operand: a tensor (is_addr) or a constant
 * select0: what is written where the comparison holds: a tensor or a constant
 * select1: what is written where it does not: a tensor or a constant
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_greater_select(local_addr_t dst_addr, const fp32_or_addr_t* src0, const fp32_or_addr_t* src1,
    const x32_or_addr_t* select0, const x32_or_addr_t* select1, const dim4* shape);
/** dst = src0 equal src1 ? select0 : select1.
 * src0: first operand: a tensor (is_addr) or a constant
 * src1: second operand: a tensor (is_addr) or a constant
 * select0: what is written where the comparison holds: a tensor or a constant
 * select1: what is written where it does not: a tensor or a constant
 * Types: operands of a comparison: fp32; what is selected: any 32 bits */
void okk_bdc_equal_select(local_addr_t dst_addr, const fp32_or_addr_t* src0, const fp32_or_addr_t* src1,
    const x32_or_addr_t* select0, const x32_or_addr_t* select1, const dim4* shape);

/* ---- BDC: neural network layers, fp32 ---- */

/** Adds one value per channel: dst = src + bias[c].
 * Layout: The parameter of each channel is (1, C, 1, 1) fp32 in the compact layout on the start NPU of dst.
 * bias_addr: local address of the bias of each channel, (1, C, 1, 1), compact */
void okk_bdc_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Multiplies by one value per channel: dst = src * scale[c].
 * Layout: The parameter of each channel is (1, C, 1, 1) fp32 in the compact layout on the start NPU of dst.
 * scale_addr: local address of the scale of each channel, (1, C, 1, 1), compact */
void okk_bdc_scale(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride);
/** Scales and shifts each channel: dst = src * scale[c] + bias[c].
 * Layout: The parameter of each channel is (1, C, 1, 1) fp32 in the compact layout on the start NPU of dst.
 * scale_addr: local address of the scale of each channel, (1, C, 1, 1), compact
 * bias_addr: local address of the bias of each channel, (1, C, 1, 1), compact */
void okk_bdc_scale_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, local_addr_t bias_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Convolution of fp32, with bias and old output.
 * Layout: Weights are pairs of input channels (2IC): (ceil(IC / 2), OC, KH, KW) of fp32 pairs;
 *   softtpu_conv_reorder with SOFTTPU_2IC makes them.
 * bias_addr: local address of the bias, one fp32 per output channel, compact, on the start NPU of the output; not
 *   read when using_bias is false
 * kernel_h: height of the kernel
 * kernel_w: width of the kernel
 * kernel_stride: strides of the weights in pairs of input channels; NULL: (OC, ceil(IC / 2), KH, KW) pairs as the
 *   layout says
 * More: softtpu api okk_bdc_conv2d */
void okk_bdc_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr, local_addr_t bias_addr,
    const dim4* input_shape, int output_c, int kernel_h, int kernel_w, const dim4* input_stride,
    const dim4* kernel_stride, bool using_bias, bool result_add, const Padding* padding, const dim2* stride,
    const dim2* dilation);
/** Depthwise convolution of fp32.
 * Layout: Weights (1, C, KH, KW), compact; input and output aligned on one NPU.
 * bias_addr: local address of the bias, one fp32 per output channel, compact, on the start NPU of the output; not
 *   read when using_bias is false
 * kernel_h: height of the kernel
 * kernel_w: width of the kernel
 * using_bias: whether bias_addr is read
 * padding: rows and columns added on each side: top, bottom, left, right */
void okk_bdc_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, int kernel_h, int kernel_w, bool using_bias,
    const Padding* padding, const dim2* stride, const dim2* dilation);
/** Average pooling of fp32; padding counts.
 * Layout: Input and output aligned on one NPU.
 * kernel_h: height of the kernel
 * kernel_w: width of the kernel
 * padding: rows and columns added on each side: top, bottom, left, right */
void okk_bdc_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape, int kernel_h,
    int kernel_w, const Padding* padding, const dim2* stride);
/** Maximum pooling of fp32.
 * Layout: Input and output aligned on one NPU.
 * kernel_h: height of the kernel
 * kernel_w: width of the kernel
 * padding: rows and columns added on each side: top, bottom, left, right */
void okk_bdc_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape, int kernel_h,
    int kernel_w, const Padding* padding, const dim2* stride);
/** Product of two fp32 matrices, with bias and old output.
 * Layout: A matrix of R rows and C columns with P per channel is (R, ceil(C / P), 1, P), aligned.
 * bias_addr: local address of the bias, one fp32 per output channel, compact, on the start NPU of the output; not
 *   read when using_bias is false
 * left_rows: rows M of the left matrix
 * left_cols: columns K of the left matrix
 * using_bias: whether bias_addr is read */
void okk_bdc_matmul(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel,
    bool using_bias, bool result_add);

/* ---- BDC: fixed point, 8-bit tensors in 4N mode and 16-bit tensors in 2N mode ---- */

/** Adds two packed tensors: dst = (src0 + src1) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_add(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type,
    int rshift);
/** Adds a constant: dst = (src + C) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_add_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift);
/** Subtracts two packed tensors: dst = (src0 - src1) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_sub(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type,
    int rshift);
/** Subtracts a constant: dst = (src - C) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_sub_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift);
/** Subtracts from a constant: dst = (C - src) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_C_sub(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift);
/** Multiplies two packed 8-bit tensors: dst = (src0 * src1) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type,
    int rshift);
/** Multiplies by a constant: dst = (src * C) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_mul_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift);
/** Multiplies and adds to a 16-bit destination: dst = ((dst << lshift) + src0 * src1) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * is_origin_dst_signed: whether the old dst is read as signed
 * op_type: width and sign of the sources and of the result (op_type_t)
 * lshift: bits of the left shift of the old dst, 0..15
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,
    bool is_origin_dst_signed, op_type_t op_type, int lshift, int rshift);
/** Multiplies by a constant and adds to a 16-bit destination: dst = ((dst << lshift) + src * C) >> rshift.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * is_origin_dst_signed: whether the old dst is read as signed
 * op_type: width and sign of the sources and of the result (op_type_t)
 * lshift: bits of the left shift of the old dst, 0..15
 * rshift: bits of the rounding right shift, 0..31
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_mac_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, bool is_origin_dst_signed, op_type_t op_type, int lshift,
    int rshift);
/** Larger element of two packed tensors.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * op_type: width and sign of the sources and of the result (op_type_t)
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_max(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type);
/** Larger of packed element and constant.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_max_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type);
/** Smaller element of two packed tensors.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * op_type: width and sign of the sources and of the result (op_type_t)
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_min(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type);
/** Smaller of packed element and constant.
 * Layout: 4N: four 8-bit batches in one word; 2N: two 16-bit batches.
 * C: the constant
 * op_type: width and sign of the sources and of the result (op_type_t)
 * Types: as op_type says */
void okk_bdc_fixed_point_packed_min_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, op_type_t op_type);
/** Shifts 16-bit elements by the amounts in another tensor, keeping the sign.
 * Layout: 2N: two 16-bit batches in one word.
 * src1_addr: local address of the amounts
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_arithmetic_shift(local_addr_t dst_addr, local_addr_t src0_addr,
    local_addr_t src1_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride);
/** Shifts 16-bit elements by the amounts in another tensor, filling with zeros.
 * Layout: 2N: two 16-bit batches in one word.
 * src1_addr: local address of the amounts
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_logical_shift(local_addr_t dst_addr, local_addr_t src0_addr,
    local_addr_t src1_addr, const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
    const dim4* src1_stride);
/** Shifts 16-bit elements by a constant amount, keeping the sign.
 * Layout: 2N: two 16-bit batches in one word.
 * C: the constant
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, short C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Shifts 16-bit elements by a constant amount, filling with zeros.
 * Layout: 2N: two 16-bit batches in one word.
 * C: the constant
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, short C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Shifts a constant by the amounts in a tensor, keeping the sign.
 * Layout: 2N: two 16-bit batches in one word.
 * C: the constant
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_C_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, short C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Shifts a constant by the amounts in a tensor, filling with zeros.
 * Layout: 2N: two 16-bit batches in one word.
 * C: the constant
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_C_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, unsigned short C,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Takes the high byte of each 16-bit element into a 4N tensor.
 * Layout: 2N: two 16-bit batches in one word.
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_split_high_8bit(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Takes the low byte of each 16-bit element into a 4N tensor.
 * Layout: 2N: two 16-bit batches in one word.
 * work_stride: strides of the work buffer, in words
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_split_low_8bit(local_addr_t dst_addr, local_addr_t src_addr,
    local_addr_t work_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride, const dim4* work_stride);
/** Multiplies 16-bit elements, given as two byte tensors, by 8-bit ones.
 * Layout: 2N: two 16-bit batches in one word.
 * src0_high_addr: local address of the high bytes of src0
 * src0_low_addr: local address of the low bytes of src0
 * src0_high_stride: strides of the high bytes, in words
 * src0_low_stride: strides of the low bytes, in words
 * mul_type: signs of both sources and of the result (mul_type_t)
 * rshift: bits of the rounding right shift, 0..31
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_16bit_mul_8bit(local_addr_t dst_addr, local_addr_t src0_high_addr,
    local_addr_t src0_low_addr, local_addr_t src1_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src0_high_stride, const dim4* src0_low_stride, const dim4* src1_stride, mul_type_t mul_type,
    int rshift);
/** Multiplies int16 by uint8 to int16.
 * Layout: 2N: two 16-bit batches in one word.
 * work_high_addr: local address of a work buffer as large as dst
 * work_low_addr: local address of a work buffer as large as dst
 * work_stride: strides of the work buffer, in words
 * work_high_stride: strides of the buffer of high bytes, in words
 * work_low_stride: strides of the buffer of low bytes, in words
 * rshift: bits of the rounding right shift, 0..31
 * Types: 16-bit integers, two in each word */
void okk_bdc_fixed_point_packed_s16_mul_u8_to_s16(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
    local_addr_t work_addr, local_addr_t work_high_addr, local_addr_t work_low_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, const dim4* work_stride,
    const dim4* work_high_stride, const dim4* work_low_stride, int rshift);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* ---- Registration (one line per kernel, at file scope), messages, assertions ---- */

#define OKKERNEL_FUNC_REGISTER(func) SOFTTPU_REGISTER(func, okk_kernel_func_t, okk_register_kernel_func)
#define OKKERNEL_LOG(...) printf(__VA_ARGS__)
#define OKKERNEL_ASSERT(assertion) SOFTTPU_ASSERT(assertion)

#endif
