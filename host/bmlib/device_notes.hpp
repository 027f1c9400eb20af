// What a device that this program has opened for itself notes while its kernels run: findings, failures and estimated
// times.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/report/journal.hpp"

namespace softtpu::host {

// The files are anonymous, so that nothing is left whatever becomes of this process. Threads: any.
class DeviceNotes {
 public:
  struct Options {
    bool times = false;         // keep a line for each launch
    std::string also_noted_in;  // the journal of `softtpu run`, which gets the same; empty: none
    // SOFTTPU_TIME_RECORD of the program, which gets the same times; empty: the journal gets their totals
    std::string times_also_in;
    std::string checks;  // what the device checks, for the program
  };
  static Result<std::shared_ptr<DeviceNotes>> create(Options options);
  ~DeviceNotes();
  DeviceNotes(const DeviceNotes&) = delete;
  DeviceNotes& operator=(const DeviceNotes&) = delete;

  // What makes a device write here: "NAME=value".
  std::vector<std::string> settings() const;
  const std::string& checks() const { return options_.checks; }
  // What has come since the last call.
  JournalContents take();
  // Lines of JSON (docs/time.md) since the last call; empty without Options::times.
  std::string take_times();

 private:
  DeviceNotes(Options options, UniqueFd journal, UniqueFd journal_reader, UniqueFd times);
  void pass_on(const std::string& lines);
  std::string read_times();
  void pass_on_times(const std::string& lines);

  std::mutex mutex_;
  const Options options_;
  const UniqueFd journal_;  // keeps the name that the device opens
  JournalFollower follower_;
  const UniqueFd times_;
  off_t times_read_ = 0;
  UniqueFd outer_, outer_times_;
};

}  // namespace softtpu::host
