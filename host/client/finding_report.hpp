// What a shared device tells this program about findings that it caused: printed, or noted in the journal of
// `softtpu run` (SOFTTPU_JOURNAL).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/protocol/frame.hpp"
#include "runtime/report/journal.hpp"

namespace softtpu {

// Threads: one at a time, the one that reads the device's socket.
class FindingReport {
 public:
  // Empty path: to standard error.
  explicit FindingReport(std::string journal_path) : journal_path_(std::move(journal_path)) {}
  // A message that answers no request; only those about findings are used.
  void take(const Frame& frame);

 private:
  FindingSink* journal();

  std::string journal_path_;
  std::shared_ptr<Journal> journal_;
  std::map<std::uint64_t, ReportedFinding> printed_;  // for those that come again
  bool reported_left_out_ = false;
};

}  // namespace softtpu
