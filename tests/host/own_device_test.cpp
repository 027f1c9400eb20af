// softtpu/device.h: devices with settings of their own, what they note, mappings, and the layout of arguments.
#include "softtpu/device.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

struct WriteArgs {
  unsigned long long address;
  int count, value;
};

Json take(char* text) {
  EXPECT_NE(text, nullptr) << softtpu_last_failure();
  Json json = text == nullptr ? Json() : Json::parse(text);
  softtpu_free(text);
  return json;
}

Json last_failure() { return Json::parse(softtpu_last_failure()); }

class OwnDevice : public ::testing::Test {
 protected:
  void SetUp() override { bmlib_log_set_callback(&keep_log_line); }

  bm_handle_t open(std::vector<const char*> settings = {}, int flags = 0) {
    settings.push_back(nullptr);
    bm_handle_t handle = nullptr;
    EXPECT_EQ(softtpu_device_open(&handle, 0, settings.data(), flags), BM_SUCCESS) << softtpu_last_failure();
    EXPECT_NE(tpu_kernel_load_module_file(handle, SOFTTPU_TEST_KERNELS), nullptr);
    return handle;
  }
  static bm_status_t launch(bm_handle_t handle, const char* kernel, WriteArgs args = {}) {
    return tpu_kernel_launch_sync(handle, kernel, &args, sizeof args);
  }
};

TEST_F(OwnDevice, HasSettingsOfItsOwn) {
  const bm_handle_t one = open({"SOFTTPU_CHIP=bm1684", "CMODEL_GLOBAL_MEM_SIZE=134217728"});
  const bm_handle_t other = open({"SOFTTPU_CHIP=bm1684x"});
  const Json first = take(softtpu_device_info(one)), second = take(softtpu_device_info(other));
  EXPECT_EQ(first["chip"], "bm1684");
  EXPECT_EQ(first["global_bytes"], 134217728);
  EXPECT_EQ(first["shares_memory"], true);
  EXPECT_EQ(second["chip"], "bm1684x");
  EXPECT_EQ(second["cores"], 1);
  bm_dev_free(one);
  bm_dev_free(other);
}

// As libbmrt asks for a handle for the constants of networks.
TEST_F(OwnDevice, IsFoundByItsNumber) {
  const bm_handle_t other = open();
  bm_handle_t one = nullptr;
  ASSERT_EQ(softtpu_device_open(&one, 0, nullptr, 0), BM_SUCCESS);
  EXPECT_NE(bm_get_devid(one), bm_get_devid(other));
  const int number = bm_get_devid(one);
  EXPECT_EQ(take(softtpu_device_info(one))["device_id"], number);
  EXPECT_EQ(bm_dev_query(number), BM_SUCCESS);
  bm_handle_t again = nullptr;
  ASSERT_EQ(bm_dev_request(&again, number), BM_SUCCESS);
  EXPECT_EQ(bm_get_devid(again), number);
  bm_device_mem_t memory{};
  ASSERT_EQ(bm_malloc_device_byte(again, &memory, 12), BM_SUCCESS);
  int words[3] = {1, 2, 3}, read[3] = {};
  EXPECT_EQ(bm_memcpy_s2d(again, memory, words), BM_SUCCESS);
  bm_dev_free(again);
  EXPECT_EQ(bm_memcpy_d2s(one, read, memory), BM_SUCCESS);
  EXPECT_EQ(read[2], 3);
  bm_dev_free(one);
  EXPECT_REFUSED(bm_dev_request(&again, number), BM_ERR_PARAM, "bm_dev_request", "is outside");
  bm_dev_free(other);
}

TEST_F(OwnDevice, RefusesWhatIsNoSetting) {
  bm_handle_t handle = nullptr;
  for (const char* bad : {"SOFTTPU_NO_SUCH=1", "SOFTTPU_CHIP", "PATH=/", "=x", ""}) {
    const char* settings[] = {bad, nullptr};
    EXPECT_REFUSED(softtpu_device_open(&handle, 0, settings, 0), BM_ERR_PARAM, "softtpu_device_open",
                   "is not NAME=VALUE");
    EXPECT_EQ(handle, nullptr);
  }
  const char* bad_value[] = {"SOFTTPU_TIMEOUT=soon", nullptr};
  EXPECT_REFUSED(softtpu_device_open(&handle, 0, bad_value, 0), BM_ERR_PARAM, "softtpu_device_open", "\"soon\" is not");
  EXPECT_REFUSED(softtpu_device_open(&handle, 0, nullptr, 6), BM_ERR_PARAM, "softtpu_device_open", "flags 0x6");
  EXPECT_REFUSED(softtpu_device_open(&handle, -1, nullptr, 0), BM_ERR_PARAM, "softtpu_device_open", "device_id -1");
  EXPECT_REFUSED(softtpu_device_open(nullptr, 0, nullptr, 0), BM_ERR_PARAM, "softtpu_device_open", "handle is NULL");
  const char* shared[] = {"SOFTTPU_DEVICE=unix:/tmp/softtpu-no-such-socket", "SOFTTPU_CHECK=all", nullptr};
  EXPECT_REFUSED(softtpu_device_open(&handle, 0, shared, 0), BM_ERR_PARAM, "softtpu_device_open", "private device");
}

TEST_F(OwnDevice, NotesWhatEachLaunchWasFoundToDo) {
  const bm_handle_t device = open({"SOFTTPU_CHECK=all"}, SOFTTPU_KEEP_TIMES);
  take(softtpu_take_notes(device));  // of loading the module
  EXPECT_TRUE(take(softtpu_take_notes(device))["findings"].empty());
  EXPECT_EQ(launch(device, "fault_kernel"), BM_ERR_FAILURE);
  take_log();
  const Json failure = last_failure();
  EXPECT_EQ(failure["kernel"], "fault_kernel");
  EXPECT_EQ(failure["file"], "host_kernels.c");
  EXPECT_EQ(failure["core"], 0);
  EXPECT_THAT(failure["text"].get<std::string>(), HasSubstr("tpu_bdc_fp_add"));
  const Json notes = take(softtpu_take_notes(device));
  ASSERT_FALSE(notes["findings"].empty());
  EXPECT_THAT(notes["findings"][0]["text"].get<std::string>(), HasSubstr("softtpu: "));
  ASSERT_EQ(notes["failures"].size(), 1U);
  EXPECT_EQ(notes["failures"][0]["kernel"], "fault_kernel");
  // The same again: it is reported again, with its own count.
  EXPECT_EQ(launch(device, "fault_kernel"), BM_ERR_FAILURE);
  take_log();
  const Json again = take(softtpu_take_notes(device));
  ASSERT_EQ(again["findings"].size(), notes["findings"].size());
  EXPECT_EQ(again["findings"][0]["count"], 1);
  EXPECT_EQ(launch(device, "without_args"), BM_SUCCESS);
  EXPECT_TRUE(take(softtpu_take_notes(device))["findings"].empty());
  char* const times = softtpu_take_times(device);
  ASSERT_NE(times, nullptr);
  const std::string lines = times;
  softtpu_free(times);
  const std::string last = lines.substr(lines.rfind('\n', lines.size() - 2) + 1);
  EXPECT_EQ(Json::parse(last)["kernel"], "without_args");
  char* const none = softtpu_take_times(device);
  EXPECT_STREQ(none, "");
  softtpu_free(none);
  bm_dev_free(device);
}

TEST_F(OwnDevice, HasStreamsThatAreCancelledByThemselves) {
  const bm_handle_t device = open();
  bm_handle_t stream = nullptr;
  ASSERT_EQ(softtpu_stream_open(&stream, device), BM_SUCCESS);
  const WriteArgs slow{0, 20000, 0};
  // slow_append_kernel waits 20 s before it writes. A stream without a launch has nothing to cancel.
  std::atomic<bool> ended = false;
  std::thread canceller([&] {
    while (!ended) {
      EXPECT_EQ(softtpu_cancel(stream), BM_SUCCESS);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(launch(stream, "slow_append_kernel", slow), BM_ERR_TIMEOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  ended = true;
  canceller.join();
  EXPECT_EQ(last_failure()["kernel"], "slow_append_kernel");
  take_log();
  EXPECT_EQ(launch(device, "without_args"), BM_SUCCESS);
  bm_dev_free(stream);
  bm_dev_free(device);
  EXPECT_REFUSED(softtpu_cancel(stream), BM_ERR_DEVNOTREADY, "softtpu_cancel", "was freed");
  EXPECT_REFUSED(softtpu_stream_open(&stream, device), BM_ERR_DEVNOTREADY, "softtpu_stream_open", "was freed");
}

TEST_F(OwnDevice, MapsItsMemoryAndTheMappingOutlivesIt) {
  const bm_handle_t device = open();
  bm_device_mem_u64_t before{}, memory{};
  ASSERT_EQ(bm_malloc_device_byte_u64(device, &before, 100), BM_SUCCESS);
  ASSERT_EQ(bm_malloc_device_byte_u64(device, &memory, 5000), BM_SUCCESS);
  const auto address = bm_mem_get_device_addr_u64(memory);
  void* mapped = nullptr;
  ASSERT_EQ(softtpu_map(device, address + 12, 4000, &mapped), BM_SUCCESS);
  const WriteArgs args{address + 12, 3, 77};
  EXPECT_EQ(launch(device, "write_kernel", args), BM_SUCCESS);
  int words[3];
  std::memcpy(words, mapped, sizeof words);
  EXPECT_EQ(words[0], 77);
  EXPECT_EQ(words[2], 79);
  EXPECT_EQ(softtpu_note_mapped(device, address, 5000), BM_SUCCESS);
  EXPECT_REFUSED(softtpu_map(device, address + 12, 5000, &mapped), BM_ERR_PARAM, "softtpu_map", "0x");
  EXPECT_EQ(mapped, nullptr);
  EXPECT_REFUSED(softtpu_map(device, address, 0, &mapped), BM_ERR_PARAM, "softtpu_map", "bytes is 0");
  ASSERT_EQ(softtpu_map(device, address, 5000, &mapped), BM_SUCCESS);
  bm_dev_free(device);
  std::memset(mapped, 1, 5000);
  softtpu_unmap(mapped, 5000);
}

TEST_F(OwnDevice, RefusesHandlesWithoutNotes) {
  bm_handle_t plain = nullptr;
  ASSERT_EQ(bm_dev_request(&plain, 0), BM_SUCCESS);
  take_log();
  EXPECT_EQ(softtpu_take_notes(plain), nullptr);
  EXPECT_ONE_LINE("softtpu_take_notes", "softtpu_device_open");
  bm_dev_free(plain);
}

TEST_F(OwnDevice, ReadsTheLayoutOfAKernelsArguments) {
  const Json layout = take(softtpu_argument_layout(SOFTTPU_TEST_KERNELS, "many_args"));
  EXPECT_EQ(layout["type"], "many_args_t");
  const Json& members = layout["members"];
  ASSERT_EQ(members.size(), 9U);
  const auto expect = [&](std::size_t i, const char* name, const char* kind, int offset, int bytes) {
    EXPECT_EQ(members[i]["name"], name);
    EXPECT_EQ(members[i]["kind"], kind) << name;
    EXPECT_EQ(members[i]["offset"], offset) << name;
    EXPECT_EQ(members[i]["bytes"], bytes) << name;
  };
  expect(0, "address", "unsigned", 0, 8);
  EXPECT_EQ(members[0]["type"], "u64_t");
  expect(1, "scale", "float", 8, 4);
  expect(2, "small", "signed", 12, 1);
  expect(3, "flag", "bool", 13, 1);
  expect(4, "mode", "enum", 16, 4);
  expect(5, "pointer", "pointer", 24, 8);
  expect(6, "shape", "struct", 32, 16);
  ASSERT_EQ(members[6]["members"].size(), 4U);
  EXPECT_EQ(members[6]["members"][2]["name"], "h");
  expect(7, "table", "signed", 48, 2);
  EXPECT_EQ(members[7]["counts"], (Json::array({2, 3})));
  expect(8, "inner", "struct", 64, 16);
  EXPECT_EQ(members[8]["counts"], Json::array({2}));
  EXPECT_EQ(members[8]["members"][1]["kind"], "union");
  EXPECT_EQ(layout["bytes"], 96);
}

TEST_F(OwnDevice, SaysWhenAModuleTellsNothingOfArguments) {
  EXPECT_EQ(take(softtpu_argument_layout(SOFTTPU_TEST_KERNELS, "bit_args")), Json::object());
  EXPECT_EQ(take(softtpu_argument_layout(SOFTTPU_TEST_KERNELS, "no_such_kernel")), Json::object());
  EXPECT_EQ(take(softtpu_argument_layout("/dev/null", "x")), Json::object());
  take_log();
  EXPECT_EQ(softtpu_argument_layout("/no/such.so", "x"), nullptr);
  EXPECT_ONE_LINE("softtpu_argument_layout", "/no/such.so");
  EXPECT_EQ(softtpu_argument_layout(nullptr, "x"), nullptr);
  EXPECT_ONE_LINE("softtpu_argument_layout", "NULL");
}

}  // namespace
}  // namespace softtpu::host_test
