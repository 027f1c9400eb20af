#include "device/footprint/operand_use.hpp"

namespace softtpu {

void for_each_use(const Command& command, const std::function<void(const OperandUse&)>& f) {
  std::uint32_t index = 0;
  for_each_operand(command, [&](Access access, const char* name, const Operand& value, const Role& role) {
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor != nullptr) f({index, name, *tensor, access != Access::kWrite, access != Access::kRead, role});
    ++index;
  });
}

}  // namespace softtpu
