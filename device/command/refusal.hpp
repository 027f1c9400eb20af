// Why a command is refused: values, of which sentence() makes what a person reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/isa/op.hpp"

namespace softtpu {

// What is wrong with a call. `form` is the sentence behind "function: ", with the members' names in braces.
struct Wrong {
  const char* form = "{what}.";
  std::string argument = {}, value = {}, limit = {};
  std::string what = {};  // the whole sentence without its full stop, where argument, value and limit do not make it
};

struct Refusal {
  Op op{};                                   // the function, or the step of one
  const char* rule = "constraint/argument";  // of runtime/report/rules.def
  Wrong wrong = {};
  std::string nearest = {};  // the nearest legal value, when there is one
};
using Violation = std::optional<Refusal>;

// "dst type is fp32 (allowed: int8)."
std::string sentence(const Wrong& wrong);
// The same behind a function's name, which may be more than the refusal's own: "tpu_bdc_fp32_tan [tpu_bdc_fp_mul]".
std::string sentence(std::string_view function, const Refusal& refusal);

}  // namespace softtpu
