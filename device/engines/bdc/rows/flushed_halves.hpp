// Chips on which f16 subnormals are zeros (device/chip/rules.def: f16-subnormals-are-zeros).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/isa/types.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// While a command is carried out, zeros lie where its operands have f16 subnormals.
class FlushedHalves {
 public:
  explicit FlushedHalves(Memories& mem) : mem_(mem) {}
  void operand(const Tensor& tensor);
  // To be called when the command is done: the operands are as they were but where the result lies on them, and the
  // result's subnormals are zeros.
  void result(const Tensor& tensor);
  void restore();

 private:
  Memories& mem_;
  std::vector<std::pair<std::uint16_t*, std::uint16_t>> kept_;
};

// carry_out(cmd), with operands and constants that are no f16 subnormals where the chip has none.
template <class Cmd, class CarryOut>
void with_flushed_halves(Memories& mem, const Cmd& cmd, const CarryOut& carry_out) {
  if (!mem.chip().has(Quirk::kHalfFlushes)) return carry_out(cmd);
  Cmd flushed = cmd;
  FlushedHalves halves(mem);
  flushed.operands([&](Access access, const char*, const Operand& operand, auto&&...) {
    if (type_of(operand) != Dtype::kFp16) return;
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      if (access != Access::kWrite) halves.operand(*tensor);
    } else if (auto& bits = std::get<Scalar>(const_cast<Operand&>(operand)).bits; (bits & 0x7C00U) == 0) {
      bits &= 0xFFFF8000U;  // a member of `flushed`
    }
  });
  carry_out(std::as_const(flushed));
  cmd.operands([&](Access access, const char*, const Operand& operand, auto&&...) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (tensor != nullptr && access != Access::kRead && tensor->dtype == Dtype::kFp16) halves.result(*tensor);
  });
  halves.restore();
}

}  // namespace softtpu
