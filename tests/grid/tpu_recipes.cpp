// What tpu_* functions need besides the defaults.
#include "tests/grid/recipes.hpp"
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
    {"tpu_bdc_npu_bcast", "shape=2,6,3,4"},
    {"tpu_gdma_channel_bcast_*", "shape=2,60,3,4"},
    {"tpu_gdma_system_bcast", "dst_addr=0x8000000"},
    {"tpu_gdma_*compress_*", "dtype=FP16"},
    {"tpu_gdma_nonzero_*", "data_dtype=INT32"},
    {"tpu_gdma_h_*", "shape=1,66,3,20"},
    {"tpu_gdma_mask_select_*", "mask_in_lmem=0"},
    {"tpu_bdc_w_*", "shape=2,66,1,20"},
    {"tpu_bdc_4bank_w_*", "shape=1,66,1,20 param_addr=0x20000 index_addr=0x8000 output_addr=0x10000"},
    {"tpu_bdc_batch_bcast_*", "shape=2,66,1,20"},
    {"tpu_bdc_batch_bcast_h_*", "shape=2,66,20,4"},
    {"tpu_*_wait_msg", "send_cnt=1"},
    {"tpu_core_context_setup", "core_idx=0 core_num=1"},
    {"tpu_gdma_shape_limit", "dim=1"},
    {"tpu_l2_sram_addr", "addr=0x10000000"},
    {"tpu_fp_to_int_cast", "src_dtype=FP32 dst_dtype=INT32"},
    {"tpu_int_to_fp_cast", "src_dtype=INT32 dst_dtype=FP32"},
    {"tpu_bdc_fp32_logx", "x=10"},
    {"tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d", "output_dtype=UINT32"},
    {"tpu_hau_*", "dtype=FP32 dtype_flags=0 idx_enable=1 idx_auto=1"},
    {"tpu_core_barrier", "msg_id=4 core_num=1"},
    {"tpu_*_lock", "lock_id=1"},
    {"tpu_hau_line_gather", "start=0 end=19"},
    {"tpu_bdc_fp_mm*", "*dtype=FP16 left_cols=70 right_cols=70 right_rows=70"},
    {"tpu_bdc_fp_mm*_with_bias", "bias_dtype=FP32"},
    {"tpu_bdc_int8_*mm*", "*C_dtype=INT8"},
    {"tpu_bdc_*2d_requant_*",
     "has_requant=1 output_dtype=INT8 input_dtype=INT8 weight_dtype=INT8 bias_dtype=INT32 multiplier=3"},
    // Of int8: stored, stored, the constant 3; an int32 row; a table.
    {"tpu_bdc_quant_mm",
     "output_dtype=INT8 left=0,1,0x8000 right=0,1,0xc000 inner_cols=70 output_cols=70 rzp=1,1,3 bias=0,9,0x10000 "
     "requant=1,5,0x14000"},
    {"tpu_bdc_int8_*",
     "left_dtype=INT8 right_dtype=INT8 *zp_dtype=INT8 input_dtype=INT8 weight_dtype=INT8 kzp_dtype=INT8 "
     "pad_dtype=INT8"},
};

// Streams for the functions that unpack; what ends or waits has something before it.
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
    {"tpu_parallel_end", [](std::span<const Value>) { tpu_parallel_start(); }, true},
    {"tpu_bdc_wait_msg", [](std::span<const Value>) { tpu_gdma_send_msg(20, 1); }, true},
    {"tpu_gdma_wait_msg", [](std::span<const Value>) { tpu_bdc_send_msg(20, 1); }, true},
    {"tpu_hau_wait_msg", [](std::span<const Value>) { tpu_bdc_send_msg(20, 1); }, true},
};

}  // namespace

const Recipes& tpu_recipes() {
  static const Recipes all = {tpu_functions(), kRules, kPreparations};
  return all;
}

}  // namespace softtpu::grid
