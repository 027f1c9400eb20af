// Which engine acts in a message function.
#pragma once

#include "device/isa/op.hpp"

namespace softtpu {

// tpu_bdc_send_msg: BDC. kControl for functions that are no message functions.
Engine message_engine(Op op);

}  // namespace softtpu
