#include "device/server/queue/group_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softtpu {

void GroupLaunch::begin(LaunchPage& page, std::uint32_t number, bool awaited) {
  page_ = &page;
  page_number_ = number;
  page.reset(static_cast<int>(parts_.size()), awaited);
  outcomes_.assign(parts_.size(), std::nullopt);
  left_ = parts_.size();
}

LaunchPosition GroupLaunch::position_of(std::size_t workitem) const {
  return {.page_number = static_cast<int>(page_number_),
          .workitem = static_cast<int>(workitem),
          .workitems = static_cast<int>(parts_.size()),
          .groups = static_cast<int>(repetitions_),
          .first_core = static_cast<int>(parts_.front().core)};
}

bool GroupLaunch::note_end(std::size_t workitem, Result<void> outcome, std::uint64_t estimated_ns) {
  if (!outcome) note_failure(workitem);
  outcomes_[workitem] = std::move(outcome);
  estimated_ns_ = std::max(estimated_ns_, estimated_ns);
  return left_-- == parts_.size();
}

bool GroupLaunch::waits(std::size_t workitem) const {
  const LaunchPage::Phase phase = page_->phase(static_cast<int>(workitem));
  return phase == LaunchPage::Phase::kWaits && !page_->is_over();
}

Result<void> GroupLaunch::outcome() const {
  const auto failed = [](const std::optional<Result<void>>& outcome) { return outcome && !*outcome; };
  const auto first = std::find_if(outcomes_.begin(), outcomes_.end(), failed);
  if (first == outcomes_.end()) return {};
  if (page_->is_deadlocked()) return Error{ErrorKind::kUsage, deadlock_text()};
  const int culprit = page_->culprit().value_or(-1);
  auto blamed = static_cast<std::size_t>(first - outcomes_.begin());
  if (culprit >= 0 && static_cast<std::size_t>(culprit) < outcomes_.size() &&
      failed(outcomes_[static_cast<std::size_t>(culprit)])) {
    blamed = static_cast<std::size_t>(culprit);
  }
  Error error = outcomes_[blamed]->error();
  std::string others;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    if (i != blamed && failed(outcomes_[i])) others += fmt::format("{}{}", others.empty() ? "" : ", ", parts_[i].core);
  }
  if (!others.empty()) error.text += "\n - Its launch was ended on the other cores too: " + others;
  return error;
}

std::string GroupLaunch::deadlock_text() const {
  std::string text =
      fmt::format("kernel \"{}\": deadlock: every core of its launch waits for another one or has ended.", name_);
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    text += *outcomes_[i] ? fmt::format("\n - core {} has ended", i) : "\n - " + outcomes_[i]->error().text;
  }
  return text;
}

}  // namespace softtpu
