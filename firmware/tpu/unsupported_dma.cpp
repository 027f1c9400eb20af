// GDMA functions of other chips. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_gdma_random_mask_init_seed_S2L,
            (system_addr_t, local_addr_t, const dim4*, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_gdma_random_mask_S2L,
            (system_addr_t, local_addr_t, const dim4*, int, const dim4*, int, data_type_t))
UNSUPPORTED(void, tpu_gdma_random_mask_set_seed, (const int))

}  // extern "C"
