// Rules of box suppression (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused,
// gdma_limits/hau).
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/hau/nms/command.hpp"
#include "device/engines/hau/places/place_checks.hpp"

namespace softtpu {
Violation violation(const Memories& mem, Op op, const HauHardNmsCmd& cmd) {
  Checks check(mem, op);
  check.limits(cmd);
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "input", cmd.mask, 1);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const HauSoftNmsCmd& cmd) {
  Checks check(mem, op);
  check.limits(cmd);
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "iou", cmd.coeff, kHauWordBytes);
  check_hau_place(check, "score", cmd.score, kHauWordBytes);
  return check.violation();
}

}  // namespace softtpu
