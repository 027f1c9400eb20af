// Functions that the running chip lacks, or of which nothing determines what they do: one body for each row. Each call
// is a fault.
//
// A body reads no argument and never returns. So one type serves all of them. Callers see the prototypes of
// tpu_kernel.h.
#include <fmt/format.h>

#include <cstdint>

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

// "tpu_cdma_send: BM1684X has no CDMA engine."
Core& fail(Op op) {
  const Call call(op);
  const OpInfo& row = info(op);
  const std::string chip = to_upper(call.chip().name);
  const std::string what = row.support == Support::kUndetermined
                               ? fmt::format("its {} on {} is neither recorded nor described", row.note, chip)
                               : fmt::format("{} has no {}", chip, row.note);
  call.core().fault(ErrorKind::kUnsupported, Refusal{.op = op, .wrong = {.what = what}});
  return call.core();
}

// The launch ends here: a kernel that divides by a result of 0 would end for a reason that is none.
std::uint64_t refuse(Op op) { fail(op).end_launch(); }

}  // namespace
}  // namespace softtpu

extern "C" {
#define OP(family, name, ...) OP_##family(name)
// Those of a part have their own bodies.
#define OP_with(name)
#define OP_unsupported(name)                                   \
  __attribute__((visibility("default"))) std::uint64_t name(); \
  std::uint64_t name() { return softtpu::refuse(softtpu::Op::name); }
#define OP_undetermined(name) OP_unsupported(name)
#include "device/isa/ops/undetermined.def"
#include "device/isa/ops/unsupported.def"
#undef OP
}
