// Rules of conversions (numerics: bm1684x-elementwise.md sections 5 and 8).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/engines/bdc/convert/command.hpp"

namespace softtpu {
namespace {

constexpr TypeSet kQuantised = kInts8 | kInts16;                  // the narrow side of (de)quantisation
constexpr TypeSet kAccumulated = kInts16 | types(Dtype::kInt32);  // the wide side

}  // namespace

void rules(Checks& check, const CastCmd& cmd) {
  const Dtype from = cmd.src.dtype;
  const Dtype to = cmd.dst.dtype;
  check.type_in("src", from, kAnyTypes).target(cmd.dst).source("src", cmd.src, cmd.dst);
  const bool halves = contains(kHalves, from) && contains(kHalves, to) && from != to;
  check.require(!halves,
                [&] { return fmt::format("{} to {} is not a conversion of the chip", to_text(from), to_text(to)); });
  if (is_float(from) && is_integer(to)) check.integral_rounding("rounding mode", cmd.rounding);
  if (is_float(to) && check.chip().has(Quirk::kNoHalfTies)) {
    check.require(cmd.rounding != Rounding::kHalfUp && cmd.rounding != Rounding::kHalfDown, [&] {
      return fmt::format("rounding mode {} does not round to floats on the chip", to_text(cmd.rounding));
    });
  }
}

void rules(Checks& check, const FloatQuantCmd& cmd) {
  check.target(cmd.dst);
  check.type_in("src", cmd.src.dtype, cmd.direction == Quant::kRequant ? kAccumulated : kQuantised);
  check.source("src", cmd.src, cmd.dst).source("scale", cmd.scale, cmd.dst).source("offset", cmd.offset, cmd.dst);
  if (cmd.direction == Quant::kRequant) check.integral_rounding("dst rounding mode", cmd.to_int);
  if (!submits_instructions() && check.chip().has(Quirk::kNoHalfTiesOfIntegers))
    check.integral_rounding("rounding mode", cmd.to_float);
}

}  // namespace softtpu
