// Rules of BM1684's own commands (numerics: bm1684-okkernel.md section 8; golden bm1684/aborts).
#include <utility>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/traits.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"
#include "device/memory/static_tables.hpp"

namespace softtpu {
namespace {

// All of them: a destination, and sources on its lanes, in the order of operands().
template <class Cmd>
Violation violation_of(Checks check, const Cmd& cmd) {
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  for_each_operand(cmd, [&](Access access, const char* name, const Operand& operand) {
    if (access == Access::kRead) check.source(name, operand, cmd.dst);
  });
  return check.violation();
}

}  // namespace

Violation violation(const Memories& mem, Op op, const OkkWordCmd& cmd) { return violation_of({mem, op}, cmd); }
Violation violation(const Memories& mem, Op op, const OkkUnaryCmd& cmd) { return violation_of({mem, op}, cmd); }
Violation violation(const Memories& mem, Op op, const OkkSelectCmd& cmd) { return violation_of({mem, op}, cmd); }
Violation violation(const Memories& mem, Op op, const OkkMulAddCmd& cmd) { return violation_of({mem, op}, cmd); }

Violation violation(const Memories& mem, Op op, const OkkTaylorCmd& cmd) {
  Checks check(mem, op);
  check.in_range("number of series terms", cmd.terms, 1, okk_static_offset::kMaxSeries);
  return violation_of(std::move(check), cmd);
}

}  // namespace softtpu
