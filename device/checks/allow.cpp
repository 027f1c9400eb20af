#include "device/checks/allow.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <sstream>

#include "runtime/base/text.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

Error bad(const std::string& word, std::string_view why) {
  return Error{ErrorKind::kUsage, fmt::format("allow rule \"{}\": {}.", word, why)};
}

Result<void> parse_range(const std::string& word, const std::string& text, AllowRule& rule) {
  const std::size_t colon = text.find(':');
  const std::size_t dash = text.find('-', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || dash == std::string::npos) return bad(word, "the bytes are not MEMORY:BEGIN-END");
  rule.memory = text.substr(0, colon);
  if (rule.memory != "global" && rule.memory != "L2" && rule.memory != "local") {
    return bad(word, "the memory is not one of global, L2, local");
  }
  const auto begin = find_number(std::string_view(text).substr(colon + 1, dash - colon - 1));
  const auto last = find_number(std::string_view(text).substr(dash + 1));
  if (!begin || !last || *last < *begin) return bad(word, "BEGIN and END are not two numbers, END not below BEGIN");
  rule.begin = *begin;
  rule.end = *last + 1;
  return {};
}

Result<AllowRule> parse(const std::string& word) {
  AllowRule rule;
  const std::size_t colon = word.find(':');
  const std::string head = word.substr(0, colon);
  const std::size_t at = head.find('@');
  rule.rule = head.substr(0, at);
  if (at != std::string::npos) rule.kernel = head.substr(at + 1);
  const bool known = std::any_of(rules().begin(), rules().end(),
                                 [&](const Rule& row) { return matches(rule.rule, std::string(row.id)); });
  if (!known) return bad(word, "no rule has that name (\"softtpu rules\" lists them)");
  if (colon != std::string::npos) {
    if (auto range = parse_range(word, word.substr(colon + 1), rule); !range) return range.error();
  }
  return rule;
}

}  // namespace

bool AllowRule::covers(std::string_view found_rule, const std::string& found_kernel,
                       const std::optional<ReportedRange>& place) const {
  if (!matches(rule, std::string(found_rule)) || !matches(kernel, found_kernel)) return false;
  if (memory.empty()) return true;
  return place && place->memory == memory && place->begin >= begin && place->end <= end;
}

Result<std::vector<AllowRule>> parse_allow_rules(const std::string& text) {
  std::vector<AllowRule> list;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    auto rule = parse(word);
    if (!rule) return rule.error();
    list.push_back(*std::move(rule));
  }
  return list;
}

}  // namespace softtpu
