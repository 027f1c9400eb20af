// Rules of element-wise BDC commands of one data type (numerics: bm1684x-elementwise.md section 8; golden
// bm1684x/limits).
#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/elementwise/command.hpp"

namespace softtpu {
namespace {

void check_unary_type(Checks& check, const UnaryCmd& cmd) {
  const bool signs = cmd.mode == UnaryMode::kNeg || cmd.mode == UnaryMode::kSign;
  const bool any = signs && check.chip().has(Quirk::kUnsignedSigns);
  check.type_in("dst", cmd.dst.dtype, info(check.op()).types | (any ? kUnsignedInts : kNoTypes));
}

}  // namespace

void rules(Checks& check, const ArithCmd& cmd) {
  check.target(cmd.dst, "dst", true);
  check.source(cmd.name_of_a(), cmd.a, cmd.dst).source(cmd.name_of_b(), cmd.b, cmd.dst);
}

void rules(Checks& check, const MixedArithCmd& cmd) {
  check.type_in("src", cmd.src.dtype, kFp8s).type_in("C", cmd.constant.dtype, kFp8s);
  check.target(cmd.dst).source("src", cmd.src, cmd.dst);
}

void rules(Checks& check, const UnaryCmd& cmd) {
  check_unary_type(check, cmd);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst).advances("dst", cmd.dst, cmd.mode == UnaryMode::kNeg);
  check.source("src", cmd.src, cmd.dst);
  if (cmd.mode == UnaryMode::kRound) check.integral_rounding("rounding mode", cmd.rounding);
  // Several steps on the chip, the last of which reads src again (golden bm1684x-varied/v_inplace/sign).
  if (cmd.mode == UnaryMode::kSign) check.apart("src", cmd.src, cmd.dst);
}

void rules(Checks& check, const ScaleBiasCmd& cmd) {
  check.target(cmd.dst)
      .source("src", cmd.src, cmd.dst)
      .source("scale", cmd.scale, cmd.dst)
      .source("bias", cmd.bias, cmd.dst);
}

void rules(Checks& check, const MacCmd& cmd) {
  check.target(cmd.dst);
  const TypeSet sources = is_float(cmd.dst.dtype) ? kFp32Only : kInts8;
  check.type_in("src0", type_of(cmd.a), sources).type_in("src1", type_of(cmd.b), sources);
  check.source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst);
}

void rules(Checks& check, const CopyCmd& cmd) { check.target(cmd.dst).source("src", cmd.src, cmd.dst); }

}  // namespace softtpu
