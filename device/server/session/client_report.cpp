#include "device/server/session/client_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

// Upper bound of the count; beyond it the number is not read.
constexpr std::size_t kMostLeftOut = 1000;
// Names of rules and kernels that a client's own kernels may invent.
constexpr std::size_t kMostAllowed = 1024;

}  // namespace

void ClientReport::add(const ReportedFinding& found, std::uint64_t id) {
  if (counts_.size() >= limit_) return add_left_out(found);
  if (!counts_.try_emplace(id).second) return;
  log_info(fmt::format("{}: {} {}{}: {}", client_, to_text(rule(found.rule).severity), found.rule,
                       in_kernel_text(found.kernel), found.what));
  notes_.push_back({id, false, found});
  changed_ = true;
}

void ClientReport::add_left_out(const ReportedFinding& found) {
  if (++left_out_ > kMostLeftOut) return;
  notes_.push_back({0, true, found});
  changed_ = true;
}

void ClientReport::add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) {
  const auto known = counts_.find(id);
  if (known == counts_.end()) return;
  known->second.count += count;
  if (now != nullptr) known->second.now = *now;
  changed_ = true;
}

void ClientReport::add(const AllowedRecord& allowed) {
  if (allowed_.size() >= kMostAllowed) return;
  allowed_[{allowed.rule, allowed.kernel}] += allowed.count;
  changed_ = true;
}

void ClientReport::flush(Outbox& out) {
  if (!std::exchange(changed_, false)) return;
  for (const msg::FindingNote& note : notes_) out.push(0, note);
  notes_.clear();
  for (auto& [id, again] : counts_) {
    if (again.count == 0 && !again.now) continue;  // a text alone: what is known by now
    out.push(0, msg::FindingCount{id, again.count, again.now});
    again = {};
  }
  for (const auto& [name, count] : allowed_) out.push(0, msg::AllowedNote{name.first, name.second, count});
  allowed_.clear();
}

}  // namespace softtpu
