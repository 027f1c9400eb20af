// Entry points of GDMA tensor copies.
#include "firmware/call.hpp"
#include "tpu_kernel.h"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define COPY_BODY(name, dst_space, src_space)                                                  \
  const Call call(Op::name);                                                                   \
  const Dim4 dim = call.dim("shape", shape);                                                   \
  const Dtype type = call.dtype("dtype", dtype);                                               \
  call.issue(DmaCopyCmd{CopyOrder::kNchw, call.in(dst_space, dst_addr, dim, dst_stride, type), \
                        call.in(src_space, src_addr, dim, src_stride, type)});

void tpu_gdma_cpy_S2L(local_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype) {
  COPY_BODY(tpu_gdma_cpy_S2L, Space::kLocal, Space::kSystem)
}
void tpu_gdma_cpy_L2S(system_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype) {
  COPY_BODY(tpu_gdma_cpy_L2S, Space::kSystem, Space::kLocal)
}
void tpu_gdma_cpy_L2L(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype) {
  COPY_BODY(tpu_gdma_cpy_L2L, Space::kLocal, Space::kLocal)
}
void tpu_gdma_cpy_S2S(system_addr_t dst_addr, system_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype) {
  COPY_BODY(tpu_gdma_cpy_S2S, Space::kSystem, Space::kSystem)
}
}
