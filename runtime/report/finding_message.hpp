// Findings in messages between a core, its server and a client. What comes from another process is cut to a limit and
// made printable before it is kept, printed or passed on.
#pragma once

#include <optional>

#include "runtime/protocol/messages.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

// FindingNote, FindingCount or AllowedNote.
bool is_about_findings(MessageType type);

// nullopt: no rule has that name.
std::optional<ReportedFinding> to_limited(ReportedFinding received);
// nullopt: the finding is as it was reported before.
std::optional<ReportedFinding> find_latest(const msg::FindingCount& again);

}  // namespace softtpu
