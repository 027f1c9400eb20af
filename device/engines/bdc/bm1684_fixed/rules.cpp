// Rules of BM1684's fixed-point commands (numerics: bm1684-okkernel.md sections 5 and 8; golden bm1684/aborts).
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_fixed/command.hpp"

namespace softtpu {
namespace {

// Signed results come from signed sources, and from every subtraction.
void check_signs(Checks& check, const OkkFixedCmd& cmd) {
  const bool wants_signed = cmd.mode == OkkFixedMode::kSub || is_signed_int(cmd.a_type) || is_signed_int(cmd.b_type);
  check.require(is_signed_int(cmd.dst_type) == wants_signed, [&] {
    return fmt::format("op_type gives {} from {} and {}; the result must be {}", to_text(cmd.dst_type),
                       to_text(cmd.a_type), to_text(cmd.b_type), wants_signed ? "signed" : "unsigned");
  });
}

void check_op_type(Checks& check, const OkkFixedCmd& cmd) {
  const bool narrow = size_of(cmd.a_type) == 1;
  switch (cmd.mode) {
    case OkkFixedMode::kAdd:
    case OkkFixedMode::kSub: return check_signs(check, cmd);
    case OkkFixedMode::kMac:
      check.require(size_of(cmd.dst_type) == 2,
                    [&] { return fmt::format("op_type gives {}; mac gives 16 bits", to_text(cmd.dst_type)); });
      [[fallthrough]];
    case OkkFixedMode::kMul:
      check.require(narrow, [&] { return fmt::format("op_type multiplies {}; only 8 bits do", to_text(cmd.a_type)); });
      return check_signs(check, cmd);
    case OkkFixedMode::kMax:
    case OkkFixedMode::kMin:
      check.require(cmd.a_type == cmd.b_type && cmd.dst_type == cmd.a_type, [&] {
        return fmt::format("op_type gives {} from {} and {}; all three must be the same", to_text(cmd.dst_type),
                           to_text(cmd.a_type), to_text(cmd.b_type));
      });
      return;
    case OkkFixedMode::kShiftArithmetic:
    case OkkFixedMode::kShiftLogical:
    case OkkFixedMode::kHighByte:
    case OkkFixedMode::kLowByte:
    case OkkFixedMode::kMulHalves:
    case OkkFixedMode::kMulMagnitude: return;  // the function fixes the types
  }
}

}  // namespace

void rules(Checks& check, const OkkFixedCmd& cmd) {
  check_op_type(check, cmd);
  check.shape("shape in words", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source(cmd.mode == OkkFixedMode::kMulHalves ? "src0_high" : "src0", cmd.a, cmd.dst);
  check.source("src1", cmd.b, cmd.dst);
  check.source("src0_low", cmd.low, cmd.dst);
}

void rules(Checks& check, const OkkWidenCmd& cmd) {
  check.shape("shape", cmd.dst.shape).tensor("dst", cmd.dst);
  check.source("src", cmd.src, cmd.dst);
}

}  // namespace softtpu
