#include "runtime/report/rules.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

constexpr auto kRules = std::to_array<Rule>({
#define RULE(id, check, severity, title, why, fix) {id, check, Severity::severity, title, why, fix},
#include "runtime/report/rules.def"
#undef RULE
});

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule& rule(std::string_view id) {
  const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& row) { return row.id == id; });
  if (found != kRules.end()) return *found;
  std::fprintf(stderr, "softtpu: no rule \"%.*s\"\n", static_cast<int>(id.size()), id.data());
  std::abort();
}

std::string_view to_text(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  unreachable(severity);
}

std::string page_of(const Rule& rule) {
  std::string page(rule.id);
  std::replace(page.begin(), page.end(), '/', '-');
  return page + ".md";
}

}  // namespace softtpu
