// Settings that keep a device from starting: the status of bm_dev_request and one line that names the setting. A device
// that another test has opened stays open, so each test needs a process of its own, as ctest gives it.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

// A folder that is removed with what the test put into it.
class Open : public ::testing::Test {
 protected:
  void SetUp() override {
    bmlib_log_set_callback(&keep_log_line);
    char name[] = "/tmp/softtpu_open_test_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const std::string& file : files_) unlink(file.c_str());
    rmdir(folder_.c_str());
  }
  std::string file(const std::string& name) {
    files_.push_back(folder_ + "/" + name);
    return files_.back();
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = file(name);
    std::ofstream(path) << text;
    return path;
  }
  void set(const char* variable, const std::string& value) { ASSERT_EQ(setenv(variable, value.c_str(), 1), 0); }

  // A request that fails with one line in which each of `texts` stands.
  void expect_refused(std::initializer_list<std::string> texts) {
    take_log();
    bm_handle_t handle = nullptr;
    EXPECT_NE(bm_dev_request(&handle, 0), BM_SUCCESS);
    EXPECT_EQ(handle, nullptr);
    const std::vector<std::string> lines = take_log();
    ASSERT_EQ(lines.size(), 1U) << ::testing::PrintToString(lines);
    EXPECT_THAT(lines[0], ::testing::StartsWith("bm_dev_request: "));
    for (const std::string& text : texts) EXPECT_THAT(lines[0], ::testing::HasSubstr(text));
  }

  std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(Open, AChipThatDoesNotExist) {
  set("SOFTTPU_CHIP", "bm9999");
  expect_refused({"bm9999"});
}

TEST_F(Open, AChipFileThatIsNotJson) {
  const std::string path = write("chip.json", "{\"name\": \"x\",");
  set("SOFTTPU_CHIP", path);
  expect_refused({path});
}

TEST_F(Open, AChipFileWithAWrongMember) {
  std::ifstream soc(SOFTTPU_SOC_CHIP);
  std::string text{std::istreambuf_iterator<char>(soc), {}};
  const std::string good = "\"npu_num\": 64";
  ASSERT_NE(text.find(good), std::string::npos);
  text.replace(text.find(good), good.size(), "\"npu_num\": -3");
  const std::string path = write("chip.json", text);
  set("SOFTTPU_CHIP", path);
  expect_refused({path, "npu_num"});
}

TEST_F(Open, AMemorySizeThatIsNoNumber) {
  set("CMODEL_GLOBAL_MEM_SIZE", "lots");
  expect_refused({"CMODEL_GLOBAL_MEM_SIZE", "lots"});
}

TEST_F(Open, ATracePathThatCannotBeWritten) {
  set("SOFTTPU_TRACE", folder_ + "/none/trace.json");
  expect_refused({folder_ + "/none/trace.json"});
}

TEST_F(Open, ASocketThatDoesNotExist) {
  set("SOFTTPU_DEVICE", "unix:" + folder_ + "/none.sock");
  expect_refused({folder_ + "/none.sock"});
}

// A bound socket file whose process has gone.
TEST_F(Open, ASocketThatIsNobodys) {
  const std::string path = file("device.sock");
  const int bound = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(bound);
  set("SOFTTPU_DEVICE", "unix:" + path);
  expect_refused({path});
}

// Something else listens: it accepts, says nothing that is understood, and closes.
TEST_F(Open, ASocketThatIsSomebodyElses) {
  const std::string path = file("device.sock");
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  const pid_t stranger = fork();
  if (stranger == 0) {
    const int connection = accept(listening, nullptr, nullptr);
    const char text[] = "220 this is another service, which greets every caller with a long line of text\r\n";
    if (::write(connection, text, sizeof text) < 0) _exit(1);
    close(connection);
    _exit(0);
  }
  close(listening);
  set("SOFTTPU_DEVICE", "unix:" + path);
  expect_refused({path});
  kill(stranger, SIGKILL);  // it waits for ever where nothing has connected
  waitpid(stranger, nullptr, 0);
}

TEST_F(Open, ADeviceSettingThatIsNone) {
  set("SOFTTPU_DEVICE", "nonsense");
  expect_refused({"SOFTTPU_DEVICE", "nonsense"});
}

TEST_F(Open, ADeviceBinaryThatIsMissing) {
  set("SOFTTPU_DEVICE_BINARY", folder_ + "/softtpu-device");
  expect_refused({folder_ + "/softtpu-device"});
}

TEST_F(Open, APreloadedModuleThatIsMissing) {
  set("TPUKERNEL_FIRMWARE_PATH", folder_ + "/none.so");
  expect_refused({folder_ + "/none.so"});
}

TEST_F(Open, APreloadedModuleIsLaunchedByName) {
  set("TPUKERNEL_FIRMWARE_PATH", SOFTTPU_TEST_KERNELS);
  bm_handle_t handle = nullptr;
  ASSERT_EQ(bm_dev_request(&handle, 0), BM_SUCCESS) << ::testing::PrintToString(take_log());
  EXPECT_EQ(tpu_kernel_launch_sync(handle, "without_args", nullptr, 0), BM_SUCCESS)
      << ::testing::PrintToString(take_log());
  bm_dev_free(handle);
}

TEST_F(Open, TheMemorySizeIsASetting) {
  set("CMODEL_GLOBAL_MEM_SIZE", "1073741824");
  bm_handle_t handle = nullptr;
  ASSERT_EQ(bm_dev_request(&handle, 0), BM_SUCCESS) << ::testing::PrintToString(take_log());
  bm_device_mem_t mem;
  EXPECT_REFUSED(bm_malloc_device_byte(handle, &mem, 1000000000U), BM_ERR_NOMEM, "bm_malloc_device_byte", "1000000000");
  EXPECT_EQ(bm_malloc_device_byte(handle, &mem, 900000000U), BM_SUCCESS);
  bm_free_device(handle, mem);
  bm_dev_free(handle);
}

TEST_F(Open, TheDeviceCountIsASetting) {
  set("SG_MAX_DEVICE_COUNT", "1");
  int count = 0;
  EXPECT_EQ(bm_dev_getcount(&count), BM_SUCCESS);
  EXPECT_EQ(count, 1);
  bm_handle_t handle = nullptr;
  EXPECT_REFUSED(bm_dev_request(&handle, 1), BM_ERR_PARAM, "bm_dev_request", "device id 1 is outside 0..0");
}

}  // namespace
}  // namespace softtpu::host_test
