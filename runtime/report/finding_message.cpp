#include "runtime/report/finding_message.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/base/text.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kMostParties = 8, kMostFrames = 16;
constexpr std::size_t kNameBytes = 256, kTextBytes = 1024;
constexpr double kCostUnits = 1000;

std::string name(const std::string& text) { return to_printable(text, kNameBytes); }
std::string sentence(const std::string& text) { return to_printable(text, kTextBytes); }

msg::FindingParty to_message(const ReportedParty& party) {
  return {party.function,    party.text, party.at.path, static_cast<std::uint32_t>(std::max(party.at.line, 0)),
          party.at.function, party.stack};
}

ReportedParty to_party(const msg::FindingParty& party) {
  ReportedParty found;
  found.function = name(party.function);
  found.text = sentence(party.text);
  found.at = {sentence(party.path), static_cast<int>(party.line & 0x7FFF'FFFFU), name(party.caller)};
  for (std::size_t i = 0; i < std::min(party.stack.size(), kMostFrames); ++i) {
    found.stack.push_back(sentence(party.stack[i]));
  }
  return found;
}

}  // namespace

bool is_about_findings(MessageType type) {
  return type == MessageType::kFindingNote || type == MessageType::kFindingCount || type == MessageType::kAllowedNote;
}

msg::FindingNote to_message(const ReportedFinding& found, std::uint64_t id) {
  msg::FindingNote note;
  note.id = id;
  note.rule = found.rule;
  note.kernel = found.kernel;
  note.core = found.core;
  note.what = found.what;
  if (found.place) {
    note.memory = found.place->memory;
    note.begin = found.place->begin;
    note.end = found.place->end;
    note.npu = found.place->npu;
    note.bank = found.place->bank;
  }
  for (const ReportedParty& party : found.parties) note.parties.push_back(to_message(party));
  note.nearest = found.nearest;
  if (found.cost && *found.cost >= 0 && *found.cost < 1e15) {
    note.cost = static_cast<std::uint64_t>(std::llround(*found.cost * kCostUnits));
  }
  note.count = found.count;
  return note;
}

std::optional<ReportedFinding> parse_finding(const msg::FindingNote& note) {
  const auto all = rules();
  if (std::none_of(all.begin(), all.end(), [&](const Rule& row) { return row.id == note.rule; })) return std::nullopt;
  ReportedFinding found;
  found.rule = note.rule;
  found.kernel = name(note.kernel);
  found.core = note.core;
  found.what = sentence(note.what);
  if (!note.memory.empty()) found.place = ReportedRange{name(note.memory), note.begin, note.end, note.npu, note.bank};
  for (std::size_t i = 0; i < std::min(note.parties.size(), kMostParties); ++i) {
    found.parties.push_back(to_party(note.parties[i]));
  }
  found.nearest = name(note.nearest);
  if (note.cost != msg::FindingNote::kNoCost) found.cost = static_cast<double>(note.cost) / kCostUnits;
  found.count = note.count;
  return found;
}

msg::FindingCount to_count_message(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) {
  msg::FindingCount message{id, count};
  if (now != nullptr) message.now.push_back(to_message(*now, id));
  return message;
}

std::optional<ReportedFinding> find_latest(const msg::FindingCount& again) {
  return again.now.empty() ? std::nullopt : parse_finding(again.now.front());
}

}  // namespace softtpu
