// A run over many recorded families: collects files, replays each on a device of its chip, reports and counts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/golden/case_runner.hpp"

namespace softtpu::golden {

struct Counts {
  int passed = 0, failed = 0, skipped = 0;
  // Recorded with another revision of the chip than the one it runs on, where both are known to differ.
  int superseded = 0;
  int other_npu = 0;  // refused for operands on different start NPUs
  int known = 0;      // known to differ, with the reason (known_cases.txt)
  void add(const Counts& more) {
    passed += more.passed;
    failed += more.failed;
    skipped += more.skipped;
    superseded += more.superseded;
    other_npu += more.other_npu;
    known += more.known;
  }
};

struct SessionOptions {
  std::vector<std::string> paths;  // family .json files, or folders of them (searched with their subfolders)
  std::string chip;                // run on this chip; empty: on the chip and revision that each file was recorded with
  std::string filter;              // only cases whose id contains this text
  std::string function;            // only cases that call this function
  int shown_failures = 1;          // per function
  bool details = false;            // all lines of a failure: elements with coordinates, expected and got
  bool list_skipped = false;
};

struct SessionResult {
  Counts total;
  std::map<std::string, Counts> functions;  // every function that the cases call
  bool unreadable = false;                  // a path or file could not be read
};

using MakeTarget = std::function<Result<std::unique_ptr<Target>>(const std::string& chip)>;

// Prints one line for each family and, at the end, "N passed, N failed, N skipped".
SessionResult run_session(const SessionOptions& options, const MakeTarget& make_target);

// Writes the counts per function as JSON. False, with a line on stderr, when the file cannot be written.
bool write_ledger(const std::string& path, const SessionResult& result);

// All family files under the paths, sorted. Errors name the path. Whole JSON that lies in a folder without cases and
// without their bytes (an index, a table of instructions) is no family: `passed_over` counts such files.
Result<std::vector<std::string>> find_families(const std::vector<std::string>& paths, int* passed_over = nullptr);

}  // namespace softtpu::golden
