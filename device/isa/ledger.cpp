#include "device/isa/ledger.hpp"

#include <algorithm>
#include <iterator>

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

}  // namespace

Verification verification(Op op) {
  const std::string_view name = info(op).name;
  const auto before = [](const Row& row, std::string_view wanted) { return row.name < wanted; };
  const auto* found = std::lower_bound(std::begin(kRows), std::end(kRows), name, before);
  Verification known = found != std::end(kRows) && found->name == name ? found->known : Verification{};
  known.assumed = std::binary_search(std::begin(kAssumed), std::end(kAssumed), name);
  return known;
}

}  // namespace softtpu
