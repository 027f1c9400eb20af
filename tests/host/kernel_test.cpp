// Modules, launches, waiting, and what a program sees of a kernel that fails.
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/host/host_fixture.hpp"

extern "C" bm_status_t launch_async_by_id_from_c(bm_handle_t handle, tpu_kernel_function_t function, void* args,
                                                 unsigned size);
extern "C" bm_status_t launch_async_by_name_from_c(bm_handle_t handle, const char* name, void* args, unsigned size);

namespace softtpu::host_test {
namespace {

struct Param {
  unsigned long long address = 0;
  int count = 0;
  int value = 0;
};

class Kernels : public Host {
 protected:
  void SetUp() override {
    Host::SetUp();
    module_ = tpu_kernel_load_module_file(handle_, SOFTTPU_TEST_KERNELS);
    ASSERT_NE(module_, nullptr) << ::testing::PrintToString(take_log());
    mem_ = upload(std::vector<std::uint8_t>(kWords * 4, 0));
    param_.address = bm_mem_get_device_addr(mem_);
  }
  void TearDown() override {
    bm_free_device(handle_, mem_);
    EXPECT_EQ(tpu_kernel_free_module(handle_, module_), BM_SUCCESS);
    Host::TearDown();
  }

  tpu_kernel_function_t find(const char* name) { return tpu_kernel_get_function(handle_, module_, name); }
  std::vector<int> words() {
    std::vector<int> result(kWords);
    EXPECT_EQ(bm_memcpy_d2s(handle_, result.data(), mem_), BM_SUCCESS);
    return result;
  }
  Param* args(int count, int value) {
    param_.count = count;
    param_.value = value;
    return &param_;
  }

  static constexpr unsigned kWords = 256, kSize = sizeof(Param);
  tpu_kernel_module_t module_ = nullptr;
  bm_device_mem_t mem_{};
  Param param_;
};

TEST_F(Kernels, RunByNumber) {
  const tpu_kernel_function_t function = find("write_kernel"), with_int = find("write_kernel_int");
  EXPECT_GT(function, 0);
  EXPECT_GT(with_int, 0);
  EXPECT_EQ(find("write_kernel"), function);
  ASSERT_EQ(tpu_kernel_launch(handle_, function, args(3, 10), kSize), BM_SUCCESS);
  EXPECT_EQ(words()[2], 12);
  ASSERT_EQ(tpu_kernel_launch(handle_, with_int, args(3, 20), kSize), BM_SUCCESS);
  EXPECT_EQ(words()[2], 22);
  ASSERT_EQ(tpu_kernel_launch_from_core(handle_, function, args(3, 30), kSize, 0), BM_SUCCESS);
  EXPECT_EQ(words()[2], 32);
  const tpu_kernel_function_t same = tpu_kernel_get_function_from_core(handle_, module_, "write_kernel", 0);
  ASSERT_EQ(tpu_kernel_launch_async(handle_, same, args(3, 40), kSize), BM_SUCCESS);
  ASSERT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
  EXPECT_EQ(words()[2], 42);
  ASSERT_EQ(tpu_kernel_launch_async_from_core(handle_, same, args(3, 50), kSize, 0), BM_SUCCESS);
  ASSERT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
  EXPECT_EQ(words()[2], 52);
  tpu_launch_param_t list[2] = {{0, same, args(3, 60), kSize}, {0, find("without_args"), nullptr, 0}};
  ASSERT_EQ(tpu_kernel_launch_async_multicores(handle_, list, 2), BM_SUCCESS);
  ASSERT_EQ(bm_device_sync(handle_), BM_SUCCESS);
  EXPECT_EQ(words()[2], 62);
}

TEST_F(Kernels, RunByNameInEveryForm) {
  int value = 0;
  const auto check = [&](bm_status_t status) {
    EXPECT_EQ(status, BM_SUCCESS);
    EXPECT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
    EXPECT_EQ(words()[1], value + 1);
    value += 10;
  };
  const char* const name = "write_kernel";
  const int cores[] = {0};
  check(tpu_kernel_launch_sync(handle_, name, args(2, value), kSize));
  check(okkernel_launch_sync(handle_, name, args(2, value), kSize));
  check(okkernel_launch_async(handle_, name, args(2, value), kSize));
  check(tpu_kernel_launch_async(handle_, name, args(2, value), kSize));
  check(tpu_kernel_launch_async(handle_, find(name), args(2, value), kSize));
  check(launch_async_by_name_from_c(handle_, name, args(2, value), kSize));
  check(launch_async_by_id_from_c(handle_, find(name), args(2, value), kSize));
  check(tpu_kernel_launch_async_multi_cores(handle_, name, args(2, value), kSize, cores, 1));
  check(tpu_kernel_launch_sync_multi_cores(handle_, name, args(2, value), kSize, cores, 1));
  EXPECT_EQ(okkernel_sync(handle_), BM_SUCCESS);
}

TEST_F(Kernels, ExportedFunctionsNeedNoRegistration) {
  ASSERT_EQ(tpu_kernel_launch(handle_, find("exported_not_registered"), args(2, 70), kSize), BM_SUCCESS);
  EXPECT_EQ(words()[1], 71);
}

TEST_F(Kernels, ModulesLoadFromMemory) {
  std::ifstream file(SOFTTPU_TEST_KERNELS, std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  const tpu_kernel_module_t module = tpu_kernel_load_module(handle_, image.data(), image.size());
  ASSERT_NE(module, nullptr) << ::testing::PrintToString(take_log());
  EXPECT_EQ(std::memcmp(module->md5, module_->md5, MD5SUM_LEN), 0) << "the same bytes";
  EXPECT_STREQ(module_->lib_name, "host_test_kernels.so");
  ASSERT_EQ(tpu_kernel_launch(handle_, tpu_kernel_get_function(handle_, module, "write_kernel"), args(2, 5), kSize),
            BM_SUCCESS);
  EXPECT_EQ(words()[1], 6);
  EXPECT_EQ(tpu_kernel_unload_module_from_core(handle_, module, 0), BM_SUCCESS);
  EXPECT_REFUSED(tpu_kernel_unload_module(handle_, module), BM_ERR_PARAM, "tpu_kernel_unload_module",
                 "unloaded already");
  EXPECT_EQ(tpu_kernel_free_module(handle_, module), BM_SUCCESS);
  EXPECT_REFUSED(tpu_kernel_free_module(handle_, module), BM_ERR_PARAM, "tpu_kernel_free_module",
                 "freed or never loaded");
  for (const auto load : {tpu_kernel_load_module_file_to_core(handle_, SOFTTPU_TEST_KERNELS, 0),
                          tpu_kernel_load_module_file_key(handle_, SOFTTPU_TEST_KERNELS, nullptr, 0),
                          tpu_kernel_load_module_to_core(handle_, image.data(), image.size(), 0)}) {
    ASSERT_NE(load, nullptr);
    EXPECT_EQ(tpu_kernel_free_module(handle_, load), BM_SUCCESS);
  }
}

TEST_F(Kernels, AsynchronousLaunchesOfOneHandleRunInOrder) {
  for (int i = 1; i <= 20; ++i) {
    const char* const name = i % 5 == 0 ? "slow_append_kernel" : "append_kernel";
    ASSERT_EQ(okkernel_launch_async(handle_, name, args(20, i), kSize), BM_SUCCESS);
  }
  ASSERT_EQ(bm_handle_sync(handle_), BM_SUCCESS);
  const std::vector<int> result = words();
  ASSERT_EQ(result[0], 20);
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(result[static_cast<unsigned>(i)], i);
  unsigned long last_us = 1UL << 40;
  EXPECT_EQ(bm_get_last_api_process_time_us(handle_, &last_us), BM_SUCCESS);
  EXPECT_LT(last_us, 60000000UL);
  bm_profile_t profile;
  EXPECT_EQ(bm_get_profile(handle_, &profile), BM_SUCCESS);
  EXPECT_GE(profile.sent_api_counter, 20UL);
  EXPECT_EQ(profile.sent_api_counter, profile.completed_api_counter);
  bm_flush(handle_);
}

// Lengths around what a core is given ahead, and around what the device takes before it lets the program wait.
TEST_F(Kernels, QueuesOfAnyLengthEndWithTheirSync) {
  const tpu_kernel_function_t count = find("count_kernel"), fails = find("assert_kernel");
  int runs = 0;
  for (const int length : {1, 2, 3, 127, 128, 129, 255, 256, 257, 600, 1025, 8193}) {
    for (int i = 0; i < length; ++i) ASSERT_EQ(tpu_kernel_launch_async(handle_, count, args(0, 0), kSize), BM_SUCCESS);
    ASSERT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
    ASSERT_EQ(words()[0], runs += length);
    if (length > 1025) continue;
    for (int i = 0; i < length; ++i)
      ASSERT_EQ(tpu_kernel_launch_async(handle_, i == length / 2 ? fails : count, args(0, 0), kSize), BM_SUCCESS);
    ASSERT_EQ(tpu_kernel_sync(handle_), BM_ERR_FAILURE);
    ASSERT_EQ(words()[0], runs += length - 1);
    ASSERT_EQ(tpu_kernel_launch(handle_, count, args(0, 0), kSize), BM_SUCCESS);
    ASSERT_EQ(words()[0], ++runs);
  }
  std::ignore = take_log();
}

// Each thread has a stream of its own: each sync, and each launch that is waited for, ends beside the others' queues.
TEST_F(Kernels, QueuesOfSeveralThreadsEndWithTheirSyncs) {
  const tpu_kernel_function_t nothing = find("without_args");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, nothing, thread] {
      for (int round = 0; round < 12; ++round) {
        const int length = (round * 137 + thread * 101) % 700 + 1;
        for (int i = 0; i < length; ++i) EXPECT_EQ(tpu_kernel_launch_async(handle_, nothing, nullptr, 0), BM_SUCCESS);
        if (round % 3 == thread % 3) {
          EXPECT_EQ(tpu_kernel_launch(handle_, nothing, nullptr, 0), BM_SUCCESS);
        }
        EXPECT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bm_device_sync(handle_), BM_SUCCESS);
  bm_profile_t profile;
  ASSERT_EQ(bm_get_profile(handle_, &profile), BM_SUCCESS);
  EXPECT_EQ(profile.sent_api_counter, profile.completed_api_counter);
}

// The kernel issues no commands, so that its time on the chip is that of the launch alone.
TEST(EstimatedTime, IsWhatTheProgramIsToldInsteadOfTheHostsTime) {
  setenv("SOFTTPU_TIME", "on", 1);
  bm_handle_t handle = nullptr;
  ASSERT_EQ(bm_dev_request(&handle, 0), BM_SUCCESS);
  ASSERT_NE(tpu_kernel_load_module_file(handle, SOFTTPU_TEST_KERNELS), nullptr);
  Param param;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(okkernel_launch_async(handle, "without_args", &param, sizeof param), BM_SUCCESS);
  }
  ASSERT_EQ(bm_handle_sync(handle), BM_SUCCESS);
  unsigned long last_us = 0;
  EXPECT_EQ(bm_get_last_api_process_time_us(handle, &last_us), BM_SUCCESS);
  EXPECT_EQ(last_us, 30UL);
  bm_profile_t profile;
  EXPECT_EQ(bm_get_profile(handle, &profile), BM_SUCCESS);
  EXPECT_EQ(profile.tpu_process_time, 90UL);
  bm_dev_free(handle);
}

TEST_F(Kernels, ThreadSyncWaitsForItsOwnThreadOnly) {
  ASSERT_EQ(okkernel_launch_async(handle_, "slow_append_kernel", args(300, 1), kSize), BM_SUCCESS);
  std::thread([this] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(150));
  }).join();
  EXPECT_EQ(bm_thread_sync_from_core(handle_, 0), BM_SUCCESS);
  EXPECT_EQ(words()[0], 1);
  EXPECT_EQ(bm_handle_sync_from_core(handle_, 0), BM_SUCCESS);
}

TEST_F(Kernels, FailuresAreReportedAndTheDeviceGoesOn) {
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "assert_kernel", nullptr, 0), BM_ERR_FAILURE, "okkernel_launch_sync",
                 "1 + 1 == 3");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "fault_kernel", nullptr, 0), BM_ERR_FAILURE, "okkernel_launch_sync",
                 "tpu_bdc_fp_add: shape.c (0) is outside");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "unsupported_kernel", nullptr, 0), BM_NOT_SUPPORTED,
                 "okkernel_launch_sync", "tpu_sync_all_sdma: BM1684X has no SDMA engine");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "crash_kernel", nullptr, 0), BM_ERR_FAILURE, "okkernel_launch_sync",
                 "crash_kernel");
  ASSERT_EQ(tpu_kernel_launch_sync(handle_, "write_kernel", args(2, 1), kSize), BM_SUCCESS) << "after a crash";
  EXPECT_EQ(words()[1], 2) << "memory is as it was";
}

TEST_F(Kernels, SyncReturnsTheFirstFailureSinceTheLast) {
  ASSERT_EQ(okkernel_launch_async(handle_, "append_kernel", args(0, 1), kSize), BM_SUCCESS);
  ASSERT_EQ(okkernel_launch_async(handle_, "assert_kernel", nullptr, 0), BM_SUCCESS);
  ASSERT_EQ(okkernel_launch_async(handle_, "fault_kernel", nullptr, 0), BM_SUCCESS);
  ASSERT_EQ(okkernel_launch_async(handle_, "append_kernel", args(0, 2), kSize), BM_SUCCESS);
  EXPECT_REFUSED(okkernel_sync(handle_), BM_ERR_FAILURE, "okkernel_sync", "1 + 1 == 3");
  EXPECT_EQ(okkernel_sync(handle_), BM_SUCCESS) << "reported once";
  EXPECT_EQ(words()[0], 2) << "launches after a failed one run";
}

TEST_F(Kernels, AHangingKernelIsEnded) {
  ASSERT_EQ(bm_set_sync_timeout(handle_, 300), BM_SUCCESS);
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "hang_kernel", nullptr, 0), BM_ERR_TIMEOUT, "okkernel_launch_sync",
                 "hang_kernel");
  ASSERT_EQ(tpu_kernel_launch_sync(handle_, "write_kernel", args(2, 1), kSize), BM_SUCCESS);
  EXPECT_REFUSED(bm_set_sync_timeout(handle_, -1), BM_ERR_PARAM, "bm_set_sync_timeout", "timeout -1 ms is negative");
}

TEST_F(Kernels, ArgumentBlocksHaveTheMeasuredLimits) {
  const std::string name64(64, 'n'), name65(65, 'n');
  std::vector<char> block(4020);
  EXPECT_EQ(okkernel_launch_sync(handle_, "without_args", block.data(), 4016), BM_SUCCESS);
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "without_args", block.data(), 4020), BM_ERR_PARAM,
                 "okkernel_launch_sync", "size 4020 of the arguments is above the limit (4016 bytes)");
  EXPECT_REFUSED(tpu_kernel_launch(handle_, find("without_args"), block.data(), 4017), BM_ERR_PARAM,
                 "tpu_kernel_launch", "4017");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "without_args", block.data(), 7), BM_ERR_PARAM, "okkernel_launch_sync",
                 "not a multiple of 4");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "without_args", nullptr, 8), BM_ERR_PARAM, "okkernel_launch_sync",
                 "the arguments are NULL");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, name65.c_str(), nullptr, 0), BM_ERR_PARAM, "okkernel_launch_sync",
                 "longer than 64 characters");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, name64.c_str(), nullptr, 0), BM_ERR_FAILURE, "okkernel_launch_sync",
                 name64);
  EXPECT_REFUSED(okkernel_launch_sync(handle_, "", nullptr, 0), BM_ERR_PARAM, "okkernel_launch_sync", "name is empty");
  EXPECT_REFUSED(okkernel_launch_sync(handle_, nullptr, nullptr, 0), BM_ERR_PARAM, "okkernel_launch_sync",
                 "name is NULL");
}

TEST_F(Kernels, WrongModulesAndFunctionsAreRefused) {
  EXPECT_REFUSED(tpu_kernel_load_module_file(handle_, "/nowhere/kernels.so"), nullptr, "tpu_kernel_load_module_file",
                 "/nowhere/kernels.so");
  EXPECT_REFUSED(tpu_kernel_load_module_file(handle_, SOFTTPU_SOC_CHIP), nullptr, "tpu_kernel_load_module_file", "ELF");
  EXPECT_REFUSED(tpu_kernel_load_module_file(handle_, nullptr), nullptr, "tpu_kernel_load_module_file",
                 "module_file is NULL");
  const std::string long_name = "/tmp/" + std::string(64, 'm');
  EXPECT_REFUSED(tpu_kernel_load_module_file(handle_, long_name.c_str()), nullptr, "tpu_kernel_load_module_file",
                 "has 64 characters (at most 63)");
  EXPECT_REFUSED(tpu_kernel_load_module(handle_, nullptr, 5), nullptr, "tpu_kernel_load_module", "data is NULL");
  EXPECT_REFUSED(tpu_kernel_load_module(handle_, "x", 0), nullptr, "tpu_kernel_load_module", "length is 0");
  EXPECT_REFUSED(tpu_kernel_load_module_file_key(handle_, SOFTTPU_TEST_KERNELS, "key", 3), nullptr,
                 "tpu_kernel_load_module_file_key", "encrypted");
  EXPECT_REFUSED(find("no_such_kernel"), -1, "tpu_kernel_get_function", "no_such_kernel");
  EXPECT_REFUSED(find(nullptr), -1, "tpu_kernel_get_function", "name is NULL");
  EXPECT_REFUSED(tpu_kernel_get_function(handle_, nullptr, "write_kernel"), -1, "tpu_kernel_get_function",
                 "module is NULL");
  bm_module foreign{};
  EXPECT_REFUSED(tpu_kernel_get_function(handle_, &foreign, "write_kernel"), -1, "tpu_kernel_get_function",
                 "never loaded");
  EXPECT_REFUSED(tpu_kernel_unload_module(handle_, &foreign), BM_ERR_PARAM, "tpu_kernel_unload_module", "never loaded");
  EXPECT_REFUSED(tpu_kernel_launch(handle_, -1, nullptr, 0), BM_ERR_PARAM, "tpu_kernel_launch", "-1 is not a function");
  EXPECT_REFUSED(tpu_kernel_launch(handle_, 12345, nullptr, 0), BM_ERR_FAILURE, "tpu_kernel_launch", "12345");
  EXPECT_REFUSED(tpu_kernel_launch_async_multicores(handle_, nullptr, 1), BM_ERR_PARAM,
                 "tpu_kernel_launch_async_multicores", "param_list is NULL");
  EXPECT_REFUSED(tpu_kernel_launch_async_multi_cores(handle_, "write_kernel", nullptr, 0, nullptr, 1), BM_ERR_PARAM,
                 "tpu_kernel_launch_async_multi_cores", "core_list is NULL");
}

TEST_F(Kernels, FunctionsOfAnUnloadedModuleAreGone) {
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle_, SOFTTPU_TEST_KERNELS);
  ASSERT_NE(module, nullptr);
  const tpu_kernel_function_t function = tpu_kernel_get_function(handle_, module, "write_kernel");
  ASSERT_EQ(tpu_kernel_unload_module(handle_, module), BM_SUCCESS);
  EXPECT_REFUSED(tpu_kernel_get_function(handle_, module, "write_kernel"), -1, "tpu_kernel_get_function",
                 "the module is unloaded; load it again");
  EXPECT_REFUSED(tpu_kernel_launch(handle_, function, args(1, 1), kSize), BM_ERR_FAILURE, "tpu_kernel_launch", "");
  EXPECT_EQ(tpu_kernel_free_module(handle_, module), BM_SUCCESS);
  EXPECT_EQ(tpu_kernel_launch_sync(handle_, "write_kernel", args(1, 1), kSize), BM_SUCCESS)
      << "the other module is still there";
}

TEST_F(Kernels, LaunchAfterFreeIsRefused) {
  bm_handle_t freed = nullptr;
  ASSERT_EQ(bm_dev_request(&freed, 0), BM_SUCCESS);
  bm_dev_free(freed);
  EXPECT_REFUSED(okkernel_launch_sync(freed, "write_kernel", args(1, 1), kSize), BM_ERR_DEVNOTREADY,
                 "okkernel_launch_sync", "was freed");
}

TEST_F(Kernels, TwoDevicesRunSideBySide) {
  bm_handle_t other = nullptr;
  ASSERT_EQ(bm_dev_request(&other, 1), BM_SUCCESS);
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(other, SOFTTPU_TEST_KERNELS);
  ASSERT_NE(module, nullptr);
  EXPECT_REFUSED(tpu_kernel_get_function(handle_, module, "write_kernel"), -1, "tpu_kernel_get_function",
                 "loaded on another device");
  bm_device_mem_t mem;
  ASSERT_EQ(bm_malloc_device_byte(other, &mem, 16), BM_SUCCESS);
  Param param{bm_mem_get_device_addr(mem), 4, 500};
  ASSERT_EQ(okkernel_launch_async(other, "write_kernel", &param, kSize), BM_SUCCESS);
  ASSERT_EQ(okkernel_launch_async(handle_, "write_kernel", args(4, 100), kSize), BM_SUCCESS);
  ASSERT_EQ(bm_handle_sync(other), BM_SUCCESS);
  ASSERT_EQ(bm_handle_sync(handle_), BM_SUCCESS);
  int there[4] = {};
  ASSERT_EQ(bm_memcpy_d2s(other, there, mem), BM_SUCCESS);
  EXPECT_EQ(there[3], 503);
  EXPECT_EQ(words()[3], 103);
  bm_free_device(other, mem);
  EXPECT_EQ(tpu_kernel_free_module(other, module), BM_SUCCESS);
  bm_dev_free(other);
}

}  // namespace
}  // namespace softtpu::host_test
