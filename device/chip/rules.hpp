// The rules of rules.def: named ways in which chips, and revisions of one chip, differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/chip/chip.hpp"

namespace softtpu {

enum class Quirk : std::uint8_t {
#define RULE(identifier, ...) identifier,
#include "device/chip/rules.def"
};

struct QuirkInfo {
  Quirk rule;
  std::string_view name;     // in a chip's description
  std::string_view meaning;  // what holds with the rule, and what without
  std::string_view source;
};

std::span<const QuirkInfo> all_chip_rules();
const QuirkInfo* find_chip_rule(std::string_view name);

}  // namespace softtpu
