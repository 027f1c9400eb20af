// Dynamic parts walked by a chip's firmware: a library named by the program, and what goes wrong in it.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/module/emulator.hpp"
#include "runtime/module/this_machine.hpp"
#include "softtpu/networks.h"
#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

using testing::HasSubstr;

class FirmwareNetworks : public Networks {
 protected:
  static constexpr int kColumns = 300;
  bool load_with(const char* firmware, const std::string& name) {
    EXPECT_TRUE(softtpu_bmrt_use_firmware(runtime_, firmware));
    return bmrt_load_bmodel(runtime_, made(name).c_str());
  }
  static std::vector<float> numbers(int rows) {
    std::vector<float> all(static_cast<std::size_t>(rows) * kColumns);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i) / 8 - 20;
    return all;
  }
  // The output and its rows; none: the launch failed.
  std::vector<float> run_rows(int rows) {
    std::vector<float> in = numbers(rows);
    std::vector<float> out(std::size_t{3} * kColumns, -1);
    void* from = in.data();
    void* to = out.data();
    bm_shape_t shape{2, {rows, kColumns}};
    bm_shape_t given{};
    if (!bmrt_launch_data(runtime_, "walked", &from, &shape, 1, &to, &given, 1, true)) return {};
    EXPECT_EQ(given.num_dims, 2);
    EXPECT_EQ(given.dims[0], rows);
    EXPECT_EQ(given.dims[1], kColumns);
    out.resize(in.size());
    return out;
  }
  static std::vector<float> expected(int rows) {
    std::vector<float> all = numbers(rows);
    for (float& one : all) one = (one + 1.5F) * 2;
    return all;
  }
  // A launch that loops ends after so many milliseconds, with the kernel's name.
  void expect_the_watchdog(const char* library, const char* network, int timeout) {
    ASSERT_TRUE(load_with(library, network)) << log();
    ASSERT_EQ(bm_set_sync_timeout(handle_, timeout), BM_SUCCESS);
    take_log();
    EXPECT_TRUE(run_rows(3).empty());
    EXPECT_THAT(log(), HasSubstr("sg_api_dynamic_fullnet"));
    ASSERT_EQ(bm_set_sync_timeout(handle_, 60000), BM_SUCCESS);
  }
  // In another runtime of the same device.
  void expect_a_good_launch(const char* library, const char* network) {
    void* other = bmrt_create(handle_);
    std::swap(runtime_, other);
    EXPECT_TRUE(load_with(library, network)) << log();
    EXPECT_EQ(run_rows(2), expected(2)) << log();
    std::swap(runtime_, other);
    bmrt_destroy(other);
  }
  // All lines of the log.
  std::string log() {
    std::string all;
    for (const std::string& line : take_log()) all += line;
    return all;
  }
};

TEST_F(FirmwareNetworks, ALibraryWalksTheLayersWithTheShapesOfTheLaunch) {
  ASSERT_TRUE(load_with(SOFTTPU_TEST_FIRMWARE, "walked")) << log();
  for (const int rows : {3, 1, 2}) EXPECT_EQ(run_rows(rows), expected(rows)) << rows << log();
}

TEST_F(FirmwareNetworks, WithoutOneTheLaunchIsRefusedWithWhatHelps) {
  ASSERT_TRUE(load_with("", "walked"));
  take_log();
  EXPECT_TRUE(run_rows(3).empty());
  const std::string text = log();
  EXPECT_THAT(text, HasSubstr("part 0 needs the chip's firmware"));
  EXPECT_THAT(text, HasSubstr("a layer of type 20001"));
  EXPECT_THAT(text, HasSubstr("--firmware LIBRARY or SOFTTPU_FIRMWARE"));
}

TEST_F(FirmwareNetworks, LayersOfSofttpuNeedNone) {
  ASSERT_TRUE(softtpu_bmrt_use_firmware(runtime_, "none"));
  load(std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic/topk_F16.bmodel");
}

TEST_F(FirmwareNetworks, ALibraryThatCannotBeUsedFailsTheLoad) {
  for (const auto& [library, text] :
       {std::pair("/nowhere/firmware.so", "/nowhere/firmware.so"),
        std::pair(SOFTTPU_TEST_CIPHER, "sg_api_dynamic_fullnet"), std::pair("/etc/passwd", "not an ELF file")}) {
    take_log();
    EXPECT_FALSE(load_with(library, "walked"));
    EXPECT_THAT(log(), HasSubstr(text));
    EXPECT_EQ(bmrt_get_network_number(runtime_), 0);
  }
}

// Each fails the launch with its reason, and a later launch runs.
class FailingFirmware : public FirmwareNetworks,
                        public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(FailingFirmware, FailsTheLaunchAlone) {
  const auto& [name, text] = GetParam();
  ASSERT_TRUE(load_with(SOFTTPU_TEST_FIRMWARE, name)) << log();
  take_log();
  EXPECT_TRUE(run_rows(3).empty());
  EXPECT_THAT(log(), HasSubstr(text));
  expect_a_good_launch(SOFTTPU_TEST_FIRMWARE, "walked");
}

INSTANTIATE_TEST_SUITE_P(
    Networks, FailingFirmware,
    testing::Values(std::pair("walked_exit", "255"),
                    std::pair("walked_refused",
                              "tpu_cal_store_mode: its answer on BM1684X is neither recorded nor described"),
                    std::pair("walked_silent", "has given output \"y\" no shape"),
                    std::pair("walked_bad_pointer", "signal 11"),
                    std::pair("walked_too_large", "a shape that it cannot have: [1048576, 300]")),
    [](const auto& test) { return std::string(test.param.first); });

// The watchdog ends it, and a later launch runs.
TEST_F(FirmwareNetworks, ALibraryThatLoopsIsEnded) {
  ASSERT_NO_FATAL_FAILURE(expect_the_watchdog(SOFTTPU_TEST_FIRMWARE, "walked_loops", 300));
  expect_a_good_launch(SOFTTPU_TEST_FIRMWARE, "walked");
}

// Firmware in the file itself, for the chips' processor: on another machine qemu-user runs it.
class FirmwareInside : public FirmwareNetworks {
 protected:
  void SetUp() override {
    FirmwareNetworks::SetUp();
    if (!std::filesystem::exists(made("walked_inside")))
      GTEST_SKIP() << "there is no compiler for the chips' processor";
    if (const auto emulator = find_emulator(); kThisMachine != EM_AARCH64 && !emulator)
      GTEST_SKIP() << emulator.error().text;
  }
};

TEST_F(FirmwareInside, WalksTheLayersThatSofttpuLacks) {
  ASSERT_TRUE(load_with("", "walked_inside")) << log();
  for (const int rows : {3, 1, 2}) EXPECT_EQ(run_rows(rows), expected(rows)) << rows << log();
}

TEST_F(FirmwareInside, IsLeftAloneWhereItIsNotWanted) {
  ASSERT_TRUE(load_with("none", "walked_inside")) << log();
  take_log();
  EXPECT_TRUE(run_rows(3).empty());
  EXPECT_THAT(log(), HasSubstr("firmware is not used"));
}

TEST_F(FirmwareInside, FailsItsLaunchesAlone) {
  for (const auto& [name, text] :
       {std::pair("walked_exit_inside", "status 255"),
        std::pair("walked_refused_inside",
                  "[tpu_cal_store_mode]: its answer on BM1684X is neither recorded nor described"),
        std::pair("walked_silent_inside", "has given output \"y\" no shape"),
        std::pair("walked_bad_pointer_inside", "signal 11")}) {
    void* other = bmrt_create(handle_);
    std::swap(runtime_, other);
    EXPECT_TRUE(load_with("file", name)) << log();
    take_log();
    EXPECT_TRUE(run_rows(3).empty()) << name;
    EXPECT_THAT(log(), HasSubstr(text));
    std::swap(runtime_, other);
    bmrt_destroy(other);
  }
  EXPECT_TRUE(load_with("", "walked_inside")) << log();
  EXPECT_EQ(run_rows(2), expected(2)) << log();
}

TEST_F(FirmwareInside, ThatLoopsIsEnded) {
  ASSERT_NO_FATAL_FAILURE(expect_the_watchdog("file", "walked_loops_inside", 1000));
  expect_a_good_launch("", "walked_inside");
}

// A kernel whose launch is looked after ends the firmware's process, which the next launch starts again.
TEST_F(FirmwareInside, OtherKernelsRunInBetween) {
  ASSERT_TRUE(load_with("", "walked_inside")) << log();
  void* other = bmrt_create(handle_);
  std::swap(runtime_, other);
  ASSERT_TRUE(load_with(SOFTTPU_TEST_FIRMWARE, "walked")) << log();
  std::swap(runtime_, other);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_rows(1), expected(1)) << log();
    std::swap(runtime_, other);
    EXPECT_EQ(run_rows(2), expected(2)) << log();
    std::swap(runtime_, other);
  }
  bmrt_destroy(other);
}

TEST_F(FirmwareInside, ADamagedModuleIsRefusedOrFails) {
  Bytes file = read_file(made("walked_inside"));
  const Bytes mark{0x7f, 'E', 'L', 'F'};
  const auto at =
      static_cast<std::size_t>(std::search(file.begin(), file.end(), mark.begin(), mark.end()) - file.begin());
  ASSERT_LT(at, file.size());
  // The machine, the table of segments, and pieces of the tables behind it.
  for (const std::size_t place : {std::size_t{18}, std::size_t{32}, std::size_t{0x300}, std::size_t{0x800}}) {
    Bytes bad = file;
    for (std::size_t i = 0; i < 8 && at + place + i < bad.size(); ++i) bad[at + place + i] ^= 0xff;
    void* other = bmrt_create(handle_);
    std::swap(runtime_, other);
    EXPECT_TRUE(bmrt_load_bmodel_data(runtime_, bad.data(), bad.size()));
    const auto got = run_rows(1);
    EXPECT_TRUE(got.empty() || got == expected(1)) << place;
    take_log();
    std::swap(runtime_, other);
    bmrt_destroy(other);
  }
}

}  // namespace
}  // namespace softtpu::host_test
