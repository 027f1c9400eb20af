#include "device/server/startup/check_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "device/checks/allow.hpp"
#include "device/chip/chip.hpp"
#include "device/core/schedule.hpp"

namespace softtpu {
namespace {

template <class Value>
Result<void> judge(const char* variable, const Result<Value>& value) {
  if (value) return {};
  return Error{value.error().kind, fmt::format("{}: {}", variable, value.error().text)};
}

// Which variable has named the chip.
const char* chip_variable(const Settings& settings) {
  const auto names_it = [](const std::string& text) { return text.starts_with("SOFTTPU_CHIP="); };
  const char* const own = std::getenv("SOFTTPU_CHIP");
  const bool named = (own != nullptr && *own != '\0') || std::ranges::any_of(settings.given, names_it);
  return named ? "SOFTTPU_CHIP" : "CHIP_ARCH";
}

}  // namespace

Result<void> check_device_settings(const Settings& settings) {
  auto good = judge(chip_variable(settings), load_chip(settings.chip));
  std::istringstream others(settings.portable_to);
  for (std::string name; good && std::getline(others, name, ',');) good = judge("SOFTTPU_PORTABLE_TO", load_chip(name));
  if (good) good = judge("SOFTTPU_ALLOW", parse_allow_rules(settings.allow));
  if (good) good = judge("SOFTTPU_SCHEDULE", Schedule::parse(settings.schedule));
  return good;
}

}  // namespace softtpu
