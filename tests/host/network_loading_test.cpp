// Ways of loading networks, and the memory that they take.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

namespace fs = std::filesystem;

std::uint64_t used_bytes(bm_handle_t handle) {
  bm_dev_stat_t stat{};
  EXPECT_EQ(bm_get_stat(handle, &stat), BM_SUCCESS);
  return static_cast<std::uint64_t>(stat.mem_used);
}

TEST_F(Networks, ShareConstantsAmongRuntimes) {
  const Recorded network = recorded("attention_small_F16");
  const Bytes file = read_file(network.path);
  load(network.path);
  bm_handle_t second = nullptr;
  ASSERT_EQ(bm_dev_request(&second, 0), BM_SUCCESS);
  void* const other = bmrt_create(second);
  ASSERT_TRUE(bmrt_load_bmodel_data(other, file.data(), file.size()));
  // The first one goes, the constants stay.
  bmrt_destroy(std::exchange(runtime_, other));
  EXPECT_EQ(run(*bmrt_get_network_info(other, "attention_small"), network.input), network.output);
  bmrt_trace(other);
  bmrt_destroy(std::exchange(runtime_, bmrt_create(handle_)));
  bm_dev_free(second);
}

TEST_F(Networks, OfTheSameBytesUseMemoryForConstantsOnce) {
  const Bytes file = read_file(recorded("attention_small_F16").path);
  const std::uint64_t before = used_bytes(handle_);
  load(recorded("attention_small_F16").path);
  const std::uint64_t one = used_bytes(handle_) - before;
  void* const other = bmrt_create(handle_);
  ASSERT_TRUE(bmrt_load_bmodel_data(other, file.data(), file.size()));
  const std::uint64_t both = used_bytes(handle_) - before;
  EXPECT_LT(both - one, one);
  bmrt_destroy(other);
  EXPECT_EQ(used_bytes(handle_) - before, one);
}

TEST_F(Networks, ShareTheirMemoryWhenAsked) {
  bmrt_set_flags(runtime_, BM_RUNTIME_SHARE_MEM);
  EXPECT_EQ(bmrt_get_flags(runtime_), static_cast<uint32_t>(BM_RUNTIME_SHARE_MEM));
  std::vector<Recorded> all;
  for (const char* name : {"resize_F32", "softmax_INT8", "conv_3d_F32"}) {
    all.push_back(recorded(name));
    load(all.back().path);
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(run(*bmrt_get_network_info(runtime_, names()[i].c_str()), all[i].input), all[i].output);
  }
  bmrt_set_flags(runtime_, 64);
  EXPECT_ONE_LINE("bmrt_set_flags", "flags 0x40 are not known");
}

std::uint64_t exact_used_bytes(bm_handle_t handle) {
  bm_heap_stat_byte_t heap{};
  EXPECT_EQ(bm_get_gmem_heap_stat_byte_by_id(handle, &heap, 0), BM_SUCCESS);
  return heap.mem_used;
}

std::uint8_t* change_each_byte(const std::uint8_t* input, std::uint64_t bytes, std::uint64_t* output_bytes) {
  auto* const plain = static_cast<std::uint8_t*>(std::malloc(bytes));
  for (std::uint64_t i = 0; i < bytes; ++i) plain[i] = input[i] ^ 0x5A;
  *output_bytes = bytes;
  return plain;
}
std::uint8_t* change_nothing(const std::uint8_t* input, std::uint64_t bytes, std::uint64_t* output_bytes) {
  auto* const plain = static_cast<std::uint8_t*>(std::malloc(bytes));
  std::memcpy(plain, input, bytes);
  *output_bytes = bytes;
  return plain;
}
std::uint8_t* give_up(const std::uint8_t* /*input*/, std::uint64_t /*bytes*/, std::uint64_t* /*output_bytes*/) {
  return nullptr;
}

class EncryptedNetworks : public Networks, public testing::WithParamInterface<const char*> {};

TEST_P(EncryptedNetworks, LoadWithTheirFunctionAndNotWithout) {
  const Recorded network = recorded("attention_small_F16");
  const std::string file = made(GetParam());
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, file.c_str()));
  EXPECT_FALSE(bmrt_load_bmodel_with_decrypt(runtime_, file.c_str(), give_up));
  EXPECT_FALSE(bmrt_load_bmodel_with_decrypt(runtime_, file.c_str(), nullptr));
  EXPECT_EQ(take_log().size(), 3U);
  ASSERT_TRUE(bmrt_load_bmodel_with_decrypt(runtime_, file.c_str(), change_each_byte))
      << testing::PrintToString(take_log());
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "attention_small"), network.input), network.output);
  void* const other = bmrt_create(handle_);
  ASSERT_TRUE(bmrt_load_bmodel_with_decrypt_lib(other, file.c_str(), SOFTTPU_TEST_CIPHER))
      << testing::PrintToString(take_log());
  bmrt_destroy(std::exchange(runtime_, other));
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "attention_small"), network.input), network.output);
}

INSTANTIATE_TEST_SUITE_P(Files, EncryptedNetworks,
                         testing::Values("encrypted_constants", "encrypted_tables", "encrypted_file"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(Networks, EncryptedOnesNeedTheRightFunction) {
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel_with_decrypt(runtime_, made("encrypted_tables").c_str(), change_nothing));
  EXPECT_ONE_LINE("bmrt_load_bmodel_with_decrypt", "the function does not decrypt them");
  EXPECT_FALSE(bmrt_load_bmodel_with_decrypt_lib(runtime_, made("encrypted_tables").c_str(), "no_such_library.so"));
  EXPECT_ONE_LINE("bmrt_load_bmodel_with_decrypt_lib", "no_such_library.so");
}

TEST_F(Networks, LieInMemoryThatIsGiven) {
  for (const char* name : {"attention_small_F16", "addtwoioalone_F16", "softmax_INT8"}) {
    const Recorded network = recorded(name);
    mem_info_t info{};
    ASSERT_TRUE(bmrt_get_bmodel_info(network.path.c_str(), &info)) << testing::PrintToString(take_log());
    std::vector<bm_device_mem_u64_t> given;
    for (memory_t* memory :
         {&info.instruction_mem, &info.variable_instruction_mem, &info.neuron_mem, &info.coeff_mem, &info.io_mem}) {
      EXPECT_EQ(memory->addr, -1);
      if (memory->size == 0) continue;
      bm_device_mem_u64_t& made = given.emplace_back();
      ASSERT_EQ(bm_malloc_device_byte_u64(handle_, &made, memory->size), BM_SUCCESS);
      memory->addr = static_cast<std::int64_t>(bm_mem_get_device_addr_u64(made));
    }
    const std::uint64_t before = exact_used_bytes(handle_);
    void* const own = bmrt_create(handle_);
    ASSERT_TRUE(bmrt_load_bmodel_with_mem(own, network.path.c_str(), &info)) << testing::PrintToString(take_log());
    EXPECT_EQ(exact_used_bytes(handle_), before) << name;
    void* const before_runtime = std::exchange(runtime_, own);
    EXPECT_EQ(run(*bmrt_get_network_info(own, names()[0].c_str()), network.input), network.output) << name;
    EXPECT_EQ(bm_mem_get_device_addr(bmrt_get_neuron_memory(own, names()[0].c_str(), 0, nullptr, 0)),
              static_cast<unsigned long long>(std::max<std::int64_t>(info.neuron_mem.addr, 0)));
    bmrt_destroy(own);
    runtime_ = before_runtime;
    for (const bm_device_mem_u64_t& memory : given) bm_free_device_u64(handle_, memory);
  }
}

TEST_F(Networks, MemoryThatIsGivenHasToBeLargeEnough) {
  const Bytes file = read_file(recorded("attention_small_F16").path);
  mem_info_t info{};
  ASSERT_TRUE(bmrt_get_bmodel_data_info(file.data(), file.size(), &info));
  mem_info_t of_head{};
  ASSERT_TRUE(bmrt_get_bmodel_info_from_data(file.data(), &of_head, file.size()));
  EXPECT_EQ(of_head.coeff_mem.size, info.coeff_mem.size);
  const bm_device_mem_t small = allocate(4096);
  info.coeff_mem.addr = static_cast<std::int64_t>(bm_mem_get_device_addr(small));
  info.coeff_mem.size = 4096;
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel_data_with_mem(runtime_, file.data(), file.size(), &info));
  EXPECT_ONE_LINE("bmrt_load_bmodel_data_with_mem", "mem_info.coeff_mem has 4096 bytes left");
  EXPECT_FALSE(bmrt_get_bmodel_info("no such file", &info));
  EXPECT_ONE_LINE("bmrt_get_bmodel_info", "no such file");
  bm_free_device(handle_, small);
}

// A program that decrypts the tables itself hands over what it has made of them.
TEST_F(Networks, TablesThatTheProgramHasDecrypted) {
  const Recorded network = recorded("attention_small_F16");
  Bytes head = read_file(network.path);
  head.resize(64 + std::size_t{head[8]} + (std::size_t{head[9]} << 8) + (std::size_t{head[10]} << 16));
  mem_info_t info{};
  const std::size_t whole = fs::file_size(network.path);
  ASSERT_TRUE(bmrt_get_bmodel_info_from_data(head.data(), &info, whole));
  std::vector<bm_device_mem_t> none;
  ASSERT_TRUE(bmrt_load_bmodel_with_mem_v2(runtime_, made("encrypted_tables").c_str(), head.data(), &info, none))
      << testing::PrintToString(take_log());
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "attention_small"), network.input), network.output);
}

TEST_F(Networks, AreLoadedFromDeviceMemory) {
  const Recorded network = recorded("attention_small_F16");
  const Bytes file = read_file(network.path);
  const bm_device_mem_t memory = upload(file);
  ASSERT_TRUE(bmrt_load_bmodel_in_device(runtime_, nullptr, bm_mem_get_device_addr(memory), file.size()))
      << testing::PrintToString(take_log());
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "attention_small"), network.input), network.output);
  bmrt_destroy(std::exchange(runtime_, bmrt_create(handle_)));
  bm_free_device(handle_, memory);
}

TEST_F(Networks, ConstantsMayOutliveTheirNetworks) {
  const Recorded network = recorded("attention_small_F16");
  const std::uint64_t before = exact_used_bytes(handle_);
  load(network.path);
  bmrt_destroy_without_coeff(runtime_);
  EXPECT_EQ(bmrt_get_network_number(runtime_), 0);
  const std::uint64_t constants = exact_used_bytes(handle_) - before;
  EXPECT_GT(constants, 0U);
  const bm_net_info_t& again = load(network.path);
  EXPECT_EQ(run(again, network.input), network.output);
  bmrt_destroy(std::exchange(runtime_, bmrt_create(handle_)));
  EXPECT_EQ(exact_used_bytes(handle_), before);
}

// A copy of the network with many constants, which are read when a launch first needs them.
class LargeNetworks : public Networks {
 protected:
  void SetUp() override {
    Networks::SetUp();
    path_ = testing::TempDir() + "softtpu_large_" + std::to_string(::getpid()) + ".bmodel";
    fs::copy_file(made("large"), path_, fs::copy_options::overwrite_existing);
  }
  void TearDown() override {
    fs::remove(path_);
    Networks::TearDown();
  }
  // Its launch fails with one line.
  void expect_failure(const std::string& text) {
    const bm_net_info_t& info = *bmrt_get_network_info(runtime_, "attention_small");
    auto in = inputs(info, network_.input);
    std::vector<bm_tensor_t> out(1);
    take_log();
    EXPECT_FALSE(bmrt_launch_tensor(runtime_, info.name, in.data(), info.input_num, out.data(), 1));
    EXPECT_THAT(take_log(), testing::Contains(testing::HasSubstr(text)));
    release(in);
  }
  Bytes run_it() { return run(*bmrt_get_network_info(runtime_, "attention_small"), network_.input); }
  const Recorded network_ = recorded("attention_small_F16");
  std::string path_;
};

TEST_F(LargeNetworks, RunAndShareTheirConstants) {
  const std::uint64_t before = exact_used_bytes(handle_);
  load(path_);
  const std::uint64_t one = exact_used_bytes(handle_) - before;
  void* const other = bmrt_create(handle_);
  ASSERT_TRUE(bmrt_load_bmodel(other, path_.c_str()));
  EXPECT_LT(exact_used_bytes(handle_) - before - one, std::uint64_t{1} << 20);
  EXPECT_EQ(run_it(), network_.output);
  take_log();
  bmrt_trace(runtime_);
  EXPECT_TRUE(take_log().empty());
  bmrt_destroy(std::exchange(runtime_, other));
  EXPECT_EQ(run_it(), network_.output);
}

TEST_F(LargeNetworks, NeedTheirFileUntilTheFirstLaunch) {
  load(path_);
  EXPECT_EQ(run_it(), network_.output);
  fs::resize_file(path_, 1000);
  EXPECT_EQ(run_it(), network_.output);
  fs::remove(path_);
  EXPECT_EQ(run_it(), network_.output);
}

TEST_F(LargeNetworks, MayBeRemovedBeforeTheFirstLaunch) {
  load(path_);
  fs::remove(path_);
  EXPECT_EQ(run_it(), network_.output);
}

TEST_F(LargeNetworks, SayThatTheirFileIsAnotherOne) {
  load(path_);
  fs::resize_file(path_, fs::file_size(path_) - 4096);
  expect_failure("network \"attention_small\": its constants: the file has been changed since it was loaded");
  // One that is shorter from the start is refused when it is loaded.
  void* const other = bmrt_create(handle_);
  EXPECT_FALSE(bmrt_load_bmodel(other, path_.c_str()));
  EXPECT_THAT(take_log(), testing::Contains(testing::HasSubstr("the coefficients would be bytes")));
  bmrt_destroy(other);
  // The same bytes at another time are not those that were loaded: what lies between is not known.
  fs::copy_file(made("large"), path_, fs::copy_options::overwrite_existing);
  expect_failure("the file has been changed since it was loaded");
}

TEST_F(LargeNetworks, SayWhenTheirConstantsCannotBeCompared) {
  load(path_);
  take_log();
  bmrt_trace(runtime_);  // not read yet
  EXPECT_TRUE(take_log().empty());
  EXPECT_EQ(run_it(), network_.output);
  fs::last_write_time(path_, fs::file_time_type::clock::now() + std::chrono::seconds(5));
  bmrt_trace(runtime_);
  EXPECT_ONE_LINE("bmrt_trace", "the file has been changed");
}

// The program may look at memory that it has given.
TEST_F(LargeNetworks, FillMemoryThatIsGivenAtOnce) {
  mem_info_t info{};
  ASSERT_TRUE(bmrt_get_bmodel_info(path_.c_str(), &info));
  bm_device_mem_u64_t given{};
  ASSERT_EQ(bm_malloc_device_byte_u64(handle_, &given, info.coeff_mem.size), BM_SUCCESS);
  info.coeff_mem.addr = static_cast<std::int64_t>(bm_mem_get_device_addr_u64(given));
  ASSERT_TRUE(bmrt_load_bmodel_with_mem(runtime_, path_.c_str(), &info)) << testing::PrintToString(take_log());
  Bytes first(4096);
  ASSERT_EQ(bm_memcpy_d2s_partial_offset_u64(handle_, first.data(), given, first.size(), 0), BM_SUCCESS);
  EXPECT_NE(first, Bytes(4096));
  fs::remove(path_);
  EXPECT_EQ(run_it(), network_.output);
  take_log();
  bmrt_trace(runtime_);
  EXPECT_TRUE(take_log().empty());
  ++first[17];
  ASSERT_EQ(bm_memcpy_s2d_partial_u64(handle_, given, first.data(), first.size()), BM_SUCCESS);
  bmrt_trace(runtime_);
  EXPECT_ONE_LINE("bmrt_trace", "on the device have changed");
  bmrt_destroy(std::exchange(runtime_, bmrt_create(handle_)));
  bm_free_device_u64(handle_, given);
}

TEST_F(LargeNetworks, AreOnTheDeviceWhenTheyOutliveTheirRuntime) {
  load(path_);
  bmrt_destroy_without_coeff(runtime_);
  fs::resize_file(path_, 1000);
  EXPECT_EQ(bmrt_get_network_number(runtime_), 0);
  EXPECT_TRUE(take_log().empty());
}

}  // namespace
}  // namespace softtpu::host_test
