#include "host/client/finding_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/protocol/messages.hpp"
#include "runtime/report/finding_message.hpp"

namespace softtpu {
namespace {

// More than a device is likely to be allowed to tell (SOFTTPU_MAX_FINDINGS).
constexpr std::size_t kMostPrinted = 100000;

class StderrSink final : public FindingSink {
 public:
  StderrSink(std::map<std::uint64_t, ReportedFinding>& printed, bool& reported_left_out)
      : printed_(printed), reported_left_out_(reported_left_out) {}
  void add(const ReportedFinding& found, std::uint64_t id) override {
    print(to_text(found, isatty(STDERR_FILENO) == 1));
    if (printed_.size() < kMostPrinted) printed_.insert_or_assign(id, found);
  }
  void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) override {
    const auto known = printed_.find(id);
    if (known == printed_.end()) return;
    print(to_again_text(now != nullptr ? *now : known->second, count));
  }
  void add(const AllowedRecord&) override {}
  void add_left_out(const ReportedFinding&) override {
    if (std::exchange(reported_left_out_, true)) return;
    print("softtpu: the device has more findings than it reports (SOFTTPU_MAX_FINDINGS of the device)\n");
  }

 private:
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  std::map<std::uint64_t, ReportedFinding>& printed_;
  bool& reported_left_out_;
};

void pass_on(const Frame& frame, FindingSink& sink) {
  if (frame.type == MessageType::kFindingNote) {
    const auto note = find_message<msg::FindingNote>(frame.payload);
    const auto found = note ? to_limited(note->finding) : std::nullopt;
    if (found) note->left_out ? sink.add_left_out(*found) : sink.add(*found, note->id);
  } else if (frame.type == MessageType::kFindingCount) {
    if (const auto again = find_message<msg::FindingCount>(frame.payload)) {
      const auto now = find_latest(*again);
      sink.add_count(again->id, again->count, now ? &*now : nullptr);
    }
  } else if (frame.type == MessageType::kAllowedNote) {
    if (const auto allowed = find_message<msg::AllowedNote>(frame.payload)) {
      sink.add(AllowedRecord{allowed->rule, allowed->kernel, allowed->count});
    }
  }
}

}  // namespace

// Opened when there is something to write: `softtpu run` waits for each process that has it open.
FindingSink* FindingReport::journal() {
  if (journal_path_.empty()) return nullptr;
  if (journal_) return journal_.get();
  auto opened = Journal::open(journal_path_);
  if (!opened) {
    log_warning(opened.error().text);
    journal_path_.clear();
    return nullptr;
  }
  journal_ = *std::move(opened);
  return journal_.get();
}

void FindingReport::take(const Frame& frame) {
  if (!is_about_findings(frame.type)) return;
  if (FindingSink* sink = journal()) return pass_on(frame, *sink);
  StderrSink printer(printed_, reported_left_out_);
  pass_on(frame, printer);
}

}  // namespace softtpu
