// How figures are shown: one line each, as they come, and at the end what was not reached.
#pragma once

#include <benchmark/benchmark.h>

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
  Earlier earlier_;
  std::vector<std::string> missed_;
  int wanted_ = 0;
};

}  // namespace softtpu::bench
