// SDMA and VSDMA: the copy engines of chips with several cores. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_sdma_mask_select_S2S,
            (global_addr_t, global_addr_t, global_addr_t, const dim4*, data_type_t, data_type_t))
UNSUPPORTED(void, tpu_sdma_nonzero_S2S, (global_addr_t, global_addr_t, const dim4*, data_type_t, unsigned int))
UNSUPPORTED(unsigned int, tpu_sdma_get_filter_num, (void))
UNSUPPORTED(int, tpu_sdma_busy, (void))
UNSUPPORTED(int, tpu_sdma_cmd_overflow, (void))
UNSUPPORTED(void, tpu_vsdma_cpy_cw_trans_S2S,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, int))
UNSUPPORTED(void, tpu_vsdma_reverse_S2S,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, int, data_type_t, int))
UNSUPPORTED(void, tpu_vsdma_mask_select_S2S,
            (global_addr_t, global_addr_t, global_addr_t, const dim4*, data_type_t, data_type_t, int))
UNSUPPORTED(void, tpu_vsdma_nonzero_S2S, (global_addr_t, global_addr_t, const dim4*, data_type_t, unsigned int, int))
UNSUPPORTED(unsigned int, tpu_vsdma_get_filter_num, (int))

}  // extern "C"
