// Which engine acts in a message function, or is waited for by a poll.
#pragma once

#include "device/isa/op.hpp"

namespace softtpu {

// tpu_bdc_send_msg: BDC. kControl for functions that are no message functions.
Engine message_engine(Op op);
// tpu_sdma_poll: SDMA. kControl for functions that wait for several engines, or for none.
Engine polled_engine(Op op);

}  // namespace softtpu
