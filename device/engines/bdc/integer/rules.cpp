// Rules of integer BDC commands (numerics: bm1684x-elementwise.md sections 4 and 8).
#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/command/packing.hpp"
#include "device/engines/bdc/integer/command.hpp"

namespace softtpu {
namespace {

constexpr TypeSet kQuantised = kInts8 | kInts16;                  // the narrow side of (de)quantisation
constexpr TypeSet kAccumulated = kInts16 | types(Dtype::kInt32);  // the wide side

void check_sign(Checks& check, const char* name, Dtype type, bool is_signed, const char* reason) {
  check.require(is_signed_int(type) == is_signed, [&] {
    return fmt::format("{} type ({}) has to be {} {}", name, to_text(type), is_signed ? "signed" : "unsigned", reason);
  });
}

// Chips whose sums, differences and products take 4-bit integers ("parts" of descriptions).
constexpr const char* kNibbleArithmetic = "4-bit integers in arithmetic";

Dtype nibble_of(Dtype packed) { return is_signed_int(packed) ? Dtype::kInt4 : Dtype::kUint4; }

TypeSet int_operands(const Checks& check, const Packing& packing) {
  const bool takes = packing.any() && check.chip().has_part(kNibbleArithmetic);
  return kInts | (takes ? types(Dtype::kInt4, Dtype::kUint4) : kNoTypes);
}

// The recordings have nearest even with overflow, and ties away from zero with saturation.
void float_product(Checks& check, const IntArithCmd& cmd) {
  const Dtype a = type_of(cmd.a), b = type_of(cmd.b), to = cmd.dst.dtype;
  check.type_in("dst", to, info(check.op()).types);
  if (packing_of(cmd.rounding).first) {
    check.type_in("src1", b, kHalves);
    check.require(to == Dtype::kFp32 || to == b, [&] {
      return fmt::format("dst type ({}) has to be fp32 or that of src1 ({})", to_text(to), to_text(b));
    });
  } else {
    check.type_in("src0", a, kFloats).type_in("src1", b, kFloats);
    check.require(a == b, [&] { return fmt::format("the sources have two types, {} and {}", to_text(a), to_text(b)); });
    const Rounding determined = cmd.saturate ? Rounding::kHalfAwayFromZero : Rounding::kHalfToEven;
    check.require(cmd.rounding == determined, [&] {
      return fmt::format("rounding mode {} {} saturation is not determined; {} is", to_text(cmd.rounding),
                         cmd.saturate ? "with" : "without", to_text(determined));
    });
  }
  check.target(cmd.dst).source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst);
  if (size_of(to) != size_of(a)) check.apart("src0", cmd.a, cmd.dst);
  if (size_of(to) != size_of(b)) check.apart("src1", cmd.b, cmd.dst);
}

}  // namespace

void rules(Checks& check, const IntArithCmd& cmd) {
  const bool takes_floats = contains(info(check.op()).types, Dtype::kFp32);
  if (takes_floats && is_float(type_of(cmd.b))) return float_product(check, cmd);
  const Dtype a = type_of(cmd.a);
  const Dtype b = type_of(cmd.b);
  const Packing packing = packing_of(cmd.rounding);
  check.type_in("dst", packing.dst ? nibble_of(cmd.dst.dtype) : cmd.dst.dtype, info(check.op()).types);
  check.type_in("src0", packing.first ? nibble_of(a) : a, int_operands(check, packing));
  check.type_in("src1", packing.second ? nibble_of(b) : b, int_operands(check, packing));
  check.target(cmd.dst, "dst", std::holds_alternative<Scalar>(cmd.shift));
  check.source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst).source("shift", cmd.shift, cmd.dst);
  if (packing.any()) check.apart("src0", cmd.a, cmd.dst).apart("src1", cmd.b, cmd.dst);
  if (cmd.mode == IntMode::kSub) {
    check_sign(check, "dst", cmd.dst.dtype, true, "for a difference");
  } else {
    const bool is_signed = is_signed_int(a) || is_signed_int(b);
    check_sign(check, "dst", cmd.dst.dtype, is_signed,
               is_signed ? "because a source is signed" : "because both sources are unsigned");
  }
}

void rules(Checks& check, const ShiftCmd& cmd) {
  check.target(cmd.dst).type_in("src", cmd.src.dtype, kInts).source("src", cmd.src, cmd.dst);
  check_sign(check, "src", cmd.src.dtype, is_signed_int(cmd.dst.dtype), "as dst");
  const Dtype shift = type_of(cmd.shift);
  const bool bytes = check.chip().has(Quirk::kByteShifts) && std::holds_alternative<Tensor>(cmd.shift);
  check.type_in("shift", shift, bytes ? types(Dtype::kInt8) : types(Dtype::kInt8, Dtype::kInt16, Dtype::kInt32));
  check.require(size_of(shift) <= size_of(cmd.src.dtype), [&] {
    return fmt::format("shift type ({}) is wider than src type ({})", to_text(shift), to_text(cmd.src.dtype));
  });
  check.source("shift", cmd.shift, cmd.dst);
}

void rules(Checks& check, const IntQuantCmd& cmd) {
  const bool bytes = cmd.direction == Quant::kDequant && check.chip().has(Quirk::kByteDequant);
  check.type_in("dst", cmd.dst.dtype, info(check.op()).types | (bytes ? kInts8 : kNoTypes));
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.type_in("src", cmd.src.dtype, cmd.direction == Quant::kRequant ? kAccumulated : kQuantised);
  check.source("src", cmd.src, cmd.dst)
      .source("multiplier", cmd.multiplier, cmd.dst)
      .source("offset", cmd.offset, cmd.dst)
      .source("shift", cmd.shift, cmd.dst);
}

}  // namespace softtpu
