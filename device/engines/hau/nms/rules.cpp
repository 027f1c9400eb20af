// Rules of box suppression (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused,
// gdma_limits/hau).
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/hau/nms/command.hpp"
#include "device/engines/hau/places/place_checks.hpp"

namespace softtpu {

void rules(Checks& check, const HauHardNmsCmd& cmd) {
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "input", cmd.mask, 1);
}

void rules(Checks& check, const HauSoftNmsCmd& cmd) {
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "iou", cmd.coeff, kHauWordBytes);
  check_hau_place(check, "score", cmd.score, kHauWordBytes);
}

}  // namespace softtpu
