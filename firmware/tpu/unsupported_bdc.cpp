// BDC functions of other chips. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_bdc_fp_depthwise2d_with_scale,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim2*,
             const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, data_type_t, data_type_t, float,
             bool, bool, bool, bool))
UNSUPPORTED(void, tpu_bdc_fp_conv_bw,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim2*,
             const padding_t*, const dim2*, const dim2*, data_type_t, data_type_t, bool))
UNSUPPORTED(void, tpu_bdc_srch_bin_select,
            (local_addr_t, const variable_t*, const variable_t*, const dim4*, int, int, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_bdc_f16_group_dequant,
            (local_addr_t, local_addr_t, local_addr_t, const dim4*, data_type_t, data_type_t, int))
UNSUPPORTED(void, tpu_bdc_fp_conv2d_backward,
            (local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim2*, const dim2*,
             const padding_t*, const dim2*, const dim2*, const dim4*, int, int, int, data_type_t, data_type_t))

}  // extern "C"
