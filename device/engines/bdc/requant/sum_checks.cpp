#include "device/engines/bdc/requant/sum_checks.hpp"

#include <fmt/format.h>

#include "device/chip/rules.hpp"

namespace softtpu {

void check_stored(Checks& check, const char* name, const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) check.tensor(name, *tensor, NaturalAlignment::kElement);
}

void check_beside(Checks& check, const char* name, const Operand& operand, const char* other, const Tensor& tensor) {
  const auto* stored = std::get_if<Tensor>(&operand);
  if (stored != nullptr) check.same_npu(name, stored->addr, other, tensor.addr);
}

Checks& check_sign(Checks& check, Dtype output, bool sum_is_signed, bool relu) {
  const bool wanted = sum_is_signed && !relu;
  return check.require(is_signed_int(output) == wanted, [&] {
    return fmt::format("output type {} has to be {}: {}", to_text(output), wanted ? "signed" : "unsigned",
                       relu ? "result_relu is set" : "so is the sum of these operands");
  });
}

void check_sum_end(Checks& check, const SumEndRules& end) {
  check.require(!end.add_old || size_of(end.output) == 4, [&] {
    return fmt::format("result_add needs a 32-bit output (output type is {})", to_text(end.output));
  });
  if (!end.requant) {
    check.type_in("output", end.output, kInts);
    check_sign(check, end.output, end.sum_is_signed, end.relu);
  } else {
    const TypeSet types = check.chip().has(Quirk::kRequantConvolutions) ? kInts : kInts8 | kInts16;
    check.type_in("requantised output", end.output, types);
  }
}

void check_requant_table(Checks& check, const std::optional<Requant>& requant, const Tensor& output) {
  if (!requant || !requant->table) return;
  check.tensor("requant", *requant->table).same_npu("requant", requant->table->addr, "output", output.addr);
}

}  // namespace softtpu
