// A launch on several cores, as the server sees it: an item of each core, and one outcome. Lives on the server's
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/core/launch_page.hpp"
#include "runtime/base/result.hpp"
#include "runtime/protocol/core_messages.hpp"

namespace softtpu {

class GroupLaunch {
 public:
  // `name`: of the kernel or network, for messages.
  GroupLaunch(std::string name, msg::LaunchParts parts, std::uint32_t repetitions)
      : name_(std::move(name)), parts_(std::move(parts)), repetitions_(repetitions) {}

  const std::string& name() const { return name_; }
  const msg::LaunchParts& parts() const { return parts_; }
  std::uint32_t repetitions() const { return repetitions_; }

  // It begins, with this page of the device's, counted from 1.
  void begin(LaunchPage& page, std::uint32_t number, bool awaited);
  std::uint32_t page_number() const { return page_number_; }
  LaunchPosition position_of(std::size_t workitem) const;

  // A core's part has ended. True: it was the first to do so.
  bool note_end(std::size_t workitem, Result<void> outcome, std::uint64_t estimated_ns);
  bool has_ended(std::size_t workitem) const { return outcomes_[workitem].has_value(); }
  bool has_ended() const { return left_ == 0; }
  // Of the launch, when all parts have ended: of the core that failed first, or of all that wait for each other.
  Result<void> outcome() const;
  // The longest of the parts.
  std::uint64_t estimated_ns() const { return estimated_ns_; }

  // ---- for the cores' links ----
  // The core has failed, or is about to be ended: the others see it at once.
  void note_failure(std::size_t workitem) { page_->fail(static_cast<int>(workitem)); }
  bool is_over() const { return page_->is_over(); }
  bool is_culprit(std::size_t workitem) const { return page_->culprit() == static_cast<int>(workitem); }
  // The core waits for others, who have limits of their own.
  bool waits(std::size_t workitem) const;
  // Its failure stands in the journal of `softtpu run`.
  bool is_journalled() const { return journalled_; }
  void set_journalled() { journalled_ = true; }

 private:
  std::string deadlock_text() const;

  const std::string name_;
  const msg::LaunchParts parts_;
  const std::uint32_t repetitions_;
  LaunchPage* page_ = nullptr;
  std::uint32_t page_number_ = 0;
  std::vector<std::optional<Result<void>>> outcomes_;
  std::size_t left_ = 0;
  std::uint64_t estimated_ns_ = 0;
  bool journalled_ = false;
};

}  // namespace softtpu
