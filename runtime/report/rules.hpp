// The rules that checks report by: one table for messages, reports, `softtpu rules` and the pages of docs/rules/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace softtpu {

// The most severe first.
enum class Severity : std::uint8_t { kError, kWarning, kNote };
inline constexpr std::size_t kSeverities = 3;

struct Rule {
  std::string_view id;     // "race/raw"
  std::string_view check;  // the name in SOFTTPU_CHECK that switches it on
  Severity severity = Severity::kError;
  std::string_view title;  // what is wrong, in general
  std::string_view why;    // why it matters on the chip
  std::string_view fix;    // what removes it
};

std::span<const Rule> rules();
// The rule must be one of the table; anything else is a defect of softtpu.
const Rule& rule(std::string_view id);
std::string_view to_text(Severity severity);
// "race/raw" -> "race-raw.md": the page's name in docs/rules.
std::string page_of(const Rule& rule);

}  // namespace softtpu
