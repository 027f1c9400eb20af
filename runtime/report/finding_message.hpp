// Findings as messages between a core, its server and a client. What comes from another process is cut to a limit and
// made printable before it is kept, printed or passed on.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/protocol/messages.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

// FindingNote, FindingCount or AllowedNote.
bool is_about_findings(MessageType type);

msg::FindingNote to_message(const ReportedFinding& found, std::uint64_t id);
// nullopt: no rule has that name.
std::optional<ReportedFinding> parse_finding(const msg::FindingNote& note);
msg::FindingCount to_count_message(std::uint64_t id, std::uint64_t count, const ReportedFinding* now);
// nullopt: the finding is as it was reported before.
std::optional<ReportedFinding> find_latest(const msg::FindingCount& again);

}  // namespace softtpu
