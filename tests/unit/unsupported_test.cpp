// Every function of another chip, and every one that nothing determines, is refused by name and changes nothing.
#include <set>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::unsupported_test {
namespace {

// Calls any function with zeros.
template <class R, class... P>
void call_with_zeros(R (*function)(P...)) {
  (void)function(P()...);
}

struct Row {
  const char* name;
  std::string reason;
  std::function<void()> call;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define OP(family, ...) ROW_##family(__VA_ARGS__)
#define ROW_bdc(...)
#define ROW_unsupported(name, lacks) {#name, "BM1684X has no " lacks ".", [] { call_with_zeros(&name); }},
#define ROW_with(name, engine, types, part, ...) ROW_unsupported(name, part)
#define ROW_undetermined(name, what) \
  {#name, "its " what " on BM1684X is neither recorded nor described.", [] { call_with_zeros(&name); }},
#include "device/isa/ops/fp8.def"
#include "device/isa/ops/move.def"
#include "device/isa/ops/sdma.def"
#include "device/isa/ops/undetermined.def"
#include "device/isa/ops/unsupported.def"
#undef OP
  };
  return all;
}

std::uint64_t checksum(TestDevice& device) {
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : device.local_bytes()) sum = sum * 31 + byte;
  return sum;
}

// Every such row of the operations table is called: none is silently ignored.
TEST(Unsupported, EachFunctionSaysWhy) {
  TestDevice device;
  std::set<std::string> called;
  const std::uint64_t before = checksum(device);
  for (const Row& row : rows()) {
    called.insert(row.name);
    const LaunchOutcome outcome = device.run(row.call);
    EXPECT_FALSE(outcome.ok) << row.name;
    EXPECT_EQ(outcome.kind, ErrorKind::kUnsupported) << row.name;
    EXPECT_EQ(outcome.text.substr(0, outcome.text.find('\n')), row.name + (": " + row.reason));
    EXPECT_EQ(outcome.commands, 0U) << row.name;
  }
  EXPECT_EQ(checksum(device), before) << "a refused call changed local memory";
  for (const OpInfo& row : all_ops()) {
    if (row.note.empty()) continue;
    EXPECT_EQ(called.erase(std::string(row.name)), 1U) << row.name << " is not called here";
  }
  EXPECT_TRUE(called.empty());
  RecordProperty("functions", static_cast<int>(rows().size()));
}

TEST(Unsupported, TheRestOfTheLaunchDoesNothing) {
  TestDevice device;
  device.expect_fault(
      [] {
        tpu_sdma_system_set(0, scalar_t{}, 1, DT_FP32);
        const dim4 shape = {1, 1, 1, 1};
        scalar_t one;
        one.f32 = 1.0F;
        tpu_bdc_fp_add_C(0, 0, one, &shape, nullptr, nullptr, DT_FP32);
      },
      "tpu_sdma_system_set: BM1684X has no SDMA engine");
}

}  // namespace
}  // namespace softtpu::unsupported_test
