/* Functions that the newest published headers have beyond the older ones, for every chip in one set. A chip refuses
 * what it lacks, and softtpu what is neither recorded nor described, by name: `softtpu api --chip NAME` lists both.
 * Included by tpu_kernel.h. */
#ifndef SOFTTPU_TPU_NEWER_H_
#define SOFTTPU_TPU_NEWER_H_

#include <stdint.h>

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Waiting, counters, cores ---- */

/** Issues a command that does nothing. */
void tpu_nop(void);
/** Waits for commands that were given as descriptors. */
void tpu_poll_descriptor(void);
/** Sets up counters of the chip; results do not depend on it. */
void tpu_sr_setup(void);
/** Starts the chip's performance counters; results do not depend on it. */
void tpu_enable_pmu(void);
/** Stops the chip's performance counters; results do not depend on it. */
void tpu_disable_pmu(void);
/** Begins a section of synchronous commands.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_sync_start(void);
/** Ends a section of synchronous commands.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_sync_end(void);
/** Whether a section of synchronous commands is open.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
bool tpu_is_sync_state(void);
/** Whether commands are given as descriptors. */
bool tpu_is_descriptor_mode(void);
/** Sets the number of BDC commands, as tpu_set_bdid.
 * bdc_id: number of BDC commands */
void tpu_set_bd_id(int bdc_id);
/** Shows a command for debugging.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_debug_cmd(u64* p_cmd, int length, int command_type);
/** Waits for the engines of this core and those outside of it. */
void tpu_sync_core_with_external_engine(void);
/** First message number that tpu_next_msg_id gives. */
int tpu_get_base_msg_id(void);
/** Whether collective operations go round a ring of chips.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_use_ring(void);
/** Runs prepared commands of several engines.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_run_commands(const tpu_engine_command_info_t* commands, u32 engine_num);
/** Message number of the scheduler.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_get_schedule_msg_id(void);
/** Number of engines for prepared commands.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
u32 tpu_engine_num(void);
/** Forgets the base addresses of prepared commands.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_reset_base_addr(void);
/** Sets the base addresses of prepared commands.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_set_base_addr(const int* base_idx, const u64* base_addr, int num);
/** Reads the counters of the memory's bandwidth.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void read_bw_registers(bw_info_t* info);
/** Prints the counters of the memory's bandwidth.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void show_bw_info(double freq);
/** Starts the counters of the memory's bandwidth.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void enable_bw_perf(void);
/** Stops the counters of the memory's bandwidth.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void disable_bw_perf(double freq);
/** Translates an address relative to a base address.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
system_addr_t tpu_global_mem_real_addr(system_addr_t addr);
/** Shows a text for debugging.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tp_debug(const char* arg);
/** Shows a text for debugging.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int ap_debug(const char* format);
/** Waits until BDC has finished all commands. */
void tpu_bdc_poll(void);
/** Waits until GDMA has finished all commands. */
void tpu_gdma_poll(void);
/** Waits until SDMA has finished all commands; tpu_poll does not. */
void tpu_sdma_poll(void);
/** Shape of the matrix unit: rows and columns of the block that it multiplies at once.
 * Types: any number */
dim2 tpu_cube_shape(data_type_t dtype);
/** Storage mode of a tensor.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_cal_store_mode(local_addr_t addr, const dim4* shape, const dim4* stride, data_type_t dtype);
/** Mode of the application processor.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int ap_mode(void);
/** Mode of the application processor.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int get_ap_mode(void);
/** Meeting of the ports of VSDMA of all cores.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_sync_all_vsdma(int msg_cnt);
/** Algorithm of the collective operations.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_sccl_algo(void);
/** Number of links of the collective operations.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_sccl_link_num(void);

/* ---- The vendor's checks of memory, and printing ---- */

/** Prints a tensor in global memory, a line for each row.
 * addr: address in global memory
 * shape: n, c, h, w of the tensor
 * stride: strides in elements; NULL: continuous
 * Types: any data_type_t that has a size in bytes */
void tpu_print_global_mem_data(global_addr_t addr, const dim4* shape, const dim4* stride, data_type_t dtype);
/** Guards a range of memory for the rest of the launch: a command that reads or writes it in spite of the guard
 * ends the launch.
 * id: number of the guard; setting it again replaces it
 * addr: first address, in global memory or L2 SRAM
 * size: number of bytes
 * attr: what commands may not do there; READABLE_WRITABLE takes the guard away */
void tpu_set_mem_guard(int id, system_addr_t addr, uint64_t size, mem_guard_attr_t attr);
/** Notes that a range of memory is in use.
 * addr: first address, in global memory or L2 SRAM
 * size: number of bytes
 * info: a number that messages repeat */
void tpu_mem_record_add(system_addr_t addr, u64 size, u64 info);
/** Takes a range of memory off the record.
 * addr: first address, in global memory or L2 SRAM
 * size: number of bytes */
void tpu_mem_record_del(system_addr_t addr, u64 size);
/** Asks whether a tensor in system memory may be touched.
 * addr: first address, in global memory or L2 SRAM
 * shape: n, c, h, w of the tensor
 * stride: strides in elements; NULL: continuous
 * is_read: not 0: whether it may be read, else written
 * Types: any data_type_t that has a size in bytes */
void tpu_mem_check_tensor(system_addr_t addr, const dim4* shape, const dim4* stride, data_type_t dtype, int is_read);
/** Asks whether a matrix in system memory may be touched.
 * addr: first address, in global memory or L2 SRAM
 * rows: rows of the matrix
 * cols: columns of the matrix
 * row_stride: elements from one row to the next
 * is_read: not 0: whether it may be read, else written
 * Types: any data_type_t that has a size in bytes */
void tpu_mem_check_matrix(system_addr_t addr, u32 rows, u32 cols, u32 row_stride, data_type_t dtype, int is_read);
/** Asks whether a range of bytes may be touched.
 * addr: first address, in global memory or L2 SRAM
 * size: number of bytes
 * is_read: not 0: whether it may be read, else written */
void tpu_mem_check_range(system_addr_t addr, u64 size, int is_read);
/** Looks for NaNs in global memory; kernels call it by the macro tpu_mem_check_ddr_nan.
 * buffer_addr: address of the first element
 * num_elements: number of elements
 * Types: any data_type_t that has a size in bytes */
int _tpu_mem_check_ddr_nan(global_addr_t buffer_addr, int num_elements, data_type_t dtype);
/** Looks for NaNs in a local tensor; kernels call it by the macro tpu_mem_check_local_nan.
 * buffer_addr: address of the first element
 * shape: n, c, h, w of the tensor
 * stride: strides in elements; NULL: aligned
 * Types: any data_type_t that has a size in bytes */
int _tpu_mem_check_local_nan(local_addr_t buffer_addr, dim4* shape, dim4* stride, data_type_t dtype);

/* ---- Element by element ---- */

/** Exponential of any float type for arguments that are not positive.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_exp_for_neg_arg(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Writes start, start + step, ... as one row, the same on every NPU, in a chosen type.
 * Layout: dst is (1, npu_num, 1, num) in the aligned layout.
 * start: first value
 * step: difference between neighbours
 * dtype: data type of the values
 * Types: dtype int32 or uint32 */
void tpu_bdc_arithmetic_sequence_bcast_with_dtype(
    local_addr_t dst_addr, int npu_num, int start, int step, int num, data_type_t dtype);
/** Writes start, start + step, ... one value per channel, compact, in a chosen type.
 * Layout: dst is (1, num, 1, 1) in the compact layout.
 * start: first value
 * step: difference between neighbours
 * dtype: data type of the values
 * Types: dtype int32 or uint32 */
void tpu_bdc_arithmetic_sequence_distribute_with_dtype(
    local_addr_t dst_addr, int start, int step, int num, data_type_t dtype);
/** Writes start, start + step, ... one value per channel, aligned, in a chosen type.
 * Layout: dst is (1, num, 1, 1) in the aligned layout.
 * start: first value
 * step: difference between neighbours
 * dtype: data type of the values
 * Types: dtype int32 or uint32 */
void tpu_bdc_arithmetic_sequence_distribute_aligned_with_dtype(
    local_addr_t dst_addr, int start, int step, int num, data_type_t dtype);
/** Writes start, start + step, ... as one row on every NPU, with a buffer for long sequences, in a chosen type.
 * Layout: dst is (1, npu_num, 1, num) in the aligned layout.
 * buffer_addr: local address of a scratch buffer of the chip
 * start: first value
 * step: difference between neighbours
 * dtype: data type of the values
 * Types: dtype int32 or uint32 */
void tpu_bdc_arithmetic_sequence_general_with_dtype(
    local_addr_t dst_addr, local_addr_t buffer_addr, int npu_num, int start, int step, int num, data_type_t dtype);
/** Loads the table of quotients into every NPU.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_load_div_lut(local_addr_t table_addr);
/** Exponential linear unit of any float type: dst = src > 0 ? src : alpha * (e^src - 1).
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_elu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float alpha, const dim4* shape, data_type_t dtype);
/** Logistic function of bfp16, approximated.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_bf16_sigmoid_fast(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Gaussian error linear unit of f32, second approximation.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp32_gelu_fast2(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Gaussian error linear unit of bfp16, second approximation.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_bf16_gelu_fast2(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, local_addr_t coeff_addr, local_addr_t table_addr,
    const dim4* shape);
/** Bounds every element: dst = min(max(src, min_const_val), max_const_val).
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_clamp(local_addr_t dst_addr, local_addr_t src_addr, scalar_t min_const_val, scalar_t max_const_val,
    const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Turns quantised integers into fp16 with one zero point and scale.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp16_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    uint16_t scale_fp16, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into fp16 with zero point and scale of each channel.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp16_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into bfp16 with one zero point and scale.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_bf16_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    uint16_t scale_bf16, data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into bfp16 with zero point and scale of each channel.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_bf16_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, rounding_mode_t rounding_mode);
/** Splits every element into a mantissa and an exponent.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_fp_frexp(
    local_addr_t dst0_addr, local_addr_t dst1_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Reciprocal by the special-function unit.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_sfu_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Product and conversion in one command.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_fuse_mul_cast(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* src0_stride, const dim4* src1_stride, const dim4* dst_stride, data_type_t src0_type,
    data_type_t src1_type, data_type_t dst_type, rounding_mode_t rounding_mode, bool saturation);
/** Difference and bounds in one command.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fuse_sub_clamp(local_addr_t A_addr, local_addr_t B_addr, local_addr_t R_addr, u32 B_const_val,
    u32 C_const_val, const dim4* shape, const dim4* B_stride, int B_is_const, int B_short_str, data_type_t dtype,
    int saturate);
/** Product and sum in one command.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_fuse_madd(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t src2_addr,
    const dim4* dst_shape, const dim4* src1_shape, data_type_t dtype, bool src1_compact_store, bool saturation);
/** Polynomial and product in one command.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fuse_taylor_mul(local_addr_t A_addr, local_addr_t B_addr, local_addr_t table_start_addr,
    local_addr_t R_addr, const dim4* shape, const dim4* B_stride, int iter_w, int B_is_const, int B_short_str,
    data_type_t dtype, int saturate);
/** Exponential of differences in one command.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_fuse_exp(local_addr_t R_addr, local_addr_t A_addr, local_addr_t B_addr, local_addr_t table_start_addr,
    local_addr_t R1_addr, local_addr_t R2_addr, const dim4* shape, bool B_n_is_1, int B_is_const, int B_short_str,
    data_type_t dtype);
/** Exponential of bounded differences in one command.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fuse_exp_with_range(local_addr_t R_addr, local_addr_t A_addr, local_addr_t B_addr,
    local_addr_t table_start_addr, local_addr_t R1_addr, local_addr_t R2_addr, const dim4* shape, bool B_n_is_1,
    scalar_t range_start, scalar_t range_end, int B_is_const, int B_short_str, data_type_t dtype);
/** Quantisation by blocks.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_qt0_quant(local_addr_t R_addr, local_addr_t R1_addr, local_addr_t A_addr, uint16_t range_val,
    uint16_t r_range_val, int A_short_str, const dim4* shape, data_type_t dst_dtype, data_type_t src_dtype);
/** The same with requantisation.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_dq2_mm2_nt_requant(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t DQ2_addr,
    local_addr_t RQ_addr, int L_row_num, int L_col_num, int R_col_num, int gsize, int rq_is_const, int add_result,
    data_type_t L_dtype, data_type_t R_dtype, data_type_t DQ2_dtype, data_type_t Y_dtype, int L_fp8_type,
    int Y_fp8_type, int R_sign, int saturate);
/** The same with requantisation.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_dq2_mm2_tt_requant(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t DQ2_addr,
    local_addr_t RQ_addr, int L_row_num, int L_col_num, int R_col_num, int gsize, int rq_is_const, int add_result,
    data_type_t L_dtype, data_type_t R_dtype, data_type_t DQ2_dtype, data_type_t Y_dtype, int L_fp8_type,
    int Y_fp8_type, int R_sign, int saturate);
/** The same with a factor for each row of the result.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp4_bq_mm2_nt_requant(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr,
    local_addr_t L_scale_addr, local_addr_t R_scale_addr, local_addr_t RQ_addr, int L_row_num, int L_col_num,
    int R_col_num, int gsize, int add_result, int is_rq_const, data_type_t scale_dtype, data_type_t Y_dtype);
/** Transposed convolution of 8-bit integers whose stored kernel is already turned.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_int8_asym_quant_conv2d_for_deconv2d_without_rotate(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, scalar_t kzp_val, scalar_t pad_val, scalar_t insert_val, const dim4* input_shape,
    const dim4* input_stride, int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
    data_type_t kzp_dtype, bool result_add);
/** Turns quantised integers into fp16 or bfp16 with one zero point and scale.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_f16_dequant(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, scalar_t offset,
    uint16_t scale, data_type_t src_dtype, data_type_t dst_dtype, rounding_mode_t rounding_mode);
/** Turns quantised integers into fp16 or bfp16 with zero point and scale of each channel.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_f16_pc_dequant(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t quant_addr, const dim4* shape,
    data_type_t src_dtype, data_type_t dst_dtype, rounding_mode_t rounding_mode);
/** Quotient of two tensors by the unit of later chips: dst = src0 / src1.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_div2(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype, bool saturate);
/** Quotient of a tensor and a constant by the unit of later chips: dst = src / C.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_div2_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, bool saturate);
/** Quotient of a constant and a tensor by the unit of later chips: dst = C / src.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_C_div2(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, bool saturate);
/** Exponential of any float type without coefficients, approximated.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_fast_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    const dim4* shape, data_type_t dtype);
/** Loads the coefficients of the fused exponential into every NPU.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_load_fuse_exp_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Product of an FP4 and a 16-bit tensor.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_fp4_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
    data_type_t src0_dtype, data_type_t src1_dtype);

/* ---- Windows, products, reductions ---- */

/** Convolution of floats with elements inserted into the input.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_conv2d_with_ins(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,
    const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add, int ins_h, int ins_w);
/** Average pooling of floats with a data type of the output and inserted elements.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU; output extents as in
 *   tpu_bdc_fp_avg_pool2d.
 * output_addr: local address of the output
 * in_dtype: data type of the input
 * out_dtype: data type of the output
 * scale: factor of every tap
 * Types: in_dtype fp16; out_dtype fp16 | in_dtype fp32; out_dtype fp32 | in_dtype bfp16; out_dtype bfp16 */
void tpu_bdc_fp_avg_pool2d_ex(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, const dim2* ins,
    data_type_t in_dtype, data_type_t out_dtype, scalar_t scale);
/** Maximum pooling of integers.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU; output extents as in
 *   tpu_bdc_fp_avg_pool2d.
 * output_addr: local address of the output
 * pad_val: value of the padding
 * Types: dtype int8 or uint8 */
void tpu_bdc_int_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Minimum pooling of integers.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU; output extents as in
 *   tpu_bdc_fp_avg_pool2d.
 * output_addr: local address of the output
 * pad_val: value of the padding
 * Types: dtype int8 or uint8 */
void tpu_bdc_int_min_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
    const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
    scalar_t pad_val);
/** Reduction of a tensor.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_reduce(local_addr_t A_addr, local_addr_t R_addr, const dim4* shape, int A_short_str, int B_short_str,
    int A_sign, data_type_t idtype, data_type_t odtype, int reduce_op, int saturate);
/** Smallest element, largest absolute value or sum of each plane.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_hw_reduce(local_addr_t R_addr, local_addr_t A_addr, const dim4* shape, const dim4* R_stride,
    const dim4* A_stride, int A_sign, data_type_t odtype, data_type_t idtype, int reduce_op, int saturate);
/** Smallest element of each row.
 * BM1684X has no fused functions: the call is refused. */
void tpu_bdc_w_reduce(local_addr_t R_addr, local_addr_t A_addr, const dim4* shape, const dim4* R_stride,
    const dim4* A_stride, int A_sign, data_type_t odtype, data_type_t idtype, int reduce_op, int saturate);
/** Matrix product whose right elements have factors, right matrix transposed.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp_dq2_mm2_nt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t DQ2_addr,
    int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result, data_type_t L_dtype, data_type_t R_dtype,
    data_type_t DQ2_dtype, data_type_t Y_dtype, int L_fp8_type, int Y_fp8_type, int R_sign, int saturate);
/** Matrix product whose right elements have factors, all transposed.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp_dq2_mm2_tt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t DQ2_addr,
    int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result, data_type_t L_dtype, data_type_t R_dtype,
    data_type_t DQ2_dtype, data_type_t Y_dtype, int L_fp8_type, int Y_fp8_type, int R_sign, int saturate);
/** FP8 matrix product quantised by blocks.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp8_bq_mm2_nt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t L_scale_addr,
    local_addr_t R_scale_addr, int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result,
    data_type_t R_dtype, data_type_t scale_dtype, data_type_t Y_dtype, int L_fp8_type, int R_fp8_type, int saturate);
/** FP8 matrix product with weights quantised by blocks.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp8_bq_mm2_wblock_nt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr,
    local_addr_t L_scale_addr, local_addr_t R_scale_addr, int L_row_num, int L_col_num, int R_col_num, int gsize,
    int add_result, data_type_t R_dtype, data_type_t scale_dtype, data_type_t Y_dtype, int L_fp8_type, int R_fp8_type,
    int saturate);
/** FP4 matrix product quantised by blocks.
 * BM1684X has no products of blocks: the call is refused. */
void tpu_bdc_fp4_bq_mm2_nt(local_addr_t Y_addr, local_addr_t L_addr, local_addr_t R_addr, local_addr_t L_scale_addr,
    local_addr_t R_scale_addr, int L_row_num, int L_col_num, int R_col_num, int gsize, int add_result,
    data_type_t scale_dtype, data_type_t Y_dtype);
/** Transposed convolution of floats whose stored kernel is already turned.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_fp_conv2d_for_deconv2d_without_rotate(local_addr_t output_addr, local_addr_t input_addr,
    local_addr_t weight_addr, local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
    const dim2* kernel, const dim2* insert, const padding_t* padding, const dim2* dilation, data_type_t output_dtype,
    data_type_t input_dtype, bool has_bias, bool result_add);
/** Scatters along w, for the cases that tpu_bdc_w_scatter lacks.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_w_scatter_exception(local_addr_t output_addr, local_addr_t param_addr, local_addr_t index_addr,
    const dim4* shape, int param_w, data_type_t dtype, data_type_t index_dtype);

/* ---- GDMA ---- */

/** Copies a local tensor to a local tensor of another shape.
 * dst_shape: n, c, h, w of the destination
 * src_shape: n, c, h, w of the source
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_gdma_general_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* dst_shape,
    const dim4* src_shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype);
/** Copies a system tensor and combines it with the destination.
 * BM1684X has no reduction into global memory: the call is refused. */
void tpu_gdma_cpy_reduce_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op, all_reduce_opcode_t reduce_opcode);
/** Copies a local tensor to system memory and combines it with what is there.
 * BM1684X has no reduction into global memory: the call is refused. */
void tpu_gdma_cpy_reduce_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op, all_reduce_opcode_t reduce_opcode);
/** Adds a system tensor times a factor to the destination.
 * BM1684X has no reduction into global memory: the call is refused. */
void tpu_gdma_cpy_reduce_mac_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, scalar_t scale_val);
/** Adds a local tensor times a factor to a system tensor.
 * BM1684X has no reduction into global memory: the call is refused. */
void tpu_gdma_cpy_reduce_mac_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, scalar_t scale_val);
/** Gathers channels of a system tensor into a local one by index.
 * BM1684X has no gathers of channels: the call is refused. */
void tpu_gdma_c_gather_S2L(local_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Gathers channels of a local tensor into a system one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_gather_L2S(system_addr_t output_addr, local_addr_t input_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Gathers channels of a local tensor into a local one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_gather_L2L(local_addr_t output_addr, local_addr_t input_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Gathers channels of a system tensor into a system one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_gather_S2S(system_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
    scalar_t C, const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Scatters channels of a system tensor into a local one by index.
 * BM1684X has no gathers of channels: the call is refused. */
void tpu_gdma_c_scatter_S2L(local_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Scatters channels of a local tensor into a system one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_scatter_L2S(system_addr_t output_addr, local_addr_t input_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Scatters channels of a local tensor into a local one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_scatter_L2L(local_addr_t output_addr, local_addr_t input_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);
/** Scatters channels of a system tensor into a system one by index.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_gdma_c_scatter_S2S(system_addr_t output_addr, system_addr_t input_addr, addr_t index_addr, bool index_is_local,
    const dim4* shape, int param_c, const dim4* output_stride, const dim4* param_stride, data_type_t dtype);

/* ---- VSDMA and CDMA ---- */

/** Prepares all ports of VSDMA. */
void tpu_vsdma_initialize(void);
/** Prepares one port of VSDMA.
 * port: number of the port */
void tpu_vsdma_port_initialize(int port);
/** Sets the message of a deferred barrier of CDMA.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_set_cdma_defered_barrier_msg_id(int msg_id);
/** Whether CDMA is at work. */
bool tpu_is_cdma_busy(void);
/** Gives every port a command that does nothing. */
void tpu_cdma_all_port_nop(void);
/** Waits for a port and counts.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_perf_port_poll(int* chips, int* ports, int* actions, u64* info_addr);
/** Waits for CDMA and counts.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_perf_poll(int* chips, int* ports, int* actions, u64* info_addr);
/** Waits for one port of VSDMA.
 * port: number of the port */
void tpu_vsdma_port_poll(int port);
/** Number of CDMA ports in use.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_cdma_get_used_port_num(void);
/** The CDMA ports in use.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int* tpu_cdma_get_used_ports(void);
/** Gives a port a command that does nothing.
 * port: number of the port */
void tpu_cdma_nop(int port);
/** Stands in for a reduction over chips.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_fake_all_reduce(int dst_chipid, system_addr_t src_addr, int dst_n, int dst_c, int dst_h, int dst_w,
    int dst_n_stride, int dst_c_stride, int dst_h_stride, int opcode, data_type_t dtype);
/** Stands in for a copy between chips.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_fake_p2p(int dst_chipid, system_addr_t src_addr, int dst_n, int dst_c, int dst_h, int dst_w,
    int dst_n_stride, int dst_c_stride, int dst_h_stride, int opcode, data_type_t dtype);
/** The CDMA port between two chips.
 * Its answer on BM1684X is neither recorded nor described: the call is refused. */
int tpu_cdma_get_port_v2(int self, int peer, int direction, int* port_list);
/** Copies a system tensor through a port to L2 SRAM and combines it with what is there.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_vsdma_cpy_reduce_S2L2(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, all_reduce_psum_t reduce_psum_op,
    all_reduce_opcode_t reduce_opcode, int port_id);
/** Sends a tensor to another chip, with a stated port.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_send_v2(int dst_chipid, int src_chipid, system_addr_t src_addr, int src_n, int src_c, int src_h,
    int src_w, int src_n_stride, int src_c_stride, int src_h_stride, int opcode, data_type_t dtype, int port);
/** Receives a tensor from another chip, with a stated port.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_recv_v2(int src_chipid, int dst_chipid, system_addr_t dst_addr, int dst_n, int dst_c, int dst_h,
    int dst_w, int dst_n_stride, int dst_c_stride, int dst_h_stride, system_addr_t input_addr, int opcode,
    data_type_t dtype, int port);
#ifndef SOFTTPU_OTHER_CDMA
/** Reads a tensor of another chip.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_read(int src_chipid, int dst_chipid, system_addr_t src_addr, system_addr_t dst_addr, unsigned short src_n,
    unsigned short src_c, unsigned int src_h, unsigned int src_w, unsigned int src_n_stride, unsigned int src_c_stride,
    unsigned int src_h_stride, unsigned short dst_n, unsigned short dst_c, unsigned int dst_h, unsigned int dst_w,
    unsigned int dst_n_stride, unsigned int dst_c_stride, unsigned int dst_h_stride, data_type_t dtype,
    int stride_enable, int nchw_copy);
#endif
/** Sets from where a port's messages are numbered.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_port_set_base_msg_id(int port, int msg_id);
/** Scatters rows through a port, with a start and an addition in place.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_vsdma_h_scatter_S2S_ext(system_addr_t output_addr, system_addr_t param_addr, system_addr_t index_addr,
    const dim4* shape, int param_h, int start_pos, int inplace_add, const dim4* output_stride, const dim4* param_stride,
    const dim4* index_stride, data_type_t dtype, int port_id);
/** Collects pieces of another chip's memory by a list.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_gather(int chip_id, system_addr_t dst_addr, system_addr_t index_list_addr, int index_list_num,
    int length_shift, data_type_t dtype, int opcode, int port);
/** Spreads pieces over another chip's memory by a list.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_scatter(int chip_id, system_addr_t src_addr, system_addr_t index_list_addr, int index_list_num,
    int length_shift, data_type_t dtype, int opcode, u32 msg_en, u32 msg_id, u32 wcnt, int port);
/** Sends a message to another chip.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_cdma_remote_msgsend(
    int chip_id, system_addr_t index_list_addr, int index_list_num, u32 msg_id, u32 wcnt, int port);

/* ---- Recorded on BM1690 alone ---- */

/** Sets the seed of BDC's random numbers.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bd_set_random_gen_seed(u64 seed);
/** Mean over h and w of each channel.
 * Layout: Input (N, C, H, W) and output (N, C, OH, OW) are aligned and start on one NPU; output extents as in
 *   tpu_bdc_fp_avg_pool2d.
 * output_addr: local address of the output
 * buffer_addr: local address of a work buffer
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_hw_reduce_mean(
    local_addr_t output_addr, local_addr_t input_addr, local_addr_t buffer_addr, const dim4* shape, data_type_t dtype);
/** Inverse sine of f32, for |src| <= 1.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32 */
void tpu_bdc_fp_arcsin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Inverse cosine of f32, for |src| <= 1.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32 */
void tpu_bdc_fp_arccos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Inverse hyperbolic tangent of any float type, for |src| < 1.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_arctanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Loads the coefficients of the inverse sine of f32 into every NPU.
 * Layout: The values go to the offset of the address in all NPUs; the address is aligned, on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32 */
void tpu_bdc_load_fp_arcsin_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Hyperbolic sine of any float type.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Hyperbolic cosine of any float type.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_cosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Hyperbolic tangent of any float type.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_tanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Softplus of any float type: dst = ln(1 + e^(beta * src)) / beta.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * log_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_log_coeff, in dtype
 * beta: factor of src
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, const dim4* shape, float beta, data_type_t dtype);
/** Gaussian error linear unit of any float type by the tangent form.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * table_addr: local address of the table, where the function needs one
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_gelu_fast(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Gaussian error linear unit of any float type by a sigmoid: dst = src / (1 + e^(-1.702 * src)).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * table_addr: local address of the table, where the function needs one
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_gelu_fast2(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Logarithm of the sigmoid of any float type: dst = -ln(1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * ln_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_log_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t ln_coeff_addr, const dim4* shape, data_type_t dtype);
/** Inverse tangent of f32.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_..._coeff)
 * Types: dtype fp32 */
void tpu_bdc_fp_arctan(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t work2_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Loads the coefficients of the inverse tangent of f32 into every NPU.
 * Layout: The values go to the offset of the address in all NPUs; the address is aligned, on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32 */
void tpu_bdc_load_fp_arctan_coeff(local_addr_t coeff_addr, data_type_t dtype);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
