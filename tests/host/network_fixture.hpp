// Networks as programs run them with libbmrt: recorded ones with what goes in and comes out, ones that
// make_networks.py has made of them, and a runtime for each test.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bmruntime_interface.h"
#include "bmruntime_legacy.h"
#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_FALSE(bytes.empty()) << path;
  return bytes;
}

// A recorded network: its file, and what goes in and comes out.
struct Recorded {
  std::string path;
  Bytes input, output;
};
inline Recorded recorded_at(const std::filesystem::path& path) {
  const auto beside = [&](const char* ending) {
    return read_file(std::filesystem::path(path).replace_extension(ending));
  };
  return {path.string(), beside(".input.bin"), beside(".output.bin")};
}
inline Recorded recorded(const std::string& name) {
  return recorded_at(std::filesystem::path(SOFTTPU_TEST_NETWORKS) / (name + ".bmodel"));
}
inline std::string made(const std::string& name) { return std::string(SOFTTPU_MADE_NETWORKS) + "/" + name + ".bmodel"; }

// Parts of `all` for tensors of these sizes.
inline std::vector<Bytes> split(const Bytes& all, const std::vector<std::size_t>& sizes) {
  std::vector<Bytes> parts;
  auto at = all.begin();
  for (const std::size_t size : sizes) {
    EXPECT_LE(size, static_cast<std::size_t>(all.end() - at));
    parts.emplace_back(at, at + static_cast<std::ptrdiff_t>(size));
    at += static_cast<std::ptrdiff_t>(size);
  }
  return parts;
}

class Networks : public Host {
 protected:
  void SetUp() override {
    Host::SetUp();
    runtime_ = bmrt_create(handle_);
    ASSERT_NE(runtime_, nullptr);
  }
  void TearDown() override {
    bmrt_destroy(runtime_);
    Host::TearDown();
  }

  std::vector<std::string> names() {
    const char** list = nullptr;
    bmrt_get_network_names(runtime_, &list);
    std::vector<std::string> all(list, list + bmrt_get_network_number(runtime_));
    std::free(list);
    return all;
  }
  // The one network of a file that was loaded.
  const bm_net_info_t& load(const std::string& path) {
    EXPECT_TRUE(bmrt_load_bmodel(runtime_, path.c_str())) << testing::PrintToString(take_log());
    return *bmrt_get_network_info(runtime_, names().back().c_str());
  }
  std::vector<bm_tensor_t> inputs(const bm_net_info_t& info, const Bytes& bytes, int stage = 0) {
    std::vector<bm_tensor_t> tensors(static_cast<std::size_t>(info.input_num));
    std::size_t at = 0;
    for (int i = 0; i < info.input_num; ++i) {
      bm_tensor_t& tensor = tensors[static_cast<std::size_t>(i)];
      EXPECT_TRUE(bmrt_tensor(&tensor, runtime_, info.input_dtypes[i], info.stages[stage].input_shapes[i]));
      const std::size_t size = bmrt_tensor_bytesize(&tensor);
      EXPECT_LE(size, bytes.size() - at);
      Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
      EXPECT_EQ(bm_memcpy_s2d(handle_, tensor.device_mem, part.data()), BM_SUCCESS);
      at += size;
    }
    return tensors;
  }
  Bytes contents(const std::vector<bm_tensor_t>& tensors) {
    Bytes all;
    for (const bm_tensor_t& tensor : tensors) {
      Bytes part(bmrt_tensor_bytesize(&tensor));
      // The memory may be larger than the shape that a launch gave.
      EXPECT_EQ(bm_memcpy_d2s_partial(handle_, part.data(), tensor.device_mem, static_cast<unsigned>(part.size())),
                BM_SUCCESS);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  void release(std::vector<bm_tensor_t>& tensors) {
    for (bm_tensor_t& tensor : tensors) bm_free_device(handle_, tensor.device_mem);
  }
  // What comes out of a network that makes memory for its outputs itself.
  Bytes run(const bm_net_info_t& info, const Bytes& input, int stage = 0) {
    auto in = inputs(info, input, stage);
    std::vector<bm_tensor_t> out(static_cast<std::size_t>(info.output_num));
    EXPECT_TRUE(bmrt_launch_tensor(runtime_, info.name, in.data(), info.input_num, out.data(), info.output_num))
        << testing::PrintToString(take_log());
    EXPECT_EQ(bmrt_thread_sync(runtime_), BM_SUCCESS) << testing::PrintToString(take_log());
    const Bytes all = contents(out);
    release(in);
    release(out);
    return all;
  }

  void* runtime_ = nullptr;
};

}  // namespace softtpu::host_test
