// What the sanitizers of instrumented kernels report. They write it to a file in memory that the server made: there it
// outlives the core that it ended, and the server finds it.
#pragma once

#include <set>
#include <string>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// For one core and those that take its place. Not there when the system has no descriptor left.
UniqueFd make_report_file();

// A core's side. Used by its thread only.
class SanitizerOutput {
 public:
  explicit SanitizerOutput(int file);
  // When a module has been loaded: takes the reports of all sanitizers that are in this process by now.
  void attach();
  // What was reported since the last call; empty where no sanitizer is.
  std::string take();
  // Removes what another launch has written there: it would become part of a later crash's report.
  void forget_others() const;

 private:
  int file_;
  std::set<std::string> attached_;  // runtimes
};

// The server's side: the last words of a core.
struct SanitizerReport {
  std::string cause;  // "was ended by AddressSanitizer: heap-buffer-overflow on address ..."; empty: it did not end it
  std::string text;   // the report itself, indented lines below a headline; empty: there is none
};
SanitizerReport find_sanitizer_report(int file, bool crashed);
// Nothing of an earlier core is left for the next one.
void forget_sanitizer_reports(int file);

}  // namespace softtpu
