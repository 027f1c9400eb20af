// Every tpu_* function that issues commands: one valid call, and calls with one wrong argument.
#include <fmt/format.h>

#include "tests/grid/call_grid.hpp"
#include "tpu_kernel.h"

namespace softtpu::grid {
namespace {

const std::vector<Rule> kRules = {
    {"*", "num_iter=2 num_comp=1 has_bias=0 reverse_axis=0 index_dtype=UINT16 mask_dtype=UINT8"},
    {"tpu_bdc_table_lookup", "src_dtype=UINT8"},
    {"tpu_bdc_int8_mac*", "*_dtype=INT8"},
    {"tpu_bdc_logical_shift", "shift_dtype=INT8"},
    {"tpu_bdc_int*_dequant", "src_dtype=INT16"},
    {"tpu_bdc_fp32*_dequant", "src_dtype=INT16"},
    {"tpu_bdc_npu_bcast", "shape=2,60,3,4"},
    {"tpu_gdma_channel_bcast_*", "shape=2,60,3,4"},
    {"tpu_gdma_system_bcast", "dst_addr=0x8000000"},
    {"tpu_gdma_*compress_*", "dtype=FP16"},
    {"tpu_gdma_h_*", "shape=1,66,3,20"},
    {"tpu_gdma_mask_select_*", "mask_in_lmem=0"},
    {"tpu_bdc_w_*", "shape=2,66,1,20"},
    {"tpu_bdc_4bank_w_*", "shape=1,66,1,20 param_addr=0x20000 index_addr=0x8000 output_addr=0x10000"},
    {"tpu_bdc_batch_bcast_*", "shape=2,66,1,20"},
    {"tpu_bdc_batch_bcast_h_*", "shape=2,66,20,4"},
    {"tpu_hau_*", "dtype=FP32 dtype_flags=FP32"},
    {"tpu_hau_line_gather", "start=0 end=19"},
    {"tpu_bdc_fp_mm*", "*dtype=FP16 left_cols=70 right_cols=70 right_rows=70"},
    {"tpu_bdc_int8_*mm*", "*C_dtype=INT8"},
    {"tpu_bdc_int8_*",
     "left_dtype=INT8 right_dtype=INT8 *zp_dtype=INT8 input_dtype=INT8 weight_dtype=INT8 kzp_dtype=INT8 "
     "pad_dtype=INT8"},
};

const std::vector<Legal> kLegal = {
    // Operands of at most one row of an NPU.
    {"*", "*coeff_addr", "past the end", "16 coefficients"},
    {"*", "shift_addr", "past the end", "one value per channel"},
    {"*", "shift_addr", "misaligned", "bytes in the compact layout"},
    {"*", "bias_addr", "past the end", "one value per channel"},
    {"*", "scale_addr", "past the end", "one value per channel"},
    {"tpu_bdc_int8_*mm*", "*_addr", "past the end", "rows of 20 bytes"},
    {"tpu_bdc_int8_*", "*zp_addr", "*", "one byte per channel"},
    {"tpu_bdc_int8_*", "pad_*addr", "*", "one byte per channel"},
    {"tpu_bdc_int8_*", "weight_addr", "misaligned", "bytes"},
    {"*", "weight_addr", "past the end", "one window per channel"},
    {"*", "roi_addr", "past the end", "20 regions in the compact layout"},
    {"tpu_bdc_*", "count_addr", "past the end", "one count per channel"},
    {"tpu_bdc_*w_*", "index_addr", "past the end", "20 indices of 16 bits"},
    {"tpu_bdc_*_distribute*", "dst_addr", "past the end", "one element per channel"},
    {"tpu_gdma_nonzero_*", "dst_addr", "past the end", "nothing is found"},
    {"tpu_gdma_mask_select_*", "dst_addr", "past the end", "nothing is selected"},
    {"tpu_gdma_mask_select_*", "mask_addr", "misaligned", "bytes"},
    {"tpu_hau_*_nms", "output_addr", "past the end", "three bytes"},
    // Operands that the call does not use.
    {"*", "bias_addr", "*", "has_bias is false"},
    {"*", "bias_dtype", "*", "has_bias is false"},
    {"*", "buffer_addr", "*", "scratch of the chip"},
    {"tpu_bdc_fp_s*", "table_addr", "*", "these functions need no table"},
    // Operands whose lanes are their own.
    {"tpu_gdma_*", "*_addr", "next NPU", "DMA goes to any NPU"},
    {"tpu_bdc_load_*", "*_addr", "next NPU", "the same offset of every NPU"},
    {"tpu_bdc_*arithmetic_sequence*", "dst_addr", "next NPU", "has no source"},
    {"tpu_bdc_npu_bcast_from_static", "dst_addr", "next NPU", "20 NPUs from any one"},
    {"tpu_bdc_set_C", "dst_addr", "next NPU", "has no source"},
    {"tpu_bdc_cpy_cross_npu", "*_addr", "next NPU", "goes from NPU to NPU"},
    {"tpu_bdc_npu_bcast", "*_addr", "next NPU", "goes from NPU to NPU"},
    {"tpu_bdc_cw_trans", "dst_addr", "next NPU", "goes from NPU to NPU"},
    {"tpu_bdc_wc_trans", "src_addr", "next NPU", "goes from NPU to NPU"},
    {"tpu_bdc_*vc_*", "src0_addr", "next NPU", "the elements of src0 go to every lane"},
    {"tpu_bdc_*mm*", "left_addr", "next NPU", "the left matrix goes to every lane"},
    {"tpu_bdc_*conv2d*", "input_addr", "next NPU", "input channels go to every lane"},
    {"tpu_bdc_*conv2d_kernel_const", "output_addr", "next NPU", "no operand per output channel"},
    // Addresses of bytes.
    {"tpu_gdma_compress_*", "dst_*addr", "misaligned", "a stream of bytes"},
    {"tpu_gdma_h_*", "index_addr", "misaligned", "indices in system memory need no alignment"},
    {"tpu_hau_hard_nms", "input_addr", "misaligned", "bytes"},
    // Strides that are not used: of dimensions of one element, of a row that is moved whole, or all.
    {"tpu_gdma_h_*", "*_stride", "n=largest", "one batch"},
    {"tpu_gdma_h_*", "index_stride", "w=largest", "one index per row"},
    {"tpu_gdma_channel_bcast_*", "*_stride", "c=largest", "one channel of each NPU"},
    {"tpu_gdma_cpy_*_trans_L2?", "src_stride", "c=largest", "one channel of each NPU"},
    {"tpu_gdma_cpy_nc_trans_*", "*_stride", "w=*", "rows move whole"},
    {"tpu_gdma_cpy_cw_trans_S2S", "*_stride", "[nch]=*", "ignored, as recorded"},
    {"tpu_gdma_*compress_RACU_*", "*_stride", "*", "of dimensions that are not walked"},
    // Shapes that the function splits.
    {"tpu_gdma_*_S2S", "*shape", "?=65536", "split into several transfers"},
    {"tpu_gdma_cpy_S2S", "shape", "n=0", "moves nothing"},
    {"tpu_gdma_matrix_*", "*row_stride", "0", "the same row again"},
    {"tpu_gdma_vector_*", "len_per_channel", "largest", "one channel"},
    // Plain numbers.
    {"*arithmetic_sequence*", "st*", "*", "any value"},
    {"*", "multiplier", "*", "any value"},
    {"*", "base_idx", "*", "any value"},
    {"*", "start_pos", "*", "any value: indices below it are other parts' rows"},
    {"*", "inplace_add", "*", "a flag"},
    {"tpu_hau_sort_general", "src_idx_addr", "*", "natural indices: idx_auto is set"},
    {"tpu_hau_line_gather", "start", "0", "from the first line"},
    {"tpu_hau_line_gather", "end", "0", "no line in the range"},
    {"tpu_hau_line_gather", "line_num", "largest", "lines beyond the range are not read"},
    {"*", "idx_*", "*", "a flag"},
    {"*", "is_descend", "*", "a flag"},
    {"*", "mask_in_lmem", "0", "a flag"},
    {"*", "num_comp", "0", "no correction"},
    {"*", "reverse_axis", "0", "the first dimension"},
    {"*", "keep_num", "0", "keeps nothing"},
    {"*", "ins*", "?=0", "nothing is inserted"},
};

const std::vector<Alias> kAliases = {
    {"tpu_gdma_*", "dst_shape", "shape"},
    {"tpu_gdma_general_cpy_*", "src_shape", "source shape"},
    {"tpu_gdma_vector_*", "len_per_channel", "columns per channel"},
    {"tpu_gdma_vector_*", "len", "cols"},
    {"tpu_gdma_matrix_*", "*cols_per_channel", "columns per channel"},
    {"tpu_gdma_matrix_*", "*row_stride", "row stride"},
    {"tpu_gdma_matrix_*", "*row_stride", "src"},
    {"tpu_gdma_matrix_*", "*row_stride", "dst"},
    {"tpu_gdma_matrix_*", "*rows", "rows"},
    {"tpu_gdma_matrix_*", "*cols", "cols"},
    {"tpu_gdma_matrix_trans_*", "src_rows", "cols"},
    {"tpu_gdma_matrix_trans_*", "src_cols", "rows"},
    {"tpu_gdma_matrix_*", "*", "has more elements"},
    {"tpu_gdma_matrix_*", "*cols_per_channel", "src ends"},
    {"tpu_gdma_matrix_*", "*cols_per_channel", "dst ends"},
    {"tpu_gdma_*", "*_stride", "w stride"},
    {"tpu_gdma_*RACU*", "*_racu_*", "src"},
    {"tpu_gdma_*RACU*", "*_racu_*", "dst"},
    {"tpu_gdma_*RACU*", "*_racu_*", "unit n"},
    {"tpu_gdma_*RACU*", "*_meta_*", "meta"},
    {"tpu_bdc_*_dequant", "quant_addr", "scale"},
    {"tpu_bdc_*quant", "quant_addr", "multiplier"},
    {"tpu_bdc_*quant", "quant_addr", "offset"},
    {"tpu_bdc_*deconv2d", "pad_insert_addr", "pad"},
    {"tpu_bdc_m*_select", "dst1_addr", "dst0"},
    {"tpu_bdc_m*_select", "dst0_addr", "dst1"},
    {"tpu_gdma_*", "data_dtype", "src type"},
    {"tpu_gdma_*", "mask_in_lmem", "mask"},
    {"tpu_gdma_system_*", "count", "dst"},
    {"tpu_hau_*", "*out*data_addr", "output"},
    {"tpu_hau_*", "*in*data_addr", "input"},
    {"tpu_hau_sort_general", "src_data_addr", "input"},
    {"tpu_hau_sort_general", "dst_data_addr", "output"},
    {"tpu_hau_sort_*", "*_idx_addr", "index"},
    {"tpu_hau_sort_general", "topk", "K"},
    {"tpu_hau_*", "len", "input"},
    {"tpu_hau_*", "row_num", "output"},
    {"tpu_hau_line_gather", "start", "end"},
    {"tpu_hau_line_gather", "line_num", "end"},
    {"tpu_hau_line_gather", "*_len", "output"},
    {"tpu_hau_sort_general", "dtype_flags", "input type"},
    {"tpu_hau_sort_general", "dst_idx_addr", "output_idx"},
    {"tpu_gdma_system_bcast", "dst_channel", "shape.c"},
    {"tpu_gdma_system_bcast", "count", "shape.w"},
    {"tpu_bdc_fp32_softplus", "exp_*_addr", "coeff"},
    {"tpu_bdc_fp32_softplus", "exp_*_addr", "table"},
    {"tpu_bdc_*_select", "src0_src1_dtype", "src0 and src1"},
    {"tpu_bdc_*mm*", "left_rows", "number of output rows"},
    {"tpu_bdc_*mm*", "left_rows", "number of columns of left"},
    {"tpu_bdc_*mm*", "left_cols", "number of columns of left"},
    {"tpu_bdc_*mm*", "left_cols", "number of output rows"},
    {"tpu_bdc_*mm*", "right_cols", "output."},
    {"tpu_bdc_*mm*", "right_rows", "output."},
    {"tpu_bdc_*mm*", "right_cols_per_channel", "output.w"},
    {"tpu_bdc_*mm*", "left_cols_per_channel", "left.w"},
    {"tpu_bdc_fp_mm*", "*_dtype", "operand type"},
    {"tpu_bdc_fp_mm*", "*_dtype", "left and right type"},
    {"tpu_bdc_*mm*", "right_zp_dtype", "right"},
    {"tpu_bdc_*mm*", "C_zp_dtype", "right"},
    {"tpu_bdc_*mm*", "C_dtype", "left"},
    {"tpu_bdc_*", "output_c", "output.c"},
    {"tpu_bdc_*", "output_w", "output.w"},
    {"tpu_bdc_*_pool2d", "input_dtype", "dtype type"},
};

// Streams for the functions that unpack.
const std::vector<Preparation> kPreparations = {
    {"tpu_gdma_decompress_normal_S2L",
     [](std::span<const Value> values) {
       const dim4 shape = {2, 66, 3, 4};
       tpu_gdma_compress_normal_L2S(static_cast<global_addr_t>(values[1].number), 0, &shape, nullptr, DT_FP16, 0, 0,
                                    false);
     }},
    {"tpu_gdma_decompress_RACU_S2L",
     [](std::span<const Value> values) {
       const dim4 shape = {2, 66, 3, 4};
       tpu_gdma_compress_RACU_L2S(static_cast<global_addr_t>(values[1].number),
                                  static_cast<global_addr_t>(values[2].number), 0, &shape, nullptr, nullptr, nullptr,
                                  DT_FP16, 0, 0, false);
     }},
};

TEST(InvalidCalls, EachArgumentOfEachTpuFunctionIsChecked) {
  CallGrid grid({"bm1684x", tpu_functions(), kRules, kPreparations, kLegal, kAliases});
  const Counts counts = grid.run();
  fmt::print("{} rows, {} valid, {} invalid and {} legal calls\n", counts.rows, counts.valid, counts.invalid,
             counts.legal);
  EXPECT_GT(counts.rows, 250);
}

}  // namespace
}  // namespace softtpu::grid
