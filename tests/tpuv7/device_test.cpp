// Devices and memory of libtpuv7_rt: what the recorded runtime answers, and what it should.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/tpuv7/rt_fixture.hpp"
#include "tpuv7/tpuv7_manager.h"

namespace softtpu::host_test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST(RtStart, NeedsADeviceBeforeStreamsAndMemory) {
  bmlib_log_set_callback(&keep_log_line);
  int device = -7;
  tpuRtStream_t stream = nullptr;
  void* pointer = &device;
  std::uint64_t bytes = 0;
  EXPECT_REFUSED(tpuRtGetDevice(&device), tpuRtErrorNoDevice, "tpuRtGetDevice", "no device is chosen");
  EXPECT_REFUSED(tpuRtStreamCreate(&stream), tpuRtErrorNoDevice, "tpuRtStreamCreate", "no device is chosen");
  EXPECT_REFUSED(tpuRtMalloc(&pointer, 16, 0), tpuRtErrorNoDevice, "tpuRtMalloc", "no device is chosen");
  EXPECT_REFUSED(tpuRtMemcpyS2D(pointer, &bytes, 8), tpuRtErrorNoDevice, "tpuRtMemcpyS2D", "no device is chosen");
  EXPECT_REFUSED(tpuRtDeviceSynchronize(), tpuRtErrorNoDevice, "tpuRtDeviceSynchronize", "no device is chosen");
  EXPECT_REFUSED(tpuRtGetAllMemory(&bytes), tpuRtErrorNoDevice, "tpuRtGetAllMemory", "no device is chosen");
  EXPECT_EQ(pointer, &device);
  EXPECT_EQ(device, -7);
  EXPECT_EQ(tpuRtKernelLoadModuleFile(SOFTTPU_TEST_RT_KERNELS, nullptr), nullptr);
  EXPECT_ONE_LINE("tpuRtKernelLoadModuleFile", "no device is chosen");
}

TEST(RtStart, InitMayBeLeftOutOrRepeated) {
  bmlib_log_set_callback(&keep_log_line);
  int device = -1;
  void* pointer = nullptr;
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  EXPECT_EQ(tpuRtMalloc(&pointer, 16, 0), tpuRtSuccess);
  EXPECT_EQ(tpuRtInit(), tpuRtSuccess);
  EXPECT_EQ(tpuRtInit(), tpuRtSuccess);
  EXPECT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
  EXPECT_EQ(tpuRtGetDevice(&device), tpuRtSuccess);
  EXPECT_EQ(device, 0);
}

TEST(RtStart, ADeviceNumberOutOfRangeIsRefused) {
  bmlib_log_set_callback(&keep_log_line);
  int count = 0;
  tpuRtDeviceProperties_t props;
  ASSERT_EQ(tpuRtGetDeviceCount(&count), tpuRtSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_REFUSED(tpuRtSetDevice(-1), tpuRtErrorInvalidValue, "tpuRtSetDevice", "device -1 is out of range (0 to 1)");
  EXPECT_REFUSED(tpuRtSetDevice(2), tpuRtErrorInvalidValue, "tpuRtSetDevice", "device 2 is out of range (0 to 1)");
  EXPECT_REFUSED(tpuRtGetDeviceProperties(&props, 5), tpuRtErrorInvalidValue, "tpuRtGetDeviceProperties",
                 "device 5 is out of range");
  EXPECT_REFUSED(tpuRtGetDeviceCount(nullptr), tpuRtErrorInvalidValue, "tpuRtGetDeviceCount", "count is NULL");
}

TEST(RtStart, VisibleDevicesAreNumberedAnew) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("SG_MAX_DEVICE_COUNT", "4", 1);
  ::setenv("TPU_VISIBLE_DEVICES", "3,1", 1);
  int count = 0;
  ASSERT_EQ(tpuRtGetDeviceCount(&count), tpuRtSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtSetDevice(2), tpuRtErrorInvalidValue, "tpuRtSetDevice", "device 2 is out of range (0 to 1)");
  ::setenv("TPU_VISIBLE_DEVICES", "4", 1);
  EXPECT_REFUSED(tpuRtSetDevice(0), tpuRtErrorInvalidValue, "tpuRtSetDevice",
                 "TPU_VISIBLE_DEVICES: device 4 is out of range (0 to 3)");
  ::setenv("TPU_VISIBLE_DEVICES", "1,1", 1);
  EXPECT_REFUSED(tpuRtGetDeviceCount(&count), tpuRtErrParam, "tpuRtGetDeviceCount", "without repetitions");
}

// Observed: CMODEL_GLOBAL_MEM_SIZE says how much memory the emulated device has.
TEST(RtStart, TheSizeOfMemoryIsAVariables) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("SOFTTPU_CHIP", "bm1690", 1);
  ::setenv("CMODEL_GLOBAL_MEM_SIZE", "17179869184", 1);
  tpuRtDeviceProperties_t props;
  ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess) << ::testing::PrintToString(take_log());
  ASSERT_EQ(tpuRtGetDeviceProperties(&props, 0), tpuRtSuccess);
  EXPECT_EQ(props.totalGlobalMem, 16ULL << 30);
}

// The recorded runtime prints a line and goes on without kernels.
TEST(RtStart, AFirmwarePathThatCannotBeLoadedIsRefused) {
  bmlib_log_set_callback(&keep_log_line);
  ::setenv("TPUKERNEL_FIRMWARE_PATH", "/nowhere.so", 1);
  EXPECT_REFUSED(tpuRtSetDevice(0), tpuRtErrorInvalidValue, "tpuRtSetDevice",
                 "TPUKERNEL_FIRMWARE_PATH: kernel module /nowhere.so: No such file or directory");
  ::unsetenv("TPUKERNEL_FIRMWARE_PATH");
  EXPECT_EQ(tpuRtSetDevice(0), tpuRtSuccess);
}

TEST_F(Rt, FreshMemoryIsZero) {
  void* const pointer = allocate(4096);
  std::vector<int> words(1024, 7);
  ASSERT_EQ(tpuRtMemcpyS2D(pointer, words.data(), 4096), tpuRtSuccess);
  void* freed = pointer;
  ASSERT_EQ(tpuRtFree(&freed, 0), tpuRtSuccess);
  ASSERT_EQ(allocate(4096), pointer);
  ASSERT_EQ(tpuRtMemcpyD2S(words.data(), pointer, 4096), tpuRtSuccess);
  EXPECT_THAT(words, Each(0));
}

TEST_F(Rt, AnotherThreadSeesTheDeviceAndMayChooseItsOwn) {
  int seen = -1, own = -1, mine = -1;
  std::thread([&] {
    EXPECT_EQ(tpuRtGetDevice(&seen), tpuRtSuccess);
    void* pointer = nullptr;
    EXPECT_EQ(tpuRtMalloc(&pointer, 16, 0), tpuRtSuccess);
    EXPECT_EQ(tpuRtSetDevice(1), tpuRtSuccess);
    EXPECT_EQ(tpuRtGetDevice(&own), tpuRtSuccess);
  }).join();
  EXPECT_EQ(tpuRtGetDevice(&mine), tpuRtSuccess);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(own, 1);
  EXPECT_EQ(mine, 0);
}

TEST_F(Rt, TellsWhatTheDeviceIs) {
  tpuRtDeviceProperties_t props;
  std::memset(&props, 0xFF, sizeof props);
  EXPECT_EQ(tpuRtGetDeviceProperties(&props, 0), tpuRtSuccess);
  EXPECT_STREQ(props.name, "1690-EMU");
  EXPECT_EQ(props.totalGlobalMem, 8ULL << 30);
  EXPECT_EQ(props.major + props.minor + props.ECCEnabled, 0);
  char name[64] = {}, uuid[2] = {'x', 'x'};
  EXPECT_EQ(tpuRtGetBoardName(0, name), tpuRtSuccess);
  EXPECT_STREQ(name, "1690-EMU");
  EXPECT_EQ(tpuRtGetUniqueId(uuid), tpuRtSuccess);
  EXPECT_STREQ(uuid, "0");
  int fd = 7, chips = 0, cores = 0;
  EXPECT_EQ(tpuRtGetFd(&fd), tpuRtSuccess);
  EXPECT_EQ(fd, -1);
  EXPECT_EQ(tpuRtGetChipCount(&chips), tpuRtSuccess);
  EXPECT_EQ(chips, 2);
  EXPECT_EQ(tpuRtGetTpuGoodNumber(0, &cores), tpuRtSuccess);
  EXPECT_EQ(cores, 8);
  tpuRt_misc_info_t misc;
  EXPECT_EQ(tpuRtGetMiscInfo(0, &misc), tpuRtSuccess);
  EXPECT_STREQ(misc.chipid, "0x2260");
  EXPECT_STREQ(misc.driver_version, SOFTTPU_VERSION);
}

TEST_F(Rt, CountsMemory) {
  std::uint64_t all = 0, free = 0, after = 0, peak = 0;
  dev_stat_t stat;
  ASSERT_EQ(tpuRtGetAllMemory(&all), tpuRtSuccess);
  ASSERT_EQ(tpuRtGetFreeMemory(&free), tpuRtSuccess);
  EXPECT_LT(free, all);  // the fixture's memory and module
  void* pointer = allocate(1 << 20);
  ASSERT_EQ(tpuRtGetFreeMemory(&after), tpuRtSuccess);
  EXPECT_EQ(free - after, 1U << 20);
  ASSERT_EQ(tpuRtGetStat(0, &stat), tpuRtSuccess);
  EXPECT_EQ(stat.Mem_total, static_cast<long long>(all));
  EXPECT_EQ(stat.Mem_used, static_cast<long long>(all - after));
  EXPECT_EQ(stat.Tpu_util, 0);
  EXPECT_EQ(tpuRtFree(&pointer, 0), tpuRtSuccess);
  ASSERT_EQ(tpuRtGetPeakMemory(&peak), tpuRtSuccess);
  EXPECT_EQ(peak, (1U << 20) + kWords * 4);
  EXPECT_EQ(tpuRtResetPeakMemory(), tpuRtSuccess);
  ASSERT_EQ(tpuRtGetPeakMemory(&peak), tpuRtSuccess);
  EXPECT_EQ(peak, kWords * 4);
}

TEST_F(Rt, MemoryComesInPagesAndIsGivenOutAgain) {
  void* one = allocate(1);
  void* page = allocate(4096);
  void* more = allocate(4097);
  void* last = allocate(16);
  const auto at = [](void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  EXPECT_EQ(at(page) - at(one), 4096U);
  EXPECT_EQ(at(more) - at(page), 4096U);
  EXPECT_EQ(at(last) - at(more), 8192U);
  void* freed = page;
  EXPECT_EQ(tpuRtFree(&freed, 1), tpuRtSuccess);
  EXPECT_EQ(freed, page) << "the variable keeps its value";
  EXPECT_EQ(allocate(100), page);
  void* instructions = nullptr;
  EXPECT_EQ(tpuRtMallocInstr(&instructions, 8, 1), tpuRtSuccess);
  EXPECT_EQ(tpuRtFreeInstr(&instructions, 0), tpuRtSuccess);
  void* media = nullptr;
  EXPECT_EQ(tpuRtMallocMedia(&media, 8), tpuRtSuccess);
  EXPECT_EQ(tpuRtFree(&media, 0), tpuRtSuccess);
}

TEST_F(Rt, ParallelNumbersOtherThanAFewAreNoted) {
  for (const int number : {0, 1, 15}) {
    void* pointer = nullptr;
    EXPECT_EQ(tpuRtMalloc(&pointer, 16, number), tpuRtSuccess);
  }
  EXPECT_THAT(take_log(), ::testing::IsEmpty());
  bmlib_log_set_level(BMLIB_LOG_WARNING);
  void* pointers[4] = {};
  EXPECT_EQ(tpuRtMalloc(pointers, 16, 4), tpuRtSuccess);
  EXPECT_ONE_LINE("tpuRtMalloc", "parallel_num 4 is neither 0, 1 nor 15");
  EXPECT_NE(pointers[0], nullptr);
  EXPECT_EQ(pointers[1], nullptr);
}

TEST_F(Rt, MemoryThatCannotBeHadOrFreedIsRefused) {
  void* pointer = nullptr;
  EXPECT_REFUSED(tpuRtMalloc(&pointer, 0, 0), tpuRtErrParam, "tpuRtMalloc", "size is 0");
  EXPECT_REFUSED(tpuRtMalloc(nullptr, 16, 0), tpuRtErrParam, "tpuRtMalloc", "devPtr is NULL");
  EXPECT_REFUSED(static_cast<unsigned>(tpuRtMalloc(&pointer, 1ULL << 40, 0)), kMemoryRefused, "tpuRtMalloc", "");
  EXPECT_EQ(pointer, nullptr);
  EXPECT_REFUSED(tpuRtFree(&pointer, 0), tpuRtErrParam, "tpuRtFree", "*devPtr is NULL");
  EXPECT_REFUSED(tpuRtFree(nullptr, 0), tpuRtErrParam, "tpuRtFree", "devPtr is NULL");
  void* inside = static_cast<char*>(memory_) + 64;
  EXPECT_REFUSED(static_cast<unsigned>(tpuRtFree(&inside, 0)), kMemoryRefused, "tpuRtFree", "is not allocated");
  void* twice = allocate(16);
  EXPECT_EQ(tpuRtFree(&twice, 0), tpuRtSuccess);
  EXPECT_REFUSED(static_cast<unsigned>(tpuRtFree(&twice, 0)), kMemoryRefused, "tpuRtFree", "is not allocated");
}

TEST_F(Rt, HostMemoryIsFreedOnce) {
  void* block = nullptr;
  void* empty = nullptr;
  ASSERT_EQ(tpuRtMallocHost(&block, 100), tpuRtSuccess);
  std::memset(block, 1, 100);
  EXPECT_EQ(tpuRtMallocHost(&empty, 0), tpuRtSuccess);
  EXPECT_EQ(tpuRtFreeHost(block), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtFreeHost(block), tpuRtErrParam, "tpuRtFreeHost", "or was freed");
  EXPECT_REFUSED(tpuRtFreeHost(&block), tpuRtErrParam, "tpuRtFreeHost", "is not from tpuRtMallocHost");
  EXPECT_REFUSED(tpuRtFreeHost(nullptr), tpuRtErrParam, "tpuRtFreeHost", "ptr is NULL");
  EXPECT_REFUSED(tpuRtMallocHost(&block, ~0ULL), tpuRtErrorMemoryAllocation, "tpuRtMallocHost",
                 "no 18446744073709551615");
  EXPECT_EQ(tpuRtFreeHost(empty), tpuRtSuccess);
}

TEST_F(Rt, CopiesMoveEveryByteAtAnyAddress) {
  const std::vector<std::uint8_t> bytes = pattern(1001, 3);
  char* const to = static_cast<char*>(memory_) + 5;
  ASSERT_EQ(tpuRtMemcpyS2D(to, bytes.data(), bytes.size()), tpuRtSuccess);
  ASSERT_EQ(tpuRtMemcpyD2D(to + 3, to, 900), tpuRtSuccess);  // overlapping
  std::vector<std::uint8_t> back(900);
  ASSERT_EQ(tpuRtMemcpyD2S(back.data(), to + 3, 900), tpuRtSuccess);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin()));
}

TEST_F(Rt, CopiesOutsideTheProgramsMemoryAreRefused) {
  std::vector<char> host(kWords * 8);
  EXPECT_REFUSED(tpuRtMemcpyS2D(memory_, host.data(), 0), tpuRtErrParam, "tpuRtMemcpyS2D", "size is 0");
  EXPECT_REFUSED(tpuRtMemcpyS2D(memory_, nullptr, 4), tpuRtErrParam, "tpuRtMemcpyS2D", "the source of 4 bytes is NULL");
  EXPECT_REFUSED(tpuRtMemcpyD2S(host.data(), nullptr, 4), tpuRtErrParam, "tpuRtMemcpyD2S", "the source of 4 bytes");
  EXPECT_REFUSED(tpuRtMemcpyS2D(memory_, host.data(), kWords * 4 + 1), tpuRtErrParam, "tpuRtMemcpyS2D",
                 "the destination");
  EXPECT_REFUSED(tpuRtMemcpyD2S(host.data(), reinterpret_cast<void*>(0x100), 4), tpuRtErrParam, "tpuRtMemcpyD2S",
                 "the source");
  EXPECT_REFUSED(tpuRtMemcpyD2D(memory_, reinterpret_cast<void*>(0x7fffffffff00), 4), tpuRtErrParam, "tpuRtMemcpyD2D",
                 "the source");
  EXPECT_REFUSED(tpuRtMemcpyD2SAsync(host.data(), memory_, kWords * 4 + 1, stream_), tpuRtErrParam,
                 "tpuRtMemcpyD2SAsync", "the source");
  EXPECT_REFUSED(tpuRtMemcpyD2DAsync(memory_, nullptr, 4, stream_), tpuRtErrParam, "tpuRtMemcpyD2DAsync", "is NULL");
  EXPECT_EQ(tpuRtStreamSynchronize(stream_), tpuRtSuccess);
}

TEST_F(Rt, WhatOnlyABoardHasIsRefusedByName) {
  int value = 0;
  char text[64];
  EXPECT_REFUSED(tpuRtGetBoardTemp(0, &value), tpuRtErrNoFeature, "tpuRtGetBoardTemp", "the board and its sensors");
  EXPECT_EQ(tpuRtGetBoardTemp(0, &value), tpuRtErrNoFeature);
  EXPECT_THAT(take_log(), ::testing::IsEmpty()) << "said once";
  EXPECT_REFUSED(tpuRtGetChipTemp(0, &value), tpuRtErrNoFeature, "tpuRtGetChipTemp", "sensors");
  EXPECT_REFUSED(tpuRtGetBoardPower(0, &value), tpuRtErrNoFeature, "tpuRtGetBoardPower", "sensors");
  EXPECT_REFUSED(tpuRtGetBoardMaxPower(0, &value), tpuRtErrNoFeature, "tpuRtGetBoardMaxPower", "sensors");
  EXPECT_REFUSED(tpuRtGetSN(0, text), tpuRtErrNoFeature, "tpuRtGetSN", "serial numbers");
  EXPECT_REFUSED(tpuRtGetChipSN(0, text), tpuRtErrNoFeature, "tpuRtGetChipSN", "serial numbers");
  EXPECT_REFUSED(tpuRtGetPcieStatus(0, &value), tpuRtErrNoFeature, "tpuRtGetPcieStatus", "slots");
}

TEST_F(Rt, ATopologyOfUnlinkedChips) {
  c2c_port_info* ports = nullptr;
  EXPECT_EQ(tpuRtSetupTopology(), tpuRtSuccess);
  EXPECT_EQ(tpuRtSetupC2C(1), tpuRtSuccess);
  EXPECT_REFUSED(tpuRtSetupC2C(2), tpuRtErrorInvalidValue, "tpuRtSetupC2C", "device 2 is out of range");
  ASSERT_EQ(tpuRtGetTopology(&ports), tpuRtSuccess);
  for (std::uint16_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ports[i].chip_num, 2U);
    EXPECT_EQ(ports[i].src_device_id, i);
    EXPECT_EQ(ports[i].dst_device_id, i);
    EXPECT_EQ(ports[i].send_port, -1);
    EXPECT_EQ(ports[i].recv_port, -1);
  }
}

}  // namespace
}  // namespace softtpu::host_test
