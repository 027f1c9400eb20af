// Rules of element-wise BDC commands (numerics: bm1684x-elementwise.md section 8; golden bm1684x/limits).
#include "device/core/checks.hpp"
#include "device/core/commands.hpp"

namespace softtpu {
namespace {

void check_source(Checks& check, const char* name, const Operand& source, const Tensor& dst) {
  const auto* tensor = std::get_if<Tensor>(&source);
  if (tensor == nullptr) return;
  check.tensor(name, *tensor).same_npu(name, tensor->addr, "dst", dst.addr);
}

}  // namespace

Violation violation(const Memories& mem, Op op, const ArithCmd& cmd) {
  Checks check(mem, op);
  check.type("dst", cmd.dst.dtype).shape("shape", cmd.dst.shape).tensor("dst", cmd.dst);
  check_source(check, "src0", cmd.a, cmd.dst);
  check_source(check, "src1", cmd.b, cmd.dst);
  return check.violation();
}

}  // namespace softtpu
