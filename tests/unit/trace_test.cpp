#include "device/trace/trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::trace_test {
namespace {

TEST(Trace, WritesOneEventForEachCommand) {
  const std::string path = ::testing::TempDir() + "softtpu_trace_test_" + std::to_string(::getpid());
  TestDevice device;
  auto trace = make_trace(path);
  ASSERT_TRUE(trace) << trace.error().text;
  device.core().add_observer(*trace);
  const auto kernel = [] {
    const dim4 shape = {1, 64, 2, 16};
    tpu_bdc_fp_add(0x0, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_gdma_cpy_L2L(0xC00, 0x0, &shape, nullptr, nullptr, DT_FP32);
  };
  ASSERT_TRUE(device.run(kernel).ok);
  ASSERT_TRUE(device.run(kernel).ok);
  std::ifstream file(path);
  const auto events = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(events.is_array());
  int adds = 0;
  int copies = 0;
  for (const auto& event : events) {
    if (event["name"] == "tpu_bdc_fp_add" && event["cat"] == "BDC" && event["args"]["bytes"] == 3 * 8192) ++adds;
    if (event["name"] == "tpu_gdma_cpy_L2L" && event["cat"] == "GDMA" && event["args"]["command"] == 2) ++copies;
  }
  EXPECT_EQ(adds, 2);
  EXPECT_EQ(copies, 2);
  std::remove(path.c_str());
}

// SDMA has a track beside GDMA's, and operands of FP8 are called by their types.
TEST(Trace, ShowsSdmaAndFp8OfBm1690) {
  const std::string path = ::testing::TempDir() + "softtpu_trace_bm1690_" + std::to_string(::getpid());
  TestDevice device("bm1690");
  auto trace = make_trace(path);
  ASSERT_TRUE(trace) << trace.error().text;
  device.core().add_observer(*trace);
  const auto outcome = device.run([&] {
    const dim4 shape = {1, 64, 2, 16};
    tpu_bdc_cast(0x0, 0x400, &shape, nullptr, nullptr, DT_FP8E4M3, DT_FP8E5M2, RM_HALF_TO_EVEN);
    tpu_gdma_cpy_L2S(device.scratch(), 0x0, &shape, nullptr, nullptr, DT_FP8E4M3);
    tpu_sdma_cpy_S2S(device.scratch(4096), device.scratch(), &shape, nullptr, nullptr, DT_FP8E4M3);
    tpu_sdma_poll();
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  std::ifstream file(path);
  const auto events = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(events.is_array());
  std::map<int, std::string> tracks;
  std::map<std::string, nlohmann::json> calls;
  for (const auto& event : events) {
    if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") calls[event["name"]] = event;
  }
  const auto text = [&](const char* call, const char* operand) { return calls[call]["args"].value(operand, ""); };
  EXPECT_TRUE(text("tpu_bdc_cast", "dst").ends_with("fp8e4m3")) << text("tpu_bdc_cast", "dst");
  EXPECT_TRUE(text("tpu_bdc_cast", "src").ends_with("fp8e5m2")) << text("tpu_bdc_cast", "src");
  EXPECT_EQ(calls["tpu_bdc_cast"]["args"]["bytes"], 2 * 2048) << "one byte for each element";
  EXPECT_EQ(calls["tpu_sdma_cpy_S2S"]["cat"], "SDMA");
  EXPECT_EQ(tracks[calls["tpu_sdma_cpy_S2S"]["tid"]], "core 0 SDMA");
  EXPECT_EQ(tracks[calls["tpu_gdma_cpy_L2S"]["tid"]], "core 0 GDMA");
  std::remove(path.c_str());
}

TEST(Trace, HasAProcessForEachDeviceAndANamedTrackForTheLaunches) {
  const std::string path = ::testing::TempDir() + "softtpu_trace_devices_" + std::to_string(::getpid());
  const auto kernel = [] {
    const dim4 shape = {1, 64, 2, 16};
    tpu_bdc_fp_add(0x0, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, DT_FP32);
  };
  for (const std::uint32_t number : {0U, 1U}) {
    TestDevice device;
    auto trace = make_trace(path, number, number > 0);
    ASSERT_TRUE(trace) << trace.error().text;
    device.core().add_observer(*trace);
    ASSERT_TRUE(device.run(kernel).ok);
  }
  std::ifstream file(path);
  const auto events = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(events.is_array());
  std::map<int, std::string> devices;
  std::set<std::string> labels;
  std::map<std::pair<int, int>, std::string> tracks;
  for (const auto& event : events) {
    if (event["name"] == "process_name") devices[event["pid"]] = event["args"]["name"];
    if (event["name"] == "process_labels") labels.insert(event["args"]["labels"].get<std::string>());
    if (event["name"] == "thread_name") tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
  }
  EXPECT_EQ(labels, std::set<std::string>{TestDevice().chip().full_name()}) << "the revision of the results";
  EXPECT_EQ(devices, (std::map<int, std::string>{{1, "device 0"}, {2, "device 1"}}));
  std::multiset<std::string> used;
  for (const auto& event : events) {
    if (event["ph"] != "X") continue;
    used.insert(devices[event["pid"]] + ", " + tracks[{event["pid"], event["tid"]}]);
    if (event["name"] != "tpu_bdc_fp_add") continue;
    EXPECT_TRUE(event["args"].value("at", "").starts_with("trace_test.cpp:")) << event;
  }
  EXPECT_EQ(used, (std::multiset<std::string>{"device 0, core 0 BDC", "device 0, core 0 launch", "device 1, core 0 BDC",
                                              "device 1, core 0 launch"}));
  std::remove(path.c_str());
}

// Kernels are linked into this program: the frame of each public function has to be there, also where its body is that
// of a family.
TEST(Trace, NamesTheLineOfFunctionsThatShareABody) {
  const std::string path = ::testing::TempDir() + "softtpu_trace_lines_" + std::to_string(::getpid());
  TestDevice device;
  auto trace = make_trace(path);
  ASSERT_TRUE(trace) << trace.error().text;
  device.core().add_observer(*trace);
  const auto outcome = device.run([] {
    const dim4 shape = {1, 64, 2, 16};
    tpu_bdc_fp_add(0x0, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_load_fp32_exp_coeff(0x4000);
    tpu_bdc_load_fp32_exp_table(0x4400);
    tpu_bdc_load_fp32_log_coeff(0x4000);
    tpu_gdma_cpy_L2L(0xC00, 0x0, &shape, nullptr, nullptr, DT_FP32);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  std::ifstream file(path);
  const auto events = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(events.is_array());
  int commands = 0;
  for (const auto& event : events) {
    if (event["ph"] != "X" || !event["args"].contains("command")) continue;
    ++commands;
    EXPECT_TRUE(event["args"].value("at", "").starts_with("trace_test.cpp:")) << event;
  }
  EXPECT_GE(commands, 5);
  std::remove(path.c_str());
}

TEST(Trace, IsAWholeTextBeforeTheFirstLaunch) {
  const std::string path = ::testing::TempDir() + "softtpu_trace_empty_" + std::to_string(::getpid());
  const auto trace = make_trace(path);
  ASSERT_TRUE(trace);
  std::ifstream file(path);
  EXPECT_EQ(nlohmann::json::parse(file, nullptr, false), nlohmann::json::array());
  std::remove(path.c_str());
}

TEST(Trace, RefusesAPathThatCannotBeWritten) {
  const auto trace = make_trace("/nonexistent-folder/trace.json");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().text.find("\"/nonexistent-folder/trace.json\" cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace softtpu::trace_test
