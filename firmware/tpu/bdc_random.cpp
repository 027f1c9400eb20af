// Entry points of BDC's random numbers.
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bd_set_random_gen_seed(u64 seed) { Call(Op::tpu_bd_set_random_gen_seed).core().state().random_seed = seed; }

void tpu_bdc_random_gen_init(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, int jump_cnt,
                             int c_offset, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_random_gen_init);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const std::optional<std::uint64_t>& seed = call.core().state().random_seed;
  call.require(seed.has_value(),
               "no seed is set (tpu_bd_set_random_gen_seed); what the chip begins with is not recorded.");
  // The states of 64 bits, two for each eight bytes of a row of execution units.
  const Dim4 states{1, dim.c, 1, 2 * call.chip().eu_bytes / size_of(Dtype::kUint32)};
  call.issue(RandomCmd{call.local(res_addr, dim, type), call.local(store_state_addr, states, Dtype::kUint32),
                       seed.value_or(0), jump_cnt, c_offset, need_store_state != 0});
}
}
