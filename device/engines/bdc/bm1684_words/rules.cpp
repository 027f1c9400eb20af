// Rules of BM1684's own commands (numerics: bm1684-okkernel.md section 8; golden bm1684/aborts).
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"
#include "device/memory/static_tables.hpp"

namespace softtpu {
namespace {

void check_terms(Checks& check, int terms) {
  check.in_range("number of series terms", terms, 1, okk_static_offset::kMaxSeries);
}

}  // namespace

Violation violation(const Memories& mem, Op op, const OkkWordCmd& cmd) {
  Checks check(mem, op);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source("src0", cmd.a, cmd.dst);
  check.source("src1", cmd.b, cmd.dst);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const OkkUnaryCmd& cmd) {
  Checks check(mem, op);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source("src", cmd.src, cmd.dst);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const OkkTaylorCmd& cmd) {
  Checks check(mem, op);
  check_terms(check, cmd.terms);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source("src", cmd.src, cmd.dst);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const OkkSelectCmd& cmd) {
  Checks check(mem, op);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source("src0", cmd.a, cmd.dst);
  check.source("src1", cmd.b, cmd.dst);
  check.source("select0", cmd.yes, cmd.dst);
  check.source("select1", cmd.no, cmd.dst);
  return check.violation();
}

Violation violation(const Memories& mem, Op op, const OkkMulAddCmd& cmd) {
  Checks check(mem, op);
  check.shape("shape", cmd.dst.shape).lane_tensor("dst", cmd.dst);
  check.source("src0", cmd.a, cmd.dst);
  check.source("src1", cmd.b, cmd.dst);
  check.source("addend", cmd.c, cmd.dst);
  return check.violation();
}

}  // namespace softtpu
