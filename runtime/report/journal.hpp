// The journal: a file of JSON lines in which the server and its cores note findings and failures, and from which
// `softtpu run` makes its reports. Every line is one write to a file in append mode, so that processes do not mix.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/report/finding.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {

// Why a launch, or the loading of a module, failed.
enum class FailureKind : std::uint8_t { kUsage, kCrash, kTimeout, kUnsupported, kResource, kInternal };
std::string_view to_text(FailureKind kind);
FailureKind to_failure_kind(ErrorKind kind);

struct FailureRecord {
  FailureKind kind = FailureKind::kUsage;
  std::string kernel;
  std::string text;
};

// A finding that an allow rule covers.
struct AllowedRecord {
  std::string rule, kernel;
  std::uint64_t count = 0;
};

// Takes what a list of findings reports.
class FindingSink {
 public:
  virtual ~FindingSink() = default;
  // `id` names the finding for add_count().
  virtual void add(const ReportedFinding& found, std::uint64_t id) = 0;
  // `now`: the finding as this launch has it; null: as it was reported before. 0 times: only its text is new.
  virtual void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) = 0;
  virtual void add(const AllowedRecord& allowed) = 0;
  // The list has no room for it. Of the same one any number may come.
  virtual void add_left_out(const ReportedFinding&) {}
};

// Findings that a report has no room for, by severity.
struct LeftOut {
  std::array<std::uint64_t, kSeverities> counts{};
  std::uint64_t of(Severity severity) const { return counts[static_cast<std::size_t>(severity)]; }
  std::uint64_t total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
};
// "3 errors, 1 note"
std::string to_text(const LeftOut& left_out);

// Writes entries. The file stays locked (shared) until the last process that writes to it has ended.
class Journal final : public FindingSink {
 public:
  static Result<std::shared_ptr<Journal>> open(const std::string& path);
  void add(const ReportedFinding& found, std::uint64_t id) override;
  void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) override;
  void add(const AllowedRecord& allowed) override;
  void add_left_out(const ReportedFinding& found) override;
  void add(const FailureRecord& failure);

 private:
  explicit Journal(UniqueFd file) : file_(std::move(file)) {}
  void write(const nlohmann::json& entry);
  UniqueFd file_;
};

struct JournalContents {
  std::vector<ReportedFinding> found;  // equal ones folded
  std::vector<AllowedRecord> allowed;
  std::vector<FailureRecord> failures;
  LeftOut left_out;
  std::vector<std::string> times;  // records of launches (docs/time.md) without their commands and blocks, each as JSON

  // Leaves out all but the most severe `most`, the earlier ones where they are equally severe.
  void keep_most_severe(std::size_t most);
};

// Reads a journal while others write it: each take() gives what has come since the last one, a finding that came again
// as one with the count of this time. Lines that are not whole yet wait for the next take().
class JournalFollower {
 public:
  // Keeps the descriptor, which reads from wherever it stands.
  explicit JournalFollower(UniqueFd file);
  JournalFollower(JournalFollower&&) noexcept;
  JournalFollower& operator=(JournalFollower&&) noexcept;
  ~JournalFollower();
  // `lines` gets the whole lines, as they stand in the file.
  JournalContents take(std::string* lines = nullptr);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The totals of a record of a launch's time, as JSON: without the single commands and blocks, which only pictures need.
// Empty when the line is no such record.
std::string time_totals(std::string_view record);
// Entries of a journal for lines of such records.
std::string time_entries(std::string_view records);

// Waits until no process writes any more, at most `wait_ms`. Damaged lines are skipped: a process may have been killed.
Result<JournalContents> read_journal(const std::string& path, int wait_ms);

}  // namespace softtpu
