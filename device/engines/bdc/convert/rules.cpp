// Rules of conversions (numerics: bm1684x-elementwise.md sections 5 and 8).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/command/packing.hpp"
#include "device/engines/bdc/convert/command.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu {
namespace {

constexpr TypeSet kQuantised = kInts8 | kInts16;                  // the narrow side of (de)quantisation
constexpr TypeSet kAccumulated = kInts16 | types(Dtype::kInt32);  // the wide side

// What only some chips do with 4-bit integers ("parts" of descriptions).
constexpr const char* kNibblesToFloats = "4-bit integers to floats";
constexpr const char* kNibblePacking = "4-bit results of conversions";

void no_half_ties(Checks& check, Dtype to, Rounding mode) {
  if (!is_float(to) || !check.chip().has(Quirk::kNoHalfTies)) return;
  check.require(mode != Rounding::kHalfUp && mode != Rounding::kHalfDown,
                [&] { return fmt::format("rounding mode {} does not round to floats on the chip", to_text(mode)); });
}

// The type that the elements of a packed operand have.
Dtype nibble_of(const Tensor& packed) { return is_signed_int(packed.dtype) ? Dtype::kInt4 : Dtype::kUint4; }

void packed_cast(Checks& check, const CastCmd& cmd, const Packing& packing) {
  const Chip& chip = check.chip();
  const TypeSet nibbles = chip.extra_types & types(Dtype::kInt4, Dtype::kUint4);
  const Dtype to = packing.dst ? nibble_of(cmd.dst) : cmd.dst.dtype;
  const Dtype from = packing.first ? nibble_of(cmd.src) : cmd.src.dtype;
  if (packing.dst) {
    check.type_in("dst", to, kInts | (chip.has_part(kNibblePacking) ? nibbles : kNoTypes)).type_in("src", from, kInts);
  } else {
    const bool in_groups = check.op() == Op::tpu_bdc_f16_group_dequant;
    check.type_in("src", from, kAnyTypes | nibbles | (in_groups ? types(Dtype::kUint4) : kNoTypes));
    const bool to_floats = in_groups || chip.has_part(kNibblesToFloats);
    check.type_in("dst", to, kInts | (to_floats ? kFloats : kNoTypes));
  }
  check.shape("shape", packing.dst ? cmd.src.shape : cmd.dst.shape).lane_tensor("dst", cmd.dst);
  if (!packing.dst) check.advances("dst", cmd.dst);
  check.source("src", cmd.src, cmd.dst).apart("src", cmd.src, cmd.dst);
  no_half_ties(check, to, mode_of(cmd.rounding));
}

}  // namespace

void rules(Checks& check, const CastCmd& cmd) {
  if (const Packing packing = packing_of(cmd.rounding); packing.any()) return packed_cast(check, cmd, packing);
  const Dtype from = cmd.src.dtype;
  const Dtype to = cmd.dst.dtype;
  check.type_in("src", from, kAnyTypes).target(cmd.dst).source("src", cmd.src, cmd.dst);
  const bool halves = contains(kHalves, from) && contains(kHalves, to) && from != to;
  check.require(!halves,
                [&] { return fmt::format("{} to {} is not a conversion of the chip", to_text(from), to_text(to)); });
  if (is_float(from) && is_integer(to)) check.integral_rounding("rounding mode", cmd.rounding);
  no_half_ties(check, to, cmd.rounding);
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
