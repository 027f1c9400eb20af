#include "device/footprint/operand_use.hpp"

namespace softtpu {

void visit_uses(const Command& command, void* f, void (*call)(void* f, const OperandUse&)) {
  std::uint32_t index = 0;
  for_each_operand(command, [&](Access access, const char* name, const Operand& value, const Role& role) {
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor != nullptr) call(f, {index, name, *tensor, access != Access::kWrite, access != Access::kRead, role});
    ++index;
  });
}

}  // namespace softtpu
