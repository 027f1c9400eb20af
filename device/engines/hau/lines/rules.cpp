// Rules of line gathers (numerics: bm1684x-dma-hau-gather.md section 4; golden bm1684x/hau/refused,
// gdma_limits/hau).
#include <fmt/format.h>

#include <cstdint>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/hau/lines/command.hpp"
#include "device/engines/hau/places/place_checks.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kLineAlignment = 64;

// The bits above an element of the type are all 0 or all 1.
void check_constant(Checks& check, const Scalar& constant, Dtype type) {
  const int bits = size_of(type) * 8;
  if (bits >= 32) return;
  const std::uint32_t upper = constant.bits >> bits;
  check.require(upper == 0 || upper == ~0U >> bits,
                [&] { return fmt::format("C (0x{:x}) does not fit into {}", constant.bits, to_text(type)); });
}

}  // namespace

void rules(Checks& check, const HauLineGatherCmd& cmd) {
  check.type("output", cmd.dst.dtype);
  check_constant(check, cmd.constant, cmd.dst.dtype);
  check_hau_place(check, "output", cmd.dst, kLineAlignment);
  check_hau_place(check, "param", cmd.param, kLineAlignment);
  check_hau_place(check, "index", cmd.index, kLineAlignment);
}

}  // namespace softtpu
