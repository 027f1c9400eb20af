// Rules of sorts (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused, gdma_limits/hau).
#include <cstdint>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/hau/places/place_checks.hpp"
#include "device/engines/hau/sort/command.hpp"

namespace softtpu {

Violation violation(const Memories& mem, Op op, const HauSortCmd& cmd) {
  Checks check(mem, op);
  const int length = cmd.src.shape.w;
  check.type("input", cmd.src.dtype).in_range("len", length, 1, INT32_MAX).in_range("K", cmd.dst.shape.w, 1, length);
  check_hau_place(check, "output", cmd.dst, kHauWordBytes);
  check_hau_place(check, "input", cmd.src, kHauWordBytes);
  if (cmd.index != SortIndex::kNone) check_hau_place(check, "output_idx", cmd.dst_index, kHauWordBytes);
  if (cmd.index == SortIndex::kGiven) check_hau_place(check, "input_idx", cmd.src_index, kHauWordBytes);
  return check.violation();
}

}  // namespace softtpu
