// GDMA functions of other chips. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_gdma_lossy_compress_L2S, (system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*))
UNSUPPORTED(void, tpu_gdma_lossy_compress_S2S, (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*))
UNSUPPORTED(void, tpu_gdma_lossy_decompress_S2L, (local_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*))
UNSUPPORTED(void, tpu_gdma_lossy_decompress_S2S, (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*))
UNSUPPORTED(void, tpu_gdma_lossy_compress_reduce_S2L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, int, int))
UNSUPPORTED(void, tpu_gdma_lossy_compress_reduce_L12L2,
            (system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, int, int))
UNSUPPORTED(void, tpu_gdma_lossy_compress_reduce_L22L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, int, int))
UNSUPPORTED(void, tpu_gdma_lossy_decompress_reduce_S2L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, int, int))
UNSUPPORTED(void, tpu_gdma_lossy_decompress_reduce_L22L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, int, int))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_L12L2,
            (system_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, int, int))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_S2L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, int, int))
UNSUPPORTED(void, tpu_gdma_cpy_reduce_L22L2,
            (system_addr_t, system_addr_t, const dim4*, const dim4*, const dim4*, data_type_t, int, int))
UNSUPPORTED(void, tpu_gdma_random_mask_init_seed_S2L,
            (system_addr_t, local_addr_t, const dim4*, int, const dim4*, data_type_t))
UNSUPPORTED(void, tpu_gdma_random_mask_S2L,
            (system_addr_t, local_addr_t, const dim4*, int, const dim4*, int, data_type_t))
UNSUPPORTED(void, tpu_gdma_random_mask_set_seed, (const int))

}  // extern "C"
