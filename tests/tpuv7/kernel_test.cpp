// Modules, launches, and failures inside kernels, through libtpuv7_rt.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/tpuv7/rt_fixture.hpp"

namespace softtpu::host_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Rt, TheSameFileIsTheSameModuleAndUnloadedAsOften) {
  const tpuRtKernelModule_t again = tpuRtKernelLoadModuleFile(SOFTTPU_TEST_RT_KERNELS, nullptr);
  EXPECT_EQ(again, module_);
  EXPECT_EQ(tpuRtKernelUnloadModule(again, stream_), tpuRtSuccess);
  EXPECT_EQ(launch("append", 1), tpuRtSuccess) << "still loaded once";
  EXPECT_EQ(tpuRtKernelUnloadModuleFlag(module_, stream_, 0), tpuRtSuccess);
  EXPECT_REFUSED(launch("append", 1), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunch", "was unloaded");
  EXPECT_REFUSED(tpuRtKernelUnloadModule(module_, stream_), tpuRtErrorInvalidResourceHandle, "tpuRtKernelUnloadModule",
                 "was unloaded");
}

TEST_F(Rt, AModuleOfBytesIsThatOfTheFileWithTheSameBytes) {
  const std::string image = read(SOFTTPU_TEST_RT_KERNELS);
  EXPECT_EQ(tpuRtKernelLoadModule(image.data(), image.size(), stream_), module_);
  const tpuRtKernelModule_t other = tpuRtKernelLoadModuleFlag((image + "x").data(), image.size() + 1, stream_, 3);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, module_);
  EXPECT_EQ(other->dest, 3U);
  EXPECT_NE(std::string(reinterpret_cast<char*>(other->md5), 16),
            std::string(reinterpret_cast<char*>(module_->md5), 16));
  EXPECT_EQ(std::string(module_->lib_name), "rt_kernels.so");
  rt_param_t param = args(5);
  EXPECT_EQ(tpuRtKernelLaunch(other, "append", &param, sizeof param, 1, 1, stream_), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(5));
}

TEST_F(Rt, WhatIsNoModuleIsNotLoaded) {
  EXPECT_EQ(tpuRtKernelLoadModuleFile("/nowhere/kernel.so", stream_), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModuleFile", "/nowhere/kernel.so: No such file or directory");
  EXPECT_EQ(tpuRtKernelLoadModuleFileFlag(SOFTTPU_TEST_TEXT_FILE, stream_, 0), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModuleFileFlag", "");
  EXPECT_EQ(tpuRtKernelLoadModuleFile(nullptr, stream_), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModuleFile", "module_file is NULL");
  EXPECT_EQ(tpuRtKernelLoadModule("text", 4, stream_), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModule", "");
  EXPECT_EQ(tpuRtKernelLoadModule(nullptr, 4, stream_), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModule", "data is NULL");
  EXPECT_EQ(tpuRtKernelLoadModuleFileForCV(SOFTTPU_TEST_RT_KERNELS, stream_), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModuleFileForCV", "computer vision");
}

TEST_F(Rt, KernelsAreFoundByTheirNames) {
  EXPECT_EQ(launch("not_registered", 77), tpuRtSuccess) << "an exported C function is enough";
  EXPECT_EQ(words()[0], 77);
  EXPECT_REFUSED(launch("unknown", 1), tpuRtErrFailure, "tpuRtKernelLaunch", "unknown");
  EXPECT_REFUSED(queue("unknown", 1), tpuRtErrFailure, "tpuRtKernelLaunchAsync", "unknown");
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_REFUSED(launch(nullptr, 1), tpuRtErrParam, "tpuRtKernelLaunch", "func_name is NULL");
  EXPECT_REFUSED(launch("", 1), tpuRtErrParam, "tpuRtKernelLaunch", "func_name is empty");
  EXPECT_REFUSED(launch(std::string(200, 'k').c_str(), 1), tpuRtErrParam, "tpuRtKernelLaunch",
                 "is longer than 64 characters");
}

TEST_F(Rt, StaticVariablesLiveAsLongAsTheModule) {
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(launch("count_runs", 0), tpuRtSuccess);
    EXPECT_EQ(words()[0], i);
  }
}

TEST_F(Rt, ArgumentsAreCopiedAndMayBeLong) {
  std::vector<int> block(65536 / 4, 1);
  const auto send = [&](std::uint32_t size) {
    const rt_param_t head = args(static_cast<int>(size));
    std::memcpy(block.data(), &head, sizeof head);
    return tpuRtKernelLaunch(module_, "last_word", block.data(), size, 1, 1, stream_);
  };
  for (const std::uint32_t size : {20U, 4020U, 65536U}) {
    block[size / 4 - 1] = static_cast<int>(size) + 5;
    EXPECT_EQ(send(size), tpuRtSuccess);
    EXPECT_EQ(words()[0], static_cast<int>(size) + 5);
  }
  for (const std::uint32_t size : {3U, 6U, 50U}) {
    EXPECT_REFUSED(send(size), tpuRtErrParam, "tpuRtKernelLaunch", "is not a multiple of 4");
  }
  EXPECT_REFUSED(send(65540), tpuRtErrParam, "tpuRtKernelLaunch", "above the limit (65536 bytes)");
  EXPECT_EQ(tpuRtKernelLaunch(module_, "nothing", nullptr, 0, 1, 1, stream_), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtKernelLaunch(module_, "nothing", nullptr, 4, 1, 1, stream_), tpuRtErrParam, "tpuRtKernelLaunch",
                 "the arguments are NULL with size 4");
}

TEST_F(Rt, GroupsAndBlocksAreCounted) {
  rt_param_t param = args(1);
  const auto run = [&](std::uint64_t groups, std::uint64_t blocks) {
    return tpuRtKernelLaunch(module_, "append", &param, sizeof param, groups, blocks, stream_);
  };
  EXPECT_REFUSED(run(0, 1), tpuRtErrParam, "tpuRtKernelLaunch", "0 groups of 1 workitems");
  EXPECT_REFUSED(run(1, 0), tpuRtErrParam, "tpuRtKernelLaunch", "1 groups of 0 workitems");
  EXPECT_REFUSED(run(1ULL << 32, 1), tpuRtErrParam, "tpuRtKernelLaunch", "group_num 4294967296 is above");
  EXPECT_REFUSED(run(1, 1ULL << 40), tpuRtErrFailure, "tpuRtKernelLaunch", "has 8 cores");
  EXPECT_EQ(run(1, 1), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(1));
}

TEST_F(Rt, LaunchesOfOneRankAreOrdinaryOnes) {
  rt_param_t param = args(4);
  char uuid[] = "0";
  EXPECT_EQ(tpuRtKernelLaunchWithLock(module_, "append", &param, sizeof param, 1, stream_, 0, uuid, 0, 1),
            tpuRtSuccess);
  EXPECT_EQ(tpuRtKernelLaunchWithLockAsync(module_, "append", &param, sizeof param, 1, stream_, 0, uuid, 0, 1),
            tpuRtSuccess);
  EXPECT_EQ(tpuRtKernelLaunchCDMA(module_, "append", &param, sizeof param, 1, stream_, 0, uuid, 0, 1), tpuRtSuccess);
  EXPECT_EQ(tpuRtKernelLaunchCDMAAsync(module_, "append", &param, sizeof param, 1, stream_, 0, uuid, 0, 1),
            tpuRtSuccess);
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(4, 4, 4, 4));
  EXPECT_REFUSED(tpuRtKernelLaunchCDMA(module_, "append", &param, sizeof param, 1, stream_, 0, uuid, 0, 2),
                 tpuRtErrNoFeature, "tpuRtKernelLaunchCDMA", "links between chips");
  EXPECT_REFUSED(tpuRtKernelLaunchCVOP(module_, "append", &param, sizeof param, 1, 1, nullptr, stream_),
                 tpuRtErrNoFeature, "tpuRtKernelLaunchCVOP", "computer vision");
  EXPECT_REFUSED(tpuRtKernelLaunchCVEx(module_, "append", &param, sizeof param, 1, 1, nullptr, stream_),
                 tpuRtErrNoFeature, "tpuRtKernelLaunchCVEx", "computer vision");
}

TEST_F(Rt, HandlesThatAreNoneAreRefused) {
  rt_param_t param = args(1);
  tpuRtModule foreign{};
  const auto run = [&](tpuRtKernelModule_t module, tpuRtStream_t stream) {
    return tpuRtKernelLaunch(module, "append", &param, sizeof param, 1, 1, stream);
  };
  EXPECT_REFUSED(run(nullptr, stream_), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunch", "the module is NULL");
  EXPECT_REFUSED(run(&foreign, stream_), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunch", "never loaded");
  EXPECT_REFUSED(run(module_, nullptr), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunch", "the stream is NULL");
  EXPECT_REFUSED(run(module_, reinterpret_cast<tpuRtStream_t>(&param)), tpuRtErrorInvalidResourceHandle,
                 "tpuRtKernelLaunch", "was destroyed or never created");
}

TEST_F(Rt, AStreamOfAnotherDeviceIsRefused) {
  ASSERT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
  tpuRtStream_t other = nullptr;
  ASSERT_EQ(tpuRtStreamCreate(&other), tpuRtSuccess);
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  EXPECT_REFUSED(launch("append", 1, other), tpuRtErrorInvalidResourceHandle, "tpuRtKernelLaunch",
                 "the module is loaded on device 0, the stream belongs to device 1");
  int word = 3;
  EXPECT_REFUSED(tpuRtMemcpyS2DAsync(memory_, &word, 4, other), tpuRtErrParam, "tpuRtMemcpyS2DAsync",
                 "the destination");
  EXPECT_EQ(launch("append", 1), tpuRtSuccess) << "nothing else is disturbed";
}

// A kernel that fails ends its launch, and nothing else: the recorded runtime ends the program.
TEST_F(Rt, FailuresInKernelsAreStatuses) {
  const std::vector<std::pair<const char*, const char*>> failures = {
      {"assertion", "1 + 1 == 3"}, {"bad_argument", "tpu_bdc_fp_add"}, {"leave", "exit(7)"}, {"crash", "signal 11"}};
  for (const auto& [kernel, text] : failures) {
    EXPECT_REFUSED(launch(kernel, 7), tpuRtErrFailure, "tpuRtKernelLaunch", text);
    EXPECT_EQ(launch("append", 1), tpuRtSuccess) << kernel;
    EXPECT_EQ(queue(kernel, 7), tpuRtSuccess);
    EXPECT_REFUSED(tpuRtStreamSynchronize(stream_), tpuRtErrFailure, "tpuRtStreamSynchronize", text);
    EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess) << "reported once";
  }
  EXPECT_THAT(appended(), ElementsAre(1, 1, 1, 1));
}

TEST_F(Rt, WorksInStreamsThatItsOwnFunctionsWouldRefuse) {
  // A handle of libbmlib is a stream as well: one table holds both.
  bm_handle_t handle = nullptr;
  ASSERT_EQ(bm_dev_request(&handle, 0), BM_SUCCESS);
  EXPECT_EQ(launch("append", 6, reinterpret_cast<tpuRtStream_t>(handle)), tpuRtSuccess);
  EXPECT_THAT(appended(), ElementsAre(6));
  bm_dev_free(handle);
  EXPECT_REFUSED(launch("append", 6, reinterpret_cast<tpuRtStream_t>(handle)), tpuRtErrorInvalidResourceHandle,
                 "tpuRtKernelLaunch", "was destroyed");
}

}  // namespace
}  // namespace softtpu::host_test
