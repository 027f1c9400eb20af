#include "runtime/report/finding_message.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostParties = 8, kMostFrames = 16;
constexpr std::size_t kNameBytes = 256, kTextBytes = 1024;
constexpr double kMostCycles = 1e15;

void limit_name(std::string& text) { text = to_printable(text, kNameBytes); }
void limit_sentence(std::string& text) { text = to_printable(text, kTextBytes); }

void limit(ReportedParty& party) {
  limit_name(party.function);
  limit_sentence(party.text);
  limit_sentence(party.at.path);
  limit_name(party.at.function);
  party.at.line = std::max(party.at.line, 0);
  party.stack.resize(std::min(party.stack.size(), kMostFrames));
  for (std::string& frame : party.stack) limit_sentence(frame);
}

}  // namespace

bool is_about_findings(MessageType type) {
  return type == MessageType::kFindingNote || type == MessageType::kFindingCount || type == MessageType::kAllowedNote;
}

std::optional<ReportedFinding> to_limited(ReportedFinding found) {
  const auto all = rules();
  if (std::none_of(all.begin(), all.end(), [&](const Rule& row) { return row.id == found.rule; })) return std::nullopt;
  limit_name(found.kernel);
  limit_sentence(found.what);
  if (found.place) limit_name(found.place->memory);
  found.parties.resize(std::min(found.parties.size(), kMostParties));
  for (ReportedParty& party : found.parties) limit(party);
  limit_name(found.nearest);
  // Written so that a NaN is refused as well.
  if (found.cost && !(*found.cost >= 0 && *found.cost < kMostCycles)) found.cost.reset();
  return found;
}

std::optional<ReportedFinding> find_latest(const msg::FindingCount& again) {
  return again.now ? to_limited(*again.now) : std::nullopt;
}

}  // namespace softtpu
