// Functions of the newest headers that no recording and no description determines. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_sync_start, (void))
UNSUPPORTED(void, tpu_sync_end, (void))
UNSUPPORTED(bool, tpu_is_sync_state, (void))
UNSUPPORTED(void, tpu_debug_cmd, (u64*, int, int))
UNSUPPORTED(int, tpu_use_ring, (void))
UNSUPPORTED(void, tpu_run_commands, (const tpu_engine_command_info_t*, u32))
UNSUPPORTED(int, tpu_get_schedule_msg_id, (void))
UNSUPPORTED(u32, tpu_engine_num, (void))
UNSUPPORTED(void, tpu_reset_base_addr, (void))
UNSUPPORTED(void, tpu_set_base_addr, (const int*, const u64*, int))
UNSUPPORTED(void, read_bw_registers, (bw_info_t*))
UNSUPPORTED(void, show_bw_info, (double))
UNSUPPORTED(void, enable_bw_perf, (void))
UNSUPPORTED(void, disable_bw_perf, (double))
UNSUPPORTED(system_addr_t, tpu_global_mem_real_addr, (system_addr_t))
UNSUPPORTED(int, tp_debug, (const char*))
UNSUPPORTED(int, ap_debug, (const char*))
UNSUPPORTED(dim2, tpu_cube_shape, (data_type_t))
UNSUPPORTED(int, tpu_cal_store_mode, (local_addr_t, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(int, ap_mode, (void))
UNSUPPORTED(int, get_ap_mode, (void))
UNSUPPORTED(void, tpu_sync_all_vsdma, (int))
UNSUPPORTED(int, tpu_sccl_algo, (void))
UNSUPPORTED(int, tpu_sccl_link_num, (void))
UNSUPPORTED(void, tpu_bdc_fp_exp_for_neg_arg,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_load_div_lut, (local_addr_t))
UNSUPPORTED(void, tpu_bdc_fp_elu,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, float, const dim4*,
             data_type_t))
UNSUPPORTED(void, tpu_bdc_bf16_sigmoid_fast,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*))
UNSUPPORTED(void, tpu_bdc_fp32_gelu_fast2,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*))
UNSUPPORTED(void, tpu_bdc_bf16_gelu_fast2,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t,
             const dim4*))
UNSUPPORTED(void, tpu_bdc_clamp,
            (local_addr_t, local_addr_t, scalar_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_fp16_dequant,
            (local_addr_t, local_addr_t, const dim4*, scalar_t, uint16_t, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_fp16_pc_dequant,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_bf16_dequant,
            (local_addr_t, local_addr_t, const dim4*, scalar_t, uint16_t, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_bf16_pc_dequant,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_fp_frexp, (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_fp_sfu_reciprocal, (local_addr_t, local_addr_t, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_fuse_mul_cast,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim4*, data_type_t,
             data_type_t, data_type_t, rounding_mode_t, bool))
UNSUPPORTED(void, tpu_bdc_fuse_sub_clamp,
            (local_addr_t, local_addr_t, local_addr_t, u32, u32, const dim4*, const dim4*, int, int, data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fuse_madd,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, data_type_t, bool, bool))
UNSUPPORTED(void, tpu_bdc_fuse_taylor_mul,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int, int, int,
             data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fuse_exp,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, bool, int,
             int, data_type_t))
UNSUPPORTED(void, tpu_bdc_fuse_exp_with_range,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, bool,
             scalar_t, scalar_t, int, int, data_type_t))
UNSUPPORTED(void, tpu_bdc_qt0_quant,
            (local_addr_t, local_addr_t, local_addr_t, uint16_t, uint16_t, int, const dim4*, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_fp_dq2_mm2_nt_requant,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, int,
             data_type_t, data_type_t, data_type_t, data_type_t, int, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp_dq2_mm2_tt_requant,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, int,
             data_type_t, data_type_t, data_type_t, data_type_t, int, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp4_bq_mm2_nt_requant,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int,
             int, int, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_int8_asym_quant_conv2d_for_deconv2d_without_rotate,
            (local_addr_t, local_addr_t, local_addr_t, scalar_t, scalar_t, scalar_t, const dim4*, const dim4*, int,
             const dim2*, const dim2*, const padding_t*, const dim2*, data_type_t, data_type_t, data_type_t,
             data_type_t, bool))
UNSUPPORTED(void, tpu_bdc_f16_dequant,
            (local_addr_t, local_addr_t, const dim4*, scalar_t, uint16_t, data_type_t, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_f16_pc_dequant,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t, data_type_t, rounding_mode_t))
UNSUPPORTED(void, tpu_bdc_fp_div2,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim4*, data_type_t,
             bool))
UNSUPPORTED(void, tpu_bdc_fp_div2_C,
            (local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t, bool))
UNSUPPORTED(void, tpu_bdc_fp_C_div2,
            (local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t, bool))
UNSUPPORTED(void, tpu_bdc_fp_fast_exp,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_load_fuse_exp_coeff, (local_addr_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_fp4_mul,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim4*, data_type_t,
             data_type_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_with_ins,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int, const dim2*,
             const dim2*, const padding_t*, const dim2*, data_type_t, data_type_t, bool, bool, int, int))
UNSUPPORTED(void, tpu_bdc_reduce,
            (local_addr_t, local_addr_t, const dim4*, int, int, int, data_type_t, data_type_t, int, int))
UNSUPPORTED(void, tpu_bdc_hw_reduce,
            (local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, int, data_type_t, data_type_t, int,
             int))
UNSUPPORTED(void, tpu_bdc_w_reduce,
            (local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, int, data_type_t, data_type_t, int,
             int))
UNSUPPORTED(void, tpu_bdc_fp_dq2_mm2_nt,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, data_type_t, data_type_t,
             data_type_t, data_type_t, int, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp_dq2_mm2_tt,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, data_type_t, data_type_t,
             data_type_t, data_type_t, int, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp8_bq_mm2_nt,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, data_type_t,
             data_type_t, data_type_t, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp8_bq_mm2_wblock_nt,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, data_type_t,
             data_type_t, data_type_t, int, int, int))
UNSUPPORTED(void, tpu_bdc_fp4_bq_mm2_nt,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, int, int, int, int, int, data_type_t,
             data_type_t))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_for_deconv2d_without_rotate,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int, const dim2*,
             const dim2*, const padding_t*, const dim2*, data_type_t, data_type_t, bool, bool))
UNSUPPORTED(void, tpu_bdc_w_scatter_exception,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, int, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_S2S,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, all_reduce_psum_t,
             all_reduce_opcode_t))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_L2S,
            (system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, all_reduce_psum_t,
             all_reduce_opcode_t))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_mac_S2S,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, scalar_t))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_mac_L2S,
            (system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, scalar_t))
UNSUPPORTED(void, tpu_gdma_c_gather_S2L,
            (local_addr_t, system_addr_t, addr_t, bool, scalar_t, const dim4*, int, const dim4*, const dim4*,
             data_type_t))
UNSUPPORTED(void, tpu_gdma_c_gather_L2S,
            (system_addr_t, local_addr_t, addr_t, bool, scalar_t, const dim4*, int, const dim4*, const dim4*,
             data_type_t))
UNSUPPORTED(void, tpu_gdma_c_gather_L2L,
            (local_addr_t, local_addr_t, addr_t, bool, scalar_t, const dim4*, int, const dim4*, const dim4*,
             data_type_t))
UNSUPPORTED(void, tpu_gdma_c_gather_S2S,
            (system_addr_t, system_addr_t, addr_t, bool, scalar_t, const dim4*, int, const dim4*, const dim4*,
             data_type_t))
UNSUPPORTED(void, tpu_gdma_c_scatter_S2L,
            (local_addr_t, system_addr_t, addr_t, bool, const dim4*, int, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_gdma_c_scatter_L2S,
            (system_addr_t, local_addr_t, addr_t, bool, const dim4*, int, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_gdma_c_scatter_L2L,
            (local_addr_t, local_addr_t, addr_t, bool, const dim4*, int, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_gdma_c_scatter_S2S,
            (system_addr_t, system_addr_t, addr_t, bool, const dim4*, int, const dim4*, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_set_cdma_defered_barrier_msg_id, (int))
UNSUPPORTED(void, tpu_cdma_perf_port_poll, (int*, int*, int*, u64*))
UNSUPPORTED(void, tpu_cdma_perf_poll, (int*, int*, int*, u64*))
UNSUPPORTED(int, tpu_cdma_get_used_port_num, (void))
UNSUPPORTED(int*, tpu_cdma_get_used_ports, (void))
UNSUPPORTED(void, tpu_cdma_fake_all_reduce, (int, system_addr_t, int, int, int, int, int, int, int, int, data_type_t))
UNSUPPORTED(void, tpu_cdma_fake_p2p, (int, system_addr_t, int, int, int, int, int, int, int, int, data_type_t))
UNSUPPORTED(int, tpu_cdma_get_port_v2, (int, int, int, int*))
UNSUPPORTED(void, tpu_vsdma_cpy_reduce_S2L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, all_reduce_psum_t,
             all_reduce_opcode_t, int))
UNSUPPORTED(void, tpu_cdma_send_v2, (int, int, system_addr_t, int, int, int, int, int, int, int, int, data_type_t, int))
UNSUPPORTED(void, tpu_cdma_recv_v2,
            (int, int, system_addr_t, int, int, int, int, int, int, int, system_addr_t, int, data_type_t, int))
UNSUPPORTED(void, tpu_cdma_read,
            (int, int, system_addr_t, system_addr_t, unsigned short, unsigned short, unsigned int, unsigned int,
             unsigned int, unsigned int, unsigned int, unsigned short, unsigned short, unsigned int, unsigned int,
             unsigned int, unsigned int, unsigned int, data_type_t, int, int))
UNSUPPORTED(void, tpu_cdma_port_set_base_msg_id, (int, int))
UNSUPPORTED(void, tpu_vsdma_h_scatter_S2S_ext,
            (system_addr_t, system_addr_t, system_addr_t, const dim4*, int, int, int, const dim4*, const dim4*,
             const dim4*, data_type_t, int))
UNSUPPORTED(void, tpu_cdma_gather, (int, system_addr_t, system_addr_t, int, int, data_type_t, int, int))
UNSUPPORTED(void, tpu_cdma_scatter, (int, system_addr_t, system_addr_t, int, int, data_type_t, int, u32, u32, u32, int))
UNSUPPORTED(void, tpu_cdma_remote_msgsend, (int, system_addr_t, int, u32, u32, int))
UNSUPPORTED(void, tpu_set_bd_random_gen_seed, (int))
UNSUPPORTED(void, tpu_bd_rand_seed_gen, (void))
UNSUPPORTED(void, tpu_bdc_random_gen, (local_addr_t, local_addr_t, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_random_gen_load_state,
            (local_addr_t, local_addr_t, local_addr_t, int, const dim4*, data_type_t))
}
