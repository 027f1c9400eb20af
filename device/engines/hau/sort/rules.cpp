// Rules of sorts (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused, gdma_limits/hau).
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/hau/places/place_checks.hpp"
#include "device/engines/hau/sort/command.hpp"

namespace softtpu {

void rules(Checks& check, const HauSortCmd& cmd) {
  check.type("input", cmd.src.dtype);
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "input", cmd.src, kHauWordBytes);
  if (cmd.index != SortIndex::kNone) check_hau_place(check, "output_idx", cmd.dst_index, kHauWordBytes);
  if (cmd.index == SortIndex::kGiven) check_hau_place(check, "input_idx", cmd.src_index, kHauWordBytes);
}

}  // namespace softtpu
