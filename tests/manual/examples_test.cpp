// Runs every kernel example of the reference as a launch of its own: it succeeds, or is refused with what the chip
// lacks.
#include <array>
#include <string>
#include <vector>

#include "tests/manual/examples.h"
#include "tests/unit/device_fixture.hpp"

namespace {
std::vector<std::string> failed_claims;  // of the example that runs
}

extern "C" void example_failed(const char* claim) { failed_claims.emplace_back(claim); }

namespace softtpu {
namespace {

constexpr std::uint64_t kStep = 0x400000;  // between operands in global memory

example_args_t arguments(const TestDevice& device) {
  example_args_t args = {};
  std::array<unsigned long long, sizeof(args) / sizeof(unsigned long long)> words = {};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = device.scratch(i * kStep);
  std::memcpy(&args, words.data(), sizeof(args));
  return args;
}

int run_all(const char* chip, const example_t* examples) {
  TestDevice device(chip);
  const example_args_t args = arguments(device);
  int count = 0;
  for (const example_t* example = examples; example->name != nullptr; ++example, ++count) {
    failed_claims.clear();
    std::memset(device.local<std::uint8_t>(0, 0), 0, device.chip().local_mem.bytes);
    const LaunchOutcome outcome = device.run([&] { example->run(&args); });
    const std::string lacks = example->lacks;
    if (lacks.empty() && device.chip().refused.contains(example->name)) {
      EXPECT_FALSE(outcome.ok) << example->name;
    } else if (lacks.empty()) {
      EXPECT_TRUE(outcome.ok) << chip << ": " << example->name << ": " << outcome.text;
    } else {
      EXPECT_NE(outcome.text.find(lacks), std::string::npos) << example->name << ": " << outcome.text;
    }
    for (const std::string& claim : failed_claims) ADD_FAILURE() << example->name << ": not true: " << claim;
  }
  return count;
}

TEST(ReferenceExamples, OfTheTpuKernelInterfaceRun) { EXPECT_GT(run_all("bm1684x", examples_tpu), 500); }
TEST(ReferenceExamples, OfFurtherChipsRun) {
#define X(chip, table) EXPECT_GT(run_all(chip, table), 300);
#include "examples_further.inc"
#undef X
}
TEST(ReferenceExamples, OfTheOkKernelInterfaceRun) { EXPECT_GT(run_all("bm1684", examples_okk), 100); }

}  // namespace
}  // namespace softtpu
