// Rules of GDMA copies, fills and matrix moves (numerics: bm1684x-dma-hau-gather.md section 3; golden
// bm1684x/gdma_limits).
#include <fmt/format.h>

#include <climits>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/dma/copy/side_checks.hpp"

namespace softtpu {
namespace {

// Plain copies and those between system memories are cut into pieces by the library, so their extents have no limit
// of their own (golden bm1684x-1.30/gdma_limits/shape/000, which 23.05 refused; numerics: bm1684-okkernel.md section
// 8).
int extent_limit(const Chip& chip, const DmaCopyCmd& cmd) {
  const bool system_only = cmd.dst.space == Space::kSystem && cmd.src.space == Space::kSystem;
  const bool cut = cmd.order == CopyOrder::kNchw && !chip.has(Quirk::kCopyExtents);
  return system_only || cut ? INT_MAX : kMaxExtent;
}

void check_order(Checks& check, const DmaCopyCmd& cmd) {
  const Dim4& dst = cmd.dst.shape;
  const Dim4& src = cmd.src.shape;
  if (cmd.order == CopyOrder::kReshape) {
    check.require(dst.elements() == src.elements(), [&] {
      return fmt::format("dst_shape {} and src_shape {} differ in their number of elements ({} and {})", to_text(dst),
                         to_text(src), dst.elements(), src.elements());
    });
  }
  if (cmd.order == CopyOrder::kNwhc || cmd.order == CopyOrder::kOneChannel) {
    check_unit_w_stride(check, "dst", cmd.dst);
    check_unit_w_stride(check, "src", cmd.src);
  }
  if (cmd.order == CopyOrder::kOneChannel) {
    const int last = check.chip().npu_of(cmd.dst.addr) + dst.c;
    check.require(last <= check.chip().npu_num, [&] {
      return fmt::format("start NPU of dst ({}) + shape.c ({}) is above the number of NPUs ({})",
                         check.chip().npu_of(cmd.dst.addr), dst.c, check.chip().npu_num);
    });
  }
}

}  // namespace

void rules(Checks& check, const DmaCopyCmd& cmd) {
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape, extent_limit(check.chip(), cmd));
  check.shape("source shape", cmd.src.shape, extent_limit(check.chip(), cmd));
  check_order(check, cmd);
  check_side(check, "dst", cmd.dst, Access::kWrite);
  check_side(check, "src", cmd.src, Access::kRead);
}

void rules(Checks& check, const DmaFillCmd& cmd) {
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape, INT_MAX);
  check_side(check, "dst", cmd.dst, Access::kWrite);
}

void rules(Checks& check, const DmaMatrixCmd& cmd) {
  const bool to_local = cmd.dst.space == Space::kLocal;
  const Tensor& system = cmd.system();
  check.type("dst", cmd.dst.dtype);
  check.require(system.stride.n >= 0, [&] { return fmt::format("row stride ({}) is negative", system.stride.n); });
  check.require(to_local || system.shape.n == 1 || system.stride.n >= system.shape.w, [&] {
    return fmt::format("row stride ({}) is below the columns of a row ({}), so rows of dst would overlap",
                       system.stride.n, system.shape.w);
  });
  check.tensor("dst", cmd.dst, NaturalAlignment::kElement).tensor("src", cmd.src, NaturalAlignment::kElement);
}

}  // namespace softtpu
