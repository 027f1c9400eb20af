// Rules of GDMA commands (numerics: bm1684x-dma-hau-gather.md section 3; golden bm1684x/gdma_limits).
#include <fmt/format.h>

#include "device/core/checks.hpp"
#include "device/core/commands.hpp"

namespace softtpu {
namespace {

constexpr std::int64_t kMaxWStrideBytes = 128;

void check_side(Checks& check, const char* name, const Tensor& side) {
  check.tensor(name, side, NaturalAlignment::kElement);
  const std::int64_t bytes = side.stride.w * size_of(side.dtype);
  check.require(side.stride.w >= 1 && bytes <= kMaxWStrideBytes, [&] {
    return fmt::format("{} w stride ({} elements, {} bytes) is outside 1 element..{} bytes", name, side.stride.w, bytes,
                       kMaxWStrideBytes);
  });
}

}  // namespace

Violation violation(const Memories& mem, Op op, const DmaCopyCmd& cmd) {
  Checks check(mem, op);
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape);
  check_side(check, "dst", cmd.dst);
  check_side(check, "src", cmd.src);
  return check.violation();
}

}  // namespace softtpu
