// Rules of integer BDC commands (numerics: bm1684x-elementwise.md sections 4 and 8).
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/integer/command.hpp"

namespace softtpu {
namespace {

constexpr TypeSet kQuantised = kInts8 | kInts16;                  // the narrow side of (de)quantisation
constexpr TypeSet kAccumulated = kInts16 | types(Dtype::kInt32);  // the wide side
constexpr int kMinShift = -32, kMaxShift = 31, kMaxConstantShift = 32, kMinQuantShift = -64;

void check_shift(Checks& check, const Operand& shift, const Tensor& dst, int low, int high) {
  check.source("shift", shift, dst);
  if (const auto* constant = std::get_if<Scalar>(&shift))
    check.in_range("shift", static_cast<std::int8_t>(constant->bits), low, high);
}

void check_sign(Checks& check, const char* name, Dtype type, bool is_signed, const char* reason) {
  check.require(is_signed_int(type) == is_signed, [&] {
    return fmt::format("{} type ({}) has to be {} {}", name, to_text(type), is_signed ? "signed" : "unsigned", reason);
  });
}

}  // namespace

Violation violation(const Memories& mem, Op op, const IntArithCmd& cmd) {
  Checks check(mem, op);
  const Dtype a = type_of(cmd.a);
  const Dtype b = type_of(cmd.b);
  check.type("dst", cmd.dst.dtype).type_in("src0", a, kInts).type_in("src1", b, kInts);
  check.target(cmd.dst).source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst);
  check_shift(check, cmd.shift, cmd.dst, kMinShift, kMaxShift);
  if (cmd.mode == IntMode::kSub) {
    check_sign(check, "dst", cmd.dst.dtype, true, "for a difference");
  } else {
    const bool is_signed = is_signed_int(a) || is_signed_int(b);
    check_sign(check, "dst", cmd.dst.dtype, is_signed,
               is_signed ? "because a source is signed" : "because both sources are unsigned");
  }
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const ShiftCmd& cmd) {
  Checks check(mem, op);
  check.target(cmd.dst).type_in("src", cmd.src.dtype, kInts).source("src", cmd.src, cmd.dst);
  check_sign(check, "src", cmd.src.dtype, is_signed_int(cmd.dst.dtype), "as dst");
  const Dtype shift = type_of(cmd.shift);
  check.type_in("shift", shift, types(Dtype::kInt8, Dtype::kInt16, Dtype::kInt32));
  check.require(size_of(shift) <= size_of(cmd.src.dtype), [&] {
    return fmt::format("shift type ({}) is wider than src type ({})", to_text(shift), to_text(cmd.src.dtype));
  });
  // Recorded for every width: constants beyond the width are taken, and shift everything out.
  check_shift(check, cmd.shift, cmd.dst, kMinShift, kMaxConstantShift);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const IntQuantCmd& cmd) {
  Checks check(mem, op);
  check.target(cmd.dst);
  check.type_in("src", cmd.src.dtype, cmd.direction == Quant::kRequant ? kAccumulated : kQuantised);
  check.source("src", cmd.src, cmd.dst)
      .source("multiplier", cmd.multiplier, cmd.dst)
      .source("offset", cmd.offset, cmd.dst);
  check_shift(check, cmd.shift, cmd.dst, kMinQuantShift, kMaxShift);
  return check.violation();
}

}  // namespace softtpu
