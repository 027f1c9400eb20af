// CDMA and groups of chips: copies and messages between chips. Each call is a fault.
#include "firmware/tpu/unsupported.hpp"

extern "C" {

UNSUPPORTED(void, tpu_cdma_port_initialize, (int))
UNSUPPORTED(void, tpu_cdma_port_poll, (int))
UNSUPPORTED(int, tpu_cdma_get_port, (int, int, int))
UNSUPPORTED(void, tpu_cdma_send, (int, int, system_addr_t, int, int, int, int, int, int, int, int, data_type_t))
UNSUPPORTED(void, tpu_cdma_lossy_compress,
            (int, int, system_addr_t, unsigned short, unsigned short, unsigned int, unsigned int, unsigned int,
             unsigned int, unsigned int, int))
UNSUPPORTED(void, tpu_cdma_lossy_decompress,
            (int, int, system_addr_t, unsigned short, unsigned short, unsigned int, unsigned int, unsigned int,
             unsigned int, unsigned int, int))
UNSUPPORTED(void, tpu_cdma_recv,
            (int, int, system_addr_t, int, int, int, int, int, int, int, system_addr_t, int, data_type_t))
UNSUPPORTED(void, tpu_cdma_write,
            (int, int, system_addr_t, system_addr_t, unsigned short, unsigned short, unsigned int, unsigned int,
             unsigned int, unsigned int, unsigned int, unsigned short, unsigned short, unsigned int, unsigned int,
             unsigned int, unsigned int, unsigned int, int, int, data_type_t, int, int))
UNSUPPORTED(void, tpu_cdma_send_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_wait_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_tx_send_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_tx_wait_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_rx_send_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_rx_wait_msg, (int, int, int))
UNSUPPORTED(void, tpu_cdma_nop_sync, (int))
UNSUPPORTED(void, tpu_cdma_tx_rx_debug, (int))
UNSUPPORTED(int, tpu_rank, (void))
UNSUPPORTED(int*, tpu_chip_map, (void))
UNSUPPORTED(void, tpu_sccl_init, (int, int, int*))
UNSUPPORTED(int, tpu_get_ccl_msg_id, (void))

}  // extern "C"
