// How figures are shown: one line each, in the order of the work, when all have been measured, and at the end what was
// not reached. Until then a terminal shows how many are done.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/work.hpp"

namespace softtpu::bench {

// What an earlier run achieved, by the work's name; read from the JSON that the benchmark wrote.
using Earlier = std::map<std::string, double>;
// The figures of `path`, or a complaint.
std::string read_earlier(const std::string& path, Earlier& earlier);

class Table final : public benchmark::BenchmarkReporter {
 public:
  explicit Table(Earlier earlier) : earlier_(std::move(earlier)) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  void print(const Run& run);

  Earlier earlier_;
  std::map<std::int64_t, Run> rows_;           // by their place in the table
  std::vector<std::string> missed_, bounded_;  // bounded: by what the machine itself gains
  int wanted_ = 0;
};

}  // namespace softtpu::bench
