// Rules of what products and windows store and how their sums end.
#pragma once

#include <optional>

#include "device/command/checks.hpp"
#include "device/engines/bdc/requant/requant.hpp"

namespace softtpu {

// An operand in local memory that is read by elements; constants are always fine.
void check_stored(Checks& check, const char* name, const Operand& operand);
void check_beside(Checks& check, const char* name, const Operand& operand, const char* other, const Tensor& tensor);
// The output's sign: unsigned after relu, else that of the sum.
Checks& check_sign(Checks& check, Dtype output, bool sum_is_signed, bool relu);

// How a product of 8-bit integers ends.
struct SumEndRules {
  Dtype output;
  const std::optional<Requant>& requant;
  bool sum_is_signed, relu, add_old;
};
// A requantised output has 8 or 16 bits, of any sign; another one has the sum's sign. An old output is added when it is
// a 32-bit sum.
void check_sum_end(Checks& check, const SumEndRules& end);
// The table of requantisation, if there is one, lies beside the output.
void check_requant_table(Checks& check, const std::optional<Requant>& requant, const Tensor& output);

}  // namespace softtpu
