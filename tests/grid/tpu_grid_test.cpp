// Every tpu_* function that issues commands: one valid call, and calls with one wrong argument.
#include <fmt/format.h>

#include "tests/grid/call_grid.hpp"

namespace softtpu::grid {
namespace {

const std::vector<Rule> kRules = {};

const std::vector<Legal> kLegal = {};

TEST(InvalidCalls, EachArgumentOfEachTpuFunctionIsChecked) {
  CallGrid grid({"bm1684x", tpu_functions(), kRules, kLegal});
  const Counts counts = grid.run();
  fmt::print("{} rows, {} valid, {} invalid and {} legal calls\n", counts.rows, counts.valid, counts.invalid,
             counts.legal);
  EXPECT_GT(counts.rows, 250);
}

}  // namespace
}  // namespace softtpu::grid
