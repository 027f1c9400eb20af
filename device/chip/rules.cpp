#include "device/chip/rules.hpp"

#include <algorithm>

namespace softtpu {
namespace {

constexpr QuirkInfo kRules[] = {
#define RULE(identifier, name, meaning, source) {Quirk::identifier, name, meaning, source},
#include "device/chip/rules.def"
};
static_assert(std::size(kRules) <= kMostChipRules, "Chip::rules has one bit for each rule");

}  // namespace

std::span<const QuirkInfo> all_chip_rules() { return kRules; }

const QuirkInfo* find_chip_rule(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const QuirkInfo& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace softtpu
