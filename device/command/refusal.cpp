#include "device/command/refusal.hpp"

#include <fmt/format.h>

namespace softtpu {

std::string sentence(const Wrong& wrong) {
  return fmt::format(fmt::runtime(wrong.form), fmt::arg("argument", wrong.argument), fmt::arg("value", wrong.value),
                     fmt::arg("limit", wrong.limit), fmt::arg("what", wrong.what));
}

std::string sentence(std::string_view function, const Refusal& refusal) {
  return fmt::format("{}: {}", function, sentence(refusal.wrong));
}

}  // namespace softtpu
