// Rules of vector by vector commands (numerics: bm1684x-dma-hau-gather.md section 6).
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/outer/command.hpp"

namespace softtpu {

void rules(Checks& check, const OuterCmd& cmd) {
  check.type_in("src0", cmd.src0.dtype, kAllTypes).lane_tensor("src0", cmd.src0);
  if (check.violation()) return;
  std::visit(
      [&](auto rule) {
        rule.a = Scalar{0, cmd.src0.dtype};
        rules(check, rule);
      },
      cmd.rule);
}

}  // namespace softtpu
