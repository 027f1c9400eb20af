// Bodies of functions that the running chip lacks, or that nothing determines. Their definitions stand after the public
// header, so that a drift of a signature does not compile.
#pragma once

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {

// "tpu_sdma_cpy_S2S: BM1684X has no SDMA engine." ends the launch's commands.
void refuse(Op op);

template <class R>
R unsupported(Op op) {
  refuse(op);
  return R();
}

}  // namespace softtpu

#define UNSUPPORTED(result, name, parameters) \
  result name parameters { return softtpu::unsupported<result>(softtpu::Op::name); }
