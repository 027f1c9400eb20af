// Instructions of BM1684.
#include "device/stream/operands.hpp"

namespace softtpu::stream {

Issued okk_tiu(const Operands& in) { in.refuse_function(); }
Issued okk_dma(const Operands& in) { in.refuse_function(); }

}  // namespace softtpu::stream
