// Kernel modules through the SDK's interface: equal names, rebuilt files, images that cannot be loaded.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "bmlib_runtime.h"
#include "runtime/base/unique_fd.hpp"
#include "runtime/module/module_arguments.hpp"
#include "runtime/module/this_machine.hpp"
#include "tests/e2e/kernels/e2e_param.h"
#include "tests/e2e/processes.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string& logged() {
  static std::string text;
  return text;
}

void keep_log(const char*, int, const char* format, va_list args) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, args);
  logged() += text;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Modules : public testing::Test {
 protected:
  void SetUp() override {
    bmlib_log_set_callback(&keep_log);
    ASSERT_EQ(bm_dev_request(&handle_, 0), BM_SUCCESS) << logged();
    ASSERT_EQ(bm_malloc_device_byte(handle_, &mem_, 4096), BM_SUCCESS);
    folder_ = fs::temp_directory_path() / ("softtpu-modules-" + std::to_string(::getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override {
    bm_free_device(handle_, mem_);
    bm_dev_free(handle_);
    fs::remove_all(folder_);
  }

  tpu_kernel_module_t load(const fs::path& path) {
    const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle_, path.c_str());
    EXPECT_NE(module, nullptr) << logged();
    return module;
  }
  void expect_refused(const fs::path& path, const std::string& cause) {
    logged().clear();
    EXPECT_EQ(tpu_kernel_load_module_file(handle_, path.c_str()), nullptr);
    EXPECT_THAT(logged(), HasSubstr(cause));
    EXPECT_THAT(logged(), HasSubstr(path.filename().string()));
  }
  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  e2e_param_t param(int value = 0) { return {bm_mem_get_device_addr(mem_), 1, value}; }
  bm_status_t launch(tpu_kernel_function_t function) {
    e2e_param_t args = param();
    return tpu_kernel_launch(handle_, function, &args, sizeof args);
  }
  bm_status_t launch(const char* name, int value = 0) {
    e2e_param_t args = param(value);
    return tpu_kernel_launch_sync(handle_, name, &args, sizeof args);
  }
  bm_status_t launch_async(tpu_kernel_function_t function, int value = 0) {
    e2e_param_t args = param(value);
    return tpu_kernel_launch_async(handle_, function, &args, sizeof args);
  }
  int word(std::size_t index = 0) {
    std::vector<int> words(1024);
    EXPECT_EQ(bm_memcpy_d2s(handle_, words.data(), mem_), BM_SUCCESS);
    return words.at(index);
  }
  // The function `name` of the module, run; the word that it left.
  int result_of(tpu_kernel_module_t module, const char* name = "e2e_same") {
    EXPECT_EQ(launch(tpu_kernel_get_function(handle_, module, name)), BM_SUCCESS) << logged();
    return word();
  }

  bm_handle_t handle_ = nullptr;
  bm_device_mem_t mem_{};
  fs::path folder_;
};

TEST_F(Modules, WithEqualNamesStayApart) {
  const auto one = load(kSame1), two = load(kSame2);
  EXPECT_EQ(result_of(two), 2);
  EXPECT_EQ(result_of(one), 1);
  EXPECT_EQ(launch("e2e_same"), BM_SUCCESS);
  EXPECT_EQ(word(), 1) << "by name, the module that registered first counts";
  ASSERT_EQ(tpu_kernel_unload_module(handle_, one), BM_SUCCESS);
  EXPECT_EQ(launch("e2e_same"), BM_SUCCESS);
  EXPECT_EQ(word(), 2);
}

TEST_F(Modules, CanBeRebuiltUnderTheSameName) {
  const fs::path path = folder_ / "kernel.so";
  fs::copy_file(kSame1, path);
  const auto old = load(path);
  EXPECT_EQ(result_of(old), 1);
  // In place, as a copy over it does, while the old one is loaded.
  fs::copy_file(kSame2, path, fs::copy_options::overwrite_existing);
  EXPECT_EQ(result_of(old), 1);
  ASSERT_EQ(tpu_kernel_unload_module(handle_, old), BM_SUCCESS);
  const auto fresh = load(path);
  EXPECT_EQ(result_of(fresh), 2);
  fs::remove(path);
  EXPECT_EQ(result_of(fresh), 2);
}

TEST_F(Modules, ComeBackAfterTheCoreHasDied) {
  const auto kernels = load(kKernels), two = load(kSame2);
  const auto by_symbol = tpu_kernel_get_function(handle_, kernels, "e2e_by_symbol");
  EXPECT_EQ(launch("e2e_segv"), BM_ERR_FAILURE);
  EXPECT_EQ(result_of(two), 2);
  EXPECT_EQ(launch(by_symbol), BM_SUCCESS) << logged();
  EXPECT_EQ(launch("e2e_nothing"), BM_SUCCESS);
}

TEST_F(Modules, LoadFromMemory) {
  const std::string image = read_file(kSame1);
  const auto module = tpu_kernel_load_module(handle_, image.data(), image.size());
  ASSERT_NE(module, nullptr) << logged();
  EXPECT_EQ(result_of(module), 1);
}

TEST_F(Modules, MeanTheirOwnFunctions) {
  if (kSanitized) GTEST_SKIP();
  const auto module = load(kKernels);
  EXPECT_EQ(result_of(module, "e2e_own_name"), 4711);
}

TEST_F(Modules, UnloadedWhileLaunchesWaitRunThemFirst) {
  const auto module = load(kKernels);
  const auto append = tpu_kernel_get_function(handle_, module, "e2e_append");
  const auto sleep = tpu_kernel_get_function(handle_, module, "e2e_sleep");
  ASSERT_EQ(launch_async(sleep, 50), BM_SUCCESS);
  ASSERT_EQ(launch_async(append, 7), BM_SUCCESS);
  ASSERT_EQ(tpu_kernel_unload_module(handle_, module), BM_SUCCESS);
  EXPECT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS) << logged();
  EXPECT_EQ(word(0), 1);
  EXPECT_EQ(word(1), 7);
  EXPECT_NE(launch(append), BM_SUCCESS);
}

// A kernel that reads more than it was given breaks rules that have nothing to do with the cause.
TEST_F(Modules, SayThatTheLaunchPassedFewerBytesThanTheKernelReads) {
  const tpu_kernel_module_t module = load(kKernels);
  const tpu_kernel_function_t function = tpu_kernel_get_function(handle_, module, "e2e_shape");
  e2e_param_t args = param();
  args.count = 0;
  logged().clear();
  EXPECT_EQ(tpu_kernel_launch(handle_, function, &args, sizeof args), BM_ERR_FAILURE);
  EXPECT_THAT(logged(), testing::Not(HasSubstr("bytes of arguments"))) << "the size was right";
  logged().clear();
  EXPECT_EQ(tpu_kernel_launch(handle_, function, &args, 8), BM_ERR_FAILURE);
  EXPECT_THAT(logged(), HasSubstr("The launch passed 8 bytes of arguments; the kernel's e2e_param_t has 16"));
}

// What makes a launch fail decides what is read then.
TEST_F(Modules, DamagedDebugInformationSaysNothing) {
  const std::string good = read_file(kKernels);
  const auto arguments_of = [&](const std::string& bytes) {
    const fs::path file = write("damaged.so", bytes);
    const UniqueFd image(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    return find_arguments(image.get(), "e2e_fill");
  };
  const auto found = arguments_of(good);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->type, "e2e_param_t");
  EXPECT_EQ(found->bytes, sizeof(e2e_param_t));
  std::mt19937 random(7);
  int different = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = good;
    for (int i = 0; i < 30; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 4 == 0) damaged.resize(random() % damaged.size());
    const auto other = arguments_of(damaged);
    different += !other || other->bytes != found->bytes ? 1 : 0;
  }
  EXPECT_GT(different, 100) << "the damage reaches what is read";
}

TEST_F(Modules, ThatCannotBeLoadedSayWhy) {
  const std::string good = read_file(kSame1);
  expect_refused(folder_ / "missing.so", "No such file");
  expect_refused(folder_, "not a regular file");
  expect_refused(write("empty.so", ""), "not an ELF file (0 bytes)");
  expect_refused(write("text.so", "int main() { return 0; }"), "not an ELF file");
  expect_refused(write("short.so", good.substr(0, 40)), "truncated (40 bytes)");
  expect_refused(write("half.so", good.substr(0, good.size() / 2)), "");
  const bool on_arm = kThisMachine == EM_AARCH64;
  std::string foreign = good;
  foreign[18] = static_cast<char>(EM_RISCV);  // e_machine
  foreign[19] = 0;
  expect_refused(write("foreign.so", foreign),
                 on_arm ? "built for RISC-V, this machine is AArch64" : "built for RISC-V, this machine is x86-64");
  std::string object = good;
  object[16] = 1;  // e_type: relocatable
  expect_refused(write("object.so", object), "object file");
  expect_refused(kUnresolved, "undefined symbol: e2e_nobody_has_this.");
  EXPECT_THAT(logged(), testing::Not(HasSubstr("Bad file descriptor")));
  expect_refused(kDiesLoading, "was ended by signal 6");
  EXPECT_EQ(result_of(load(kSame1)), 1) << "the device serves on";
}

TEST_F(Modules, KernelsOfTheRiscVModeAreRefusedAtLoad) {
  expect_refused(kNeedsRvt, "it needs rvt_abs, a function of the RISC-V mode of SG2260E and its relatives");
}

// A damaged image must be refused, or load, or end the core; the device serves on in each case.
TEST_F(Modules, DamagedImagesHurtNobody) {
  const std::string good = read_file(kSame1);
  unsigned random = 1;
  for (int i = 0; i < 60; ++i) {
    std::string bad = good;
    for (int flips = 0; flips < 8; ++flips) {
      random = random * 1103515245 + 12345;
      bad[(random >> 8) % 1024] = static_cast<char>(random >> 20);
    }
    const auto module = tpu_kernel_load_module(handle_, bad.data(), bad.size());
    if (module != nullptr) tpu_kernel_unload_module(handle_, module);
  }
  EXPECT_EQ(result_of(load(kSame2)), 2) << logged();
}

// ---- The order of launches ----

TEST_F(Modules, AsyncLaunchesOfAHandleRunInOrder) {
  const auto append = tpu_kernel_get_function(handle_, load(kKernels), "e2e_append");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(launch_async(append, i), BM_SUCCESS);
  ASSERT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS) << logged();
  ASSERT_EQ(word(0), 1000);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(word(1 + i), static_cast<int>(i));
}

TEST_F(Modules, SyncGivesTheFirstFailureSinceTheLastOne) {
  const auto module = load(kKernels);
  const auto append = tpu_kernel_get_function(handle_, module, "e2e_append");
  ASSERT_EQ(launch_async(append, 1), BM_SUCCESS);
  ASSERT_EQ(launch_async(tpu_kernel_get_function(handle_, module, "e2e_segv")), BM_SUCCESS);
  ASSERT_EQ(launch_async(append, 2), BM_SUCCESS);
  ASSERT_EQ(launch_async(tpu_kernel_get_function(handle_, module, "e2e_abort")), BM_SUCCESS);
  ASSERT_EQ(launch_async(append, 3), BM_SUCCESS);
  logged().clear();
  EXPECT_EQ(tpu_kernel_sync(handle_), BM_ERR_FAILURE);
  EXPECT_THAT(logged(), HasSubstr("e2e_segv"));
  EXPECT_THAT(logged(), testing::Not(HasSubstr("e2e_abort")));
  EXPECT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS) << "reported once";
  EXPECT_EQ(word(0), 3) << "the launches after a failure run";
  EXPECT_EQ(word(3), 3);
}

TEST_F(Modules, AnotherHandleDoesNotWaitForAQueue) {
  const auto sleep = tpu_kernel_get_function(handle_, load(kKernels), "e2e_sleep");
  bm_handle_t other = nullptr;
  ASSERT_EQ(bm_dev_request(&other, 0), BM_SUCCESS);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(launch_async(sleep, 20), BM_SUCCESS);  // two seconds of work
  const auto start = std::chrono::steady_clock::now();
  e2e_param_t args = param(5);
  EXPECT_EQ(tpu_kernel_launch_sync(other, "e2e_append", &args, sizeof args), BM_SUCCESS);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1000));
  EXPECT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
  bm_dev_free(other);
}

TEST_F(Modules, TheSyncTimeoutEndsAKernelThatIssuesCommandsForEver) {
  const auto busy = tpu_kernel_get_function(handle_, load(kKernels), "e2e_busy");
  ASSERT_EQ(bm_set_sync_timeout(handle_, 1000), BM_SUCCESS);
  e2e_param_t args = param(1000);
  EXPECT_EQ(tpu_kernel_launch(handle_, busy, &args, sizeof args), BM_ERR_TIMEOUT) << logged();
}

}  // namespace
}  // namespace softtpu::e2e
