// Findings as messages between a core, its server and a client. What comes from another process is cut to a limit and
// made printable before anybody keeps, prints or passes it on.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/protocol/messages.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

// FindingNote, FindingCount or AllowedNote.
bool is_about_findings(MessageType type);

msg::FindingNote to_message(const Found& found, std::uint64_t id);
// nullopt: no rule has that name.
std::optional<Found> find_found(const msg::FindingNote& note);

}  // namespace softtpu
