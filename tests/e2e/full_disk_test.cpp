// A full disk under everything that is written for people, and a module that finds no room: a message each, right
// results, and nothing half written that a reader would stumble over.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/shared_device.hpp"

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

// A file system of some pages. Without the right to mount one, these tests are skipped: /dev/full and RLIMIT_FSIZE
// (Exhausted*) show most of the same.
class FullDisk : public testing::Test {
 protected:
  static constexpr std::size_t kPages = 16;

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "softtpu-disk-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!mounted_) GTEST_SKIP() << "no right to mount a file system";
  }
  void TearDown() override {
    if (mounted_) {
      EXPECT_EQ(::umount2(folder_.c_str(), MNT_DETACH), 0);
    }
    fs::remove_all(folder_);
  }
  // Leaves room for so many pages of 4096 bytes.
  void fill(std::size_t pages_left) {
    std::ofstream file(folder_ / "filler", std::ios::binary);
    file << std::string((kPages - pages_left) * 4096, 'x');
    file.close();
    ASSERT_TRUE(file);
  }

  fs::path folder_;
  bool mounted_ = false;
};

TEST_F(FullDisk, UnderATrace) {
  const fs::path trace = folder_ / "trace.json";
  fill(2);
  {
    SharedDevice device(Environment{{"SOFTTPU_TRACE", trace}});
    Client client(device.socket());
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(client.launch("fault_commands"));
    EXPECT_TRUE(client.works());
    EXPECT_THAT(device.server().output(),
                ContainsRegex("SOFTTPU_TRACE: the file ends before command .* No space left on device"));
  }
  const auto events = nlohmann::json::parse(read_text(trace), nullptr, false);
  ASSERT_TRUE(events.is_array()) << read_text(trace);
  EXPECT_GT(events.size(), 3U);
}

TEST_F(FullDisk, UnderALogFile) {
  const fs::path log = folder_ / "log";
  fill(1);
  SharedDevice device(Environment{{"SOFTTPU_LOG_FILE", log}, {"SOFTTPU_LOG", "trace"}});
  Client client(device.socket());
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(client.launch("no_such_kernel"));
  EXPECT_FALSE(client.launch("fault_exit_at_once"));
  while (fs::file_size(log) + 200 < 4096) Client another(device.socket());
  for (int i = 0; i < 20; ++i) Client another(device.socket());
  EXPECT_LE(fs::file_size(log), 4096U);
  EXPECT_TRUE(client.works());
}

TEST_F(FullDisk, UnderWhatRunWrites) {
  fill(0);
  const std::string at = folder_.string() + "/out";
  Program report({kSofttpu, "run", "--check=all", "--report=json:" + at + ".json", "--", kHost, "use", kKernels});
  EXPECT_EQ(report.wait(), 125);
  EXPECT_THAT(report.output(), HasSubstr("--report: \"" + at + ".json\" cannot be written: No space left on device"));
  // Observations that find no room: said, and no reason for the program to fail.
  Program times(
      {kSofttpu, "run", "--time", "--timeline", at + ".t", "--time-record", at + ".r", "--", kHost, "use", kKernels});
  EXPECT_EQ(times.wait(), 0) << times.output();
  EXPECT_THAT(times.output(), HasSubstr("No space left on device"));
  EXPECT_TRUE(times.leaves_nothing());
}

TEST_F(FullDisk, UnderARecordedLaunch) {
  fill(2);
  const std::string at = folder_.string() + "/launch";
  Program record({kSofttpu, "run", "--record", at, "--", kHost, "use", kKernels});
  EXPECT_EQ(record.wait(), 125) << record.output();
  EXPECT_THAT(record.output(), HasSubstr("No space left on device"));
  EXPECT_FALSE(fs::exists(at)) << "half a record";
  EXPECT_TRUE(record.leaves_nothing());
}

TEST_F(FullDisk, UnderWhatACrashedKernelLeft) {
  fill(1);  // for the chip's name
  SharedDevice device(Environment{{"SOFTTPU_DUMP", folder_}});
  Client client(device.socket());
  ASSERT_TRUE(client.works());
  EXPECT_FALSE(client.launch("fault_segv"));
  EXPECT_TRUE(device.server().wait_for_output("softtpu0-local.0\": No space left on device"));
  const auto full = std::chrono::steady_clock::now();
  EXPECT_TRUE(client.works());
  print_recovery(full);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("local"))) << "half a memory";
  }
}

// Modules are kept in memory files, which a limit on the size of files stops as a full disk stops others.
TEST(Exhausted, NoRoomForAModule) {
  SharedDevice device;
  Client witness(device.socket()), client(device.socket());
  const rlimit small{4096, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(device.server().pid(), RLIMIT_FSIZE, &small, nullptr), 0);
  const UniqueFd file(::open(kKernels.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = file.get();
  const auto by_file = client.rpc().call<msg::LoadModuleReply>(msg::LoadModule{"m.so", {}}, std::span(&fd, 1));
  ASSERT_FALSE(by_file);
  EXPECT_THAT(by_file.error().text, ContainsRegex("m.so.*File too large"));
  const std::string bytes = read_text(kKernels);
  const auto by_content =
      client.rpc().call<msg::LoadModuleReply>(msg::LoadModule{"n.so", Bytes(bytes.begin(), bytes.end())});
  ASSERT_FALSE(by_content);
  EXPECT_THAT(by_content.error().text, ContainsRegex("File too large"));
  const auto refused = std::chrono::steady_clock::now();
  EXPECT_TRUE(witness.works());
  EXPECT_TRUE(client.works(77));
  print_recovery(refused);
  ASSERT_EQ(::prlimit(device.server().pid(), RLIMIT_FSIZE, &none, nullptr), 0);
  EXPECT_TRUE(client.rpc().call<msg::LoadModuleReply>(msg::LoadModule{"m.so", {}}, std::span(&fd, 1)));
}

}  // namespace
}  // namespace softtpu::e2e
