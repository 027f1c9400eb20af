#include "device/isa/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace softtpu {
namespace {

struct Row {
  std::string_view name;
  Verification known;
};

constexpr Row kRows[] = {
    {"", {}},  // sorts before every name
#define VERIFIED(name, exact, deviating, reference, oracle) {#name, {exact, deviating, reference, oracle, false}},
#define ASSUMED(name)
#include "device/isa/verified.def"
};

constexpr std::string_view kAssumed[] = {
    "",
#define VERIFIED(...)
#define ASSUMED(name) #name,
#include "device/isa/verified.def"
};

struct CasesRow {
  std::string_view chip, name;
  RecordedCases cases;
};

constexpr CasesRow kCases[] = {
    {"", "", {}},
#define RECORDED(chip, name, exact, different, deviating) {chip, #name, {exact, different, deviating}},
#include "device/isa/recorded.def"
#undef RECORDED
};

}  // namespace

std::optional<RecordedCases> recorded_on(Op op, std::string_view chip) {
  const std::pair wanted{chip, info(op).name};
  const auto before = [](const CasesRow& row, const auto& key) { return std::pair{row.chip, row.name} < key; };
  const auto* found = std::lower_bound(std::begin(kCases), std::end(kCases), wanted, before);
  if (found == std::end(kCases) || std::pair{found->chip, found->name} != wanted) return std::nullopt;
  return found->cases;
}

std::vector<ChipCases> recorded_anywhere(Op op) {
  std::vector<ChipCases> found;
  for (const CasesRow& row : kCases)
    if (row.name == info(op).name) found.push_back({row.chip, row.cases});
  return found;
}

Verification verification(Op op) {
  const std::string_view name = info(op).name;
  const auto before = [](const Row& row, std::string_view wanted) { return row.name < wanted; };
  const auto* found = std::lower_bound(std::begin(kRows), std::end(kRows), name, before);
  Verification known = found != std::end(kRows) && found->name == name ? found->known : Verification{};
  known.assumed = std::binary_search(std::begin(kAssumed), std::end(kAssumed), name);
  return known;
}

}  // namespace softtpu
