// BDC functions of other chips. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_bdc_fp8_mm_with_bias,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t,
             data_type_t, bool, bool, var_context_t, bool, bool, bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_mm_R_trans_with_bias,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t,
             data_type_t, bool, bool, var_context_t, bool, bool, bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_mm_all_trans_with_bias,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t,
             data_type_t, bool, bool, var_context_t, bool, bool, bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_mm,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t, bool, bool,
             bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_mm_R_trans,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t, bool, bool,
             bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_mm_all_trans,
            (local_addr_t, local_addr_t, local_addr_t, int, int, int, data_type_t, data_type_t, data_type_t, bool, bool,
             bool, var_context_t))
UNSUPPORTED(void, tpu_bdc_fp8_avg_pool2d,
            (local_addr_t, local_addr_t, const dim4*, const dim2*, const padding_t*, const dim2*, const dim2*,
             data_type_t, data_type_t, scalar_t, float))
UNSUPPORTED(void, tpu_bdc_fp8_add_C,
            (local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t, data_type_t,
             data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fp8_C_sub,
            (local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t, data_type_t,
             data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fp8_mul_C,
            (local_addr_t, local_addr_t, scalar_t, const dim4*, const dim4*, const dim4*, data_type_t, data_type_t,
             data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_with_rescale,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int,
             const dim2*, const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, data_type_t,
             data_type_t, bool, bool, bool, bool, bool))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_rescale_C,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int, const dim2*,
             const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, data_type_t, data_type_t, float,
             bool, bool, bool))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_rescale_pc,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, int,
             const dim2*, const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, data_type_t,
             data_type_t, bool, bool, bool))
UNSUPPORTED(void, tpu_bdc_fp_depthwise2d_with_scale,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim2*,
             const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, data_type_t, data_type_t, float,
             bool, bool, bool, bool))
UNSUPPORTED(void, tpu_bdc_fp_conv_bw,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim2*,
             const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, bool))
UNSUPPORTED(void, tpu_set_bd_random_gen_seed, (int))
UNSUPPORTED(void, tpu_bd_rand_seed_gen, (void))
UNSUPPORTED(void, tpu_bdc_random_gen_init, (local_addr_t, local_addr_t, int, int, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_random_gen, (local_addr_t, local_addr_t, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_random_gen_load_state,
            (local_addr_t, local_addr_t, local_addr_t, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_bdc_srch_bin_select,
            (local_addr_t, const variable_t*, const variable_t*, const dim4*, int, int, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_f16_group_dequant,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t, data_type_t, int))
UNSUPPORTED(void, tpu_bdc_end, (void))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_backward,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim2*, const dim2*,
             const padding_t*, const dim2*, const dim2*, const dim4*, int, int, int, data_type_t, data_type_t))

}  // extern "C"
