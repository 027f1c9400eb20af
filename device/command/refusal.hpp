// Why a command is refused.
#pragma once

#include <optional>
#include <string>

namespace softtpu {

struct Refusal {
  std::string text;                          // a complete sentence that begins with the function's name
  const char* rule = "constraint/argument";  // of runtime/report/rules.def
  std::string nearest;                       // the nearest legal value, when there is one
};
using Violation = std::optional<Refusal>;

}  // namespace softtpu
