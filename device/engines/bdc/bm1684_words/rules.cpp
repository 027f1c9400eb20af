// Rules of BM1684's own commands (numerics: bm1684-okkernel.md section 8; golden bm1684/aborts).
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/traits.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"

namespace softtpu {
namespace {

// All of them: a destination, and sources on its lanes, in the order of operands().
template <class Cmd>
void check_lanes(Checks& check, const Cmd& cmd) {
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  for_each_operand(cmd, [&](Access access, const char* name, const Operand& operand) {
    if (access == Access::kRead) check.source(name, operand, cmd.dst);
  });
}

}  // namespace

void rules(Checks& check, const OkkWordCmd& cmd) { check_lanes(check, cmd); }
void rules(Checks& check, const OkkUnaryCmd& cmd) { check_lanes(check, cmd); }
void rules(Checks& check, const OkkTaylorCmd& cmd) { check_lanes(check, cmd); }
void rules(Checks& check, const OkkSelectCmd& cmd) { check_lanes(check, cmd); }
void rules(Checks& check, const OkkMulAddCmd& cmd) { check_lanes(check, cmd); }

}  // namespace softtpu
