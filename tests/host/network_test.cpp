// libbmrt as programs use it: networks on a device, in a process of their own, byte for byte; and what is refused.
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "bmruntime_cpp.h"
#include "bmruntime_legacy.h"
#include "softtpu/networks.h"
#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Bytes read_file(const fs::path& path) {
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
Recorded recorded_at(const fs::path& path) {
  const auto beside = [&](const char* ending) { return read_file(fs::path(path).replace_extension(ending)); };
  return {path.string(), beside(".input.bin"), beside(".output.bin")};
}
Recorded recorded(const std::string& name) { return recorded_at(fs::path(SOFTTPU_TEST_NETWORKS) / (name + ".bmodel")); }
std::string made(const std::string& name) { return std::string(SOFTTPU_MADE_NETWORKS) + "/" + name + ".bmodel"; }

// Parts of `all` for tensors of these sizes.
std::vector<Bytes> split(const Bytes& all, const std::vector<std::size_t>& sizes) {
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
      EXPECT_EQ(bm_memcpy_d2s(handle_, part.data(), tensor.device_mem), BM_SUCCESS);
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

TEST_F(Networks, GiveTheRecordedBytes) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(SOFTTPU_TEST_NETWORKS)) {
    if (entry.path().extension() != ".bmodel") continue;
    const Recorded network = recorded_at(entry.path());
    const bm_net_info_t& info = load(network.path);
    EXPECT_EQ(run(info, network.input), network.output) << network.path;
    EXPECT_EQ(run(info, network.input), network.output) << network.path << ", once more";
    ++count;
  }
  EXPECT_GE(count, 6);
}

TEST_F(Networks, AllRecordedOnes) {
  if (!fs::exists(SOFTTPU_ALL_NETWORKS)) GTEST_SKIP() << "the complete collection is not here";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(SOFTTPU_ALL_NETWORKS)) {
    if (entry.path().extension() != ".bmodel") continue;
    const Recorded network = recorded_at(entry.path());
    void* const before = std::exchange(runtime_, bmrt_create(handle_));
    EXPECT_EQ(run(load(network.path), network.input), network.output) << network.path;
    bmrt_destroy(std::exchange(runtime_, before));
    ++count;
  }
  EXPECT_EQ(count, 66);
}

TEST_F(Networks, ReadAndWriteArraysOfTheHost) {
  const Recorded network = recorded("reduce_INT8");
  const bm_net_info_t& info = load(network.path);
  Bytes input = network.input;
  void* const in[] = {input.data()};
  std::vector<void*> out(static_cast<std::size_t>(info.output_num));
  std::vector<bm_shape_t> shapes(out.size());
  ASSERT_TRUE(bmrt_launch_data(runtime_, info.name, in, info.stages[0].input_shapes, 1, out.data(), shapes.data(),
                               info.output_num, false));
  Bytes all;
  std::vector<Bytes> own;
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(bmrt_shape_is_same(&shapes[i], &info.stages[0].output_shapes[i]));
    const auto* bytes = static_cast<std::uint8_t*>(out[i]);
    all.insert(all.end(), bytes, bytes + info.max_output_bytes[i]);
    own.emplace_back(info.max_output_bytes[i]);
    std::free(out[i]);
    out[i] = own.back().data();
  }
  EXPECT_EQ(all, network.output);
  const int cores[] = {0};
  ASSERT_TRUE(bmrt_launch_data_multi_cores(runtime_, info.name, in, info.stages[0].input_shapes, 1, out.data(),
                                           shapes.data(), info.output_num, true, cores, 1));
  EXPECT_EQ(own, split(network.output, {own[0].size(), own[1].size(), own[2].size()}));
}

TEST_F(Networks, WriteIntoMemoryThatIsGiven) {
  const Recorded network = recorded("attention_small_F16");
  const bm_net_info_t& info = load(network.path);
  auto in = inputs(info, network.input);
  std::vector<bm_tensor_t> out(1);
  // Larger than needed: what is behind the tensor stays.
  out[0].device_mem = upload(Bytes(network.output.size() + 64, 0x5A));
  ASSERT_TRUE(bmrt_launch_tensor_ex(runtime_, info.name, in.data(), 1, out.data(), 1, true, false));
  EXPECT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
  Bytes want = network.output;
  want.resize(want.size() + 64, 0x5A);
  EXPECT_EQ(download(out[0].device_mem), want);
  EXPECT_EQ(bmrt_tensor_device_size(&out[0]), want.size());
  release(in);
  release(out);
}

TEST_F(Networks, TheInputsShapeChoosesTheStage) {
  const bm_net_info_t& info = load(made("two_stages"));
  ASSERT_EQ(info.stage_num, 2);
  const Recorded first = recorded("softmax_INT8");
  const Recorded second = recorded("conv_3d_F32");
  EXPECT_EQ(run(info, second.input, 1), second.output);
  EXPECT_EQ(run(info, first.input, 0), first.output);
  EXPECT_EQ(run(info, second.input, 1), second.output);
  EXPECT_EQ(info.max_input_bytes[0], std::max(first.input.size(), second.input.size()));
  EXPECT_EQ(info.max_output_bytes[0], std::max(first.output.size(), second.output.size()));
}

TEST_F(Networks, SeveralInOneFileAndRuntime) {
  ASSERT_TRUE(bmrt_load_bmodel(runtime_, made("two_networks").c_str()));
  const Recorded other = recorded("softmax_INT8");
  load(other.path);
  EXPECT_THAT(names(), testing::ElementsAre("resize", "reduce", "softmax"));
  for (const char* name : {"reduce_INT8", "resize_F32", "softmax_INT8"}) {
    const Recorded network = recorded(name);
    const std::string short_name(name, std::string_view(name).find('_'));
    EXPECT_EQ(run(*bmrt_get_network_info(runtime_, short_name.c_str()), network.input), network.output) << name;
  }
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, other.path.c_str()));
  EXPECT_ONE_LINE("bmrt_load_bmodel", "a network \"softmax\" is loaded already");
}

TEST_F(Networks, RelocatedTensorsLieWhereTheProgramHasThem) {
  const bm_net_info_t& info = load(made("relocated"));
  EXPECT_EQ(info.addr_mode, 4);
  const Recorded network = recorded("addtwoioalone_F16");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(info, network.input), network.output) << i;
}

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

TEST_F(Networks, ThreadsMayShareARuntimeOrHaveTheirOwn) {
  const Recorded shared = recorded("reduce_INT8");
  const bm_net_info_t& info = load(shared.path);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      bm_handle_t handle = nullptr;
      if (bm_dev_request(&handle, 0) != BM_SUCCESS) return void(++wrong);
      void* const own = bmrt_create(handle);
      const Recorded mine = recorded(t % 2 == 0 ? "softmax_INT8" : "conv_3d_F32");
      if (!bmrt_load_bmodel(own, mine.path.c_str())) ++wrong;
      const auto run_data = [&](void* runtime, const bm_net_info_t& net, const Recorded& network) {
        Bytes input = network.input;
        void* const in[] = {input.data()};
        std::vector<void*> out(static_cast<std::size_t>(net.output_num));
        if (!bmrt_launch_data(runtime, net.name, in, net.stages[0].input_shapes, 1, out.data(), nullptr, net.output_num,
                              false))
          return void(++wrong);
        const std::uint8_t* want = network.output.data();
        for (std::size_t i = 0; i < out.size(); ++i) {
          if (std::memcmp(out[i], want, net.max_output_bytes[i]) != 0) ++wrong;
          want += net.max_output_bytes[i];
          std::free(out[i]);
        }
      };
      const char** list = nullptr;
      bmrt_get_network_names(own, &list);
      const bm_net_info_t& net = *bmrt_get_network_info(own, list[0]);
      std::free(list);
      for (int i = 0; i < 8; ++i) {
        run_data(runtime_, info, shared);
        run_data(own, net, mine);
      }
      bmrt_destroy(own);
      bm_dev_free(handle);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Networks, DevicesOfOneProgram) {
  bm_handle_t second = nullptr;
  ASSERT_EQ(bm_dev_request(&second, 1), BM_SUCCESS);
  const Recorded network = recorded("conv_3d_F32");
  void* const other = bmrt_create(second);
  load(network.path);
  ASSERT_TRUE(bmrt_load_bmodel(other, network.path.c_str()));
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "conv_3d"), network.input), network.output);
  std::swap(handle_, second);
  std::swap(runtime_, *const_cast<void**>(&other));
  EXPECT_EQ(run(*bmrt_get_network_info(runtime_, "conv_3d"), network.input), network.output);
  std::swap(handle_, second);
  std::swap(runtime_, *const_cast<void**>(&other));
  bmrt_destroy(other);
  bm_dev_free(second);
}

TEST_F(Networks, WithPartsForOthersRunWhatTheyCanWhenAsked) {
  const std::string file = made("mixed");
  ASSERT_TRUE(softtpu_bmrt_run_static_parts(runtime_, true));
  const int level = bmlib_log_get_level();
  bmlib_log_set_level(BMLIB_LOG_WARNING);
  const bm_net_info_t& info = load(file);
  bmlib_log_set_level(level);
  const auto log = take_log();
  EXPECT_THAT(
      log, testing::Contains(HasSubstr("left out: part 3 runs on the host's processor (layer top_k, operation 12)")));
  const Recorded network = recorded("softmax_INT8");
  EXPECT_EQ(run(info, network.input), network.output);
}

// A dynamic part with several shapes of its input: the recorded bytes, and the shapes of the outputs.
class DynamicNetworks : public Networks {
 protected:
  static constexpr int kColumns = 300, kFound = 5;
  static std::string file(const char* name) { return std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic/" + name; }
  // The outputs' bytes, one behind the other; none: the launch is refused.
  Bytes run_rows(const Bytes& input, int rows, int columns = kColumns) {
    Bytes in = input;
    in.resize(std::size_t{4} * kColumns * static_cast<std::size_t>(std::max(rows, 3)));
    Bytes values(60, 0xAA);
    Bytes indices(60, 0xAA);
    void* const from = in.data();
    std::array<void*, 2> to{values.data(), indices.data()};
    bm_shape_t shape{2, {rows, columns}};
    std::array<bm_shape_t, 2> shapes{};
    if (!bmrt_launch_data(runtime_, "topk", &from, &shape, 1, to.data(), shapes.data(), 2, true)) return {};
    for (const bm_shape_t& one : shapes) {
      EXPECT_EQ(one.num_dims, 2);
      EXPECT_EQ(one.dims[0], rows);
      EXPECT_EQ(one.dims[1], kFound);
    }
    const auto used = std::size_t{4} * kFound * static_cast<std::size_t>(rows);
    Bytes all(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(used));
    all.insert(all.end(), indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(used));
    // Nothing behind what the shapes say is written.
    EXPECT_TRUE(std::all_of(values.begin() + static_cast<std::ptrdiff_t>(used), values.end(),
                            [](std::uint8_t byte) { return byte == 0xAA; }));
    return all;
  }
};

TEST_F(DynamicNetworks, GiveTheRecordedBytesAndShapes) {
  const bm_net_info_t& info = load(file("topk_F16.bmodel"));
  EXPECT_TRUE(info.is_dynamic);
  EXPECT_EQ(info.stages[0].input_shapes[0].dims[0], 3);
  for (const auto& [run, rows] : {std::pair("run0", 3), std::pair("run1", 1), std::pair("run2", 2)}) {
    const Bytes input = read_file(file("topk_F16.") + run + ".input.bin");
    const int columns = static_cast<int>(input.size() / 4) / rows;
    const std::string at = file("topk_F16.") + run;
    EXPECT_EQ(run_rows(input, rows, columns), read_file(at + ".output.bin")) << run;
  }
}

TEST_F(DynamicNetworks, OutputsGetTheirShapesInDeviceMemory) {
  const bm_net_info_t& info = load(file("topk_F16.bmodel"));
  const Bytes input = read_file(file("topk_F16.run1.input.bin"));
  std::array<bm_tensor_t, 1> in{};
  std::array<bm_tensor_t, 2> out{};
  ASSERT_TRUE(bmrt_tensor(&in[0], runtime_, BM_FLOAT32, {2, {1, kColumns}}));
  ASSERT_EQ(bm_memcpy_s2d(handle_, in[0].device_mem, const_cast<std::uint8_t*>(input.data())), BM_SUCCESS);
  ASSERT_TRUE(bmrt_launch_tensor(runtime_, info.name, in.data(), 1, out.data(), 2));
  Bytes found;
  for (bm_tensor_t& tensor : out) {
    EXPECT_EQ(tensor.shape.dims[0], 1);
    Bytes part(bmrt_tensor_bytesize(&tensor));
    EXPECT_EQ(bm_memcpy_d2s_partial(handle_, part.data(), tensor.device_mem, static_cast<unsigned>(part.size())),
              BM_SUCCESS);
    found.insert(found.end(), part.begin(), part.end());
    bm_free_device(handle_, tensor.device_mem);
  }
  EXPECT_EQ(found, read_file(file("topk_F16.run1.output.bin")));
  bm_free_device(handle_, in[0].device_mem);
}

TEST_F(DynamicNetworks, ShapesOutsideTheRangeAreRefused) {
  load(file("topk_F16.bmodel"));
  take_log();
  for (const int rows : {4, 0, -1}) {
    EXPECT_TRUE(run_rows({}, rows).empty()) << rows;
    EXPECT_ONE_LINE("bmrt_launch_data", "is compiled for inputs up to [3, 300], not for [" + std::to_string(rows));
  }
}

TEST_F(DynamicNetworks, ADamagedListIsRefusedByLaunch) {
  const Bytes good = read_file(file("topk_F16.bmodel"));
  // The mark of the first layer with a head, which is of type 57.
  const Bytes mark{57, 0, 0, 0, 0xff, 0xff, 0x00, 0x1f};
  const auto at = std::search(good.begin(), good.end(), mark.begin(), mark.end()) - good.begin();
  ASSERT_LT(static_cast<std::size_t>(at), good.size());
  for (const auto& [byte, text] : {std::pair(0, "softmax (19)"), std::pair(4, "its list of layers is damaged")}) {
    Bytes bad = good;
    bad[static_cast<std::size_t>(at + byte)] = 19;
    void* const own = bmrt_create(handle_);
    ASSERT_TRUE(bmrt_load_bmodel_data(own, bad.data(), bad.size()));
    std::swap(runtime_, *const_cast<void**>(&own));
    take_log();
    EXPECT_TRUE(run_rows({}, 3).empty());
    EXPECT_ONE_LINE("bmrt_launch_data", text);
    std::swap(runtime_, *const_cast<void**>(&own));
    bmrt_destroy(own);
  }
}

// A file with a network that cannot run loads; launches of this one are refused.
class NetworksThatCannotRun : public Networks,
                              public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(NetworksThatCannotRun, AreRefusedWhenLaunched) {
  const auto& [name, text] = GetParam();
  const bm_net_info_t& info = load(made(name));
  auto in = inputs(info, recorded("softmax_INT8").input);
  std::vector<bm_tensor_t> out(static_cast<std::size_t>(info.output_num));
  take_log();
  EXPECT_FALSE(bmrt_launch_tensor(runtime_, info.name, in.data(), info.input_num, out.data(), info.output_num));
  EXPECT_ONE_LINE("bmrt_launch_tensor", text);
  release(in);
}

INSTANTIATE_TEST_SUITE_P(
    Files, NetworksThatCannotRun,
    testing::Values(std::pair("cpu_part", "part 3 runs on the host's processor (layer softmax1_0_Softmax_f32)"),
                    std::pair("dynamic_part", "part 3 needs the chip's firmware (layer softmax1_0_Softmax_f32)"),
                    std::pair("dynamic_layers",
                              "part 0 needs the chip's firmware (layers scores (tpu.Cast), shares (tpu.Softmax), "
                              "shares_as_words (tpu.Cast))"),
                    std::pair("mixed", "part 3 runs on the host's processor (layer top_k, operation 12)")),
    [](const auto& test) { return std::string(test.param.first); });

struct RefusedFile {
  const char* name;
  const char* text;
};
class RefusedNetworks : public Networks, public testing::WithParamInterface<RefusedFile> {};

TEST_P(RefusedNetworks, WithTheReason) {
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, made(GetParam().name).c_str()));
  const auto lines = take_log();
  ASSERT_FALSE(lines.empty());
  std::string all;
  for (const std::string& line : lines) all += line;
  EXPECT_THAT(all, HasSubstr(GetParam().text));
  EXPECT_THAT(lines.back(), testing::StartsWith("bmrt_load_bmodel: "));
  EXPECT_EQ(bmrt_get_network_number(runtime_), 0);
  // Nothing is lost: another one runs.
  const Recorded good = recorded("softmax_INT8");
  EXPECT_EQ(run(load(good.path), good.input), good.output);
}

INSTANTIATE_TEST_SUITE_P(
    Files, RefusedNetworks,
    testing::Values(RefusedFile{"dynamic", "compiled for dynamic shapes"},
                    RefusedFile{"eight_cores", "compiled for 8 cores"},
                    RefusedFile{"huge_context", "no 107374182400 bytes of memory"},
                    RefusedFile{"stray_tensor", "lies outside the network's areas"},
                    RefusedFile{"other_chip", "the file is for chip BM1688"},
                    RefusedFile{"unknown_instruction", "no short instruction has operation 8"},
                    RefusedFile{"reserved_bit", "bit 90 of sAR is reserved, and set"},
                    RefusedFile{"ends_early", "TIU stream, offset 9"},
                    RefusedFile{"address_outside",
                                "DMA stream, offset 0 (bytes 2202000001020000): DMA 1 DMA_matrix.matrix: src_addr "
                                "0x1f0000000 lies outside the network's areas"},
                    RefusedFile{"waits_for_ever", "the streams wait for ever: TIU 1 at offset 0 (bytes "}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Networks, DamagedFilesAreRefusedOrRun) {
  const Bytes file = read_file(recorded("softmax_INT8").path);
  for (std::size_t size : {std::size_t{0}, std::size_t{63}, std::size_t{100}, file.size() / 2}) {
    EXPECT_FALSE(bmrt_load_bmodel_data(runtime_, file.data(), size)) << size;
  }
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel_data(runtime_, nullptr, 5));
  EXPECT_ONE_LINE("bmrt_load_bmodel_data", "the data is NULL");
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, "/nowhere/x.bmodel"));
  EXPECT_ONE_LINE("bmrt_load_bmodel", "/nowhere/x.bmodel: No such file");
  EXPECT_FALSE(bmrt_load_context(runtime_, "/nowhere"));
  EXPECT_ONE_LINE("bmrt_load_bmodel", "/nowhere/compilation.bmodel");
}

TEST_F(Networks, WrongArgumentsAreRefusedByName) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  auto in = inputs(info, network.input);
  std::vector<bm_tensor_t> out(1);
  const auto launch = [&](const char* name, const bm_tensor_t* from, int input_num, bm_tensor_t* to, int output_num) {
    take_log();
    return bmrt_launch_tensor(runtime_, name, from, input_num, to, output_num);
  };
  EXPECT_FALSE(launch("nothing", in.data(), 1, out.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "no network \"nothing\" is loaded");
  EXPECT_FALSE(launch(nullptr, in.data(), 1, out.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "the network's name is NULL");
  EXPECT_FALSE(launch(info.name, in.data(), 2, out.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "has 1 inputs and 1 outputs; 2 and 1 are given");
  EXPECT_FALSE(launch(info.name, nullptr, 1, out.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "the inputs are NULL");
  const auto changed = [&](auto change) {
    bm_tensor_t tensor = in[0];
    change(tensor);
    return launch(info.name, &tensor, 1, out.data(), 1);
  };
  EXPECT_FALSE(changed([](bm_tensor_t& tensor) { tensor.dtype = BM_INT8; }));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "is of type int8, the network's is float32");
  EXPECT_FALSE(changed([](bm_tensor_t& tensor) { tensor.shape.dims[0] += 1; }));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "is compiled for inputs [");
  EXPECT_FALSE(changed([](bm_tensor_t& tensor) { tensor.shape.num_dims = 9; }));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "has 9 dimensions (limit 8)");
  EXPECT_FALSE(changed([](bm_tensor_t& tensor) { tensor.device_mem.size -= 1; }));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "has memory of");
  EXPECT_FALSE(changed([](bm_tensor_t& tensor) { tensor.st_mode = BM_STORE_4N; }));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "BM1684X has no storage mode 2");
  EXPECT_FALSE(bmrt_launch_tensor_multi_cores(runtime_, info.name, in.data(), 1, out.data(), 1, false, false,
                                              std::array{1}.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor_multi_cores", "core 1 does not exist");
  EXPECT_EQ(bmrt_create(nullptr), nullptr);
  take_log();
  int number = 0;
  EXPECT_EQ(bmrt_get_network_number(&number), 0);
  EXPECT_ONE_LINE("bmrt_get_network_number", "was destroyed or never created");
  EXPECT_FALSE(bmrt_load_bmodel(nullptr, "x"));
  EXPECT_ONE_LINE("bmrt_load_bmodel", "the runtime is NULL");
  EXPECT_EQ(get_bmodel_api_info_c(runtime_, info.name, in.data(), 1, out.data(), 1, false, false, nullptr), nullptr);
  EXPECT_ONE_LINE("get_bmodel_api_info_c", "sends no messages to a firmware");
  release(in);
}

TEST_F(Networks, AnInstructionThatBreaksARuleIsNamed) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  auto in = inputs(info, network.input);
  in[0].device_mem.u.device.device_addr = 0xFFFFFFFFFF00;
  std::vector<bm_tensor_t> out(1);
  ASSERT_TRUE(bmrt_launch_tensor(runtime_, info.name, in.data(), 1, out.data(), 1));
  take_log();
  EXPECT_EQ(bm_thread_sync(handle_), BM_ERR_FAILURE);
  const auto lines = take_log();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("kernel \"network softmax\" on core 0, command 2, at copy of an input or output"));
  release(out);
}

TEST_F(Networks, FunctionsOfTheFirstGeneration) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  int count = 0;
  const char** list = nullptr;
  ASSERT_TRUE(bmrt_get_input_tensor(runtime_, 0, nullptr, &count, &list));
  EXPECT_EQ(count, 1);
  EXPECT_STREQ(list[0], "x");
  int extents[8] = {};
  const bm_shape_t& shape = info.stages[0].input_shapes[0];
  ASSERT_EQ(bmrt_get_input_blob_max_shape(runtime_, "x", 0, info.name, extents), shape.num_dims);
  EXPECT_TRUE(std::equal(extents, extents + shape.num_dims, shape.dims));
  EXPECT_EQ(bmrt_get_output_data_type(runtime_, info.output_names[0], 0, nullptr), BM_FLOAT32);
  EXPECT_EQ(bmrt_get_input_gmem_stmode(runtime_, "x", 0, nullptr), BM_STORE_1N);
  take_log();
  EXPECT_EQ(bmrt_get_input_data_type(runtime_, "z", 0, nullptr), -1);
  EXPECT_ONE_LINE("bmrt_get_input_data_type", "network \"softmax\" has no input \"z\"");
  bm_device_mem_t in{};
  bm_device_mem_t out{};
  ASSERT_EQ(bmrt_malloc_device_byte(runtime_, &in, static_cast<unsigned>(network.input.size())), BM_SUCCESS);
  ASSERT_EQ(bmrt_malloc_device_byte(runtime_, &out, static_cast<unsigned>(network.output.size())), BM_SUCCESS);
  Bytes input = network.input;
  ASSERT_EQ(bmrt_memcpy_s2d(runtime_, in, input.data()), BM_SUCCESS);
  bm_shape_t output_shape{};
  for (int way = 0; way < 3; ++way) {
    const Bytes poison(network.output.size(), 0x77);
    ASSERT_EQ(bmrt_memcpy_s2d(runtime_, out, const_cast<std::uint8_t*>(poison.data())), BM_SUCCESS);
    const int* dims = shape.dims;
    const bool launched =
        way == 0   ? bmrt_launch(runtime_, 0, nullptr, &in, 1, &out, 1, &output_shape)
        : way == 1 ? bmrt_launch_nhw(runtime_, 0, nullptr, &in, 1, &out, 1, dims[0], dims[2], dims[3], &output_shape)
                   : bmrt_launch_shape(runtime_, 0, info.name, &in, 1, &shape.num_dims, dims, &out, 1, &output_shape);
    ASSERT_TRUE(launched) << way << testing::PrintToString(take_log());
    EXPECT_EQ(bmrt_thread_sync(runtime_), BM_SUCCESS);
    EXPECT_EQ(download(out), network.output) << way;
    EXPECT_TRUE(bmrt_shape_is_same(&output_shape, &info.stages[0].output_shapes[0]));
  }
  bmrt_free_device(runtime_, in);
  bmrt_free_device(runtime_, out);
}

TEST_F(Networks, ClassesOfCpp) {
  bmruntime::Context context(handle_);
  const Recorded network = recorded("attention_small_F16");
  ASSERT_EQ(context.load_bmodel(network.path.c_str()), BM_SUCCESS);
  bmruntime::Network net(context, "attention_small");
  ASSERT_EQ(net.Inputs().size(), 1U);
  ASSERT_EQ(net.Input("x")->CopyFrom(network.input.data()), BM_SUCCESS);
  ASSERT_EQ(net.Forward(), BM_SUCCESS);
  Bytes output(net.Outputs()[0]->ByteSize());
  ASSERT_EQ(net.Outputs()[0]->CopyTo(output.data()), BM_SUCCESS);
  EXPECT_EQ(output, network.output);
  EXPECT_EQ(net.Input("y"), nullptr);
  EXPECT_EQ(bmruntime::ByteSize(BM_BFLOAT16), 2U);
}

// ---- Ways of loading ----

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

TEST_F(Networks, AreFoundByNumberAndShape) {
  load(recorded("resize_F32").path);
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  EXPECT_EQ(bmrt_get_network_index(runtime_, "softmax"), 1);
  EXPECT_EQ(bmrt_get_network_index(runtime_, "none"), -1);
  EXPECT_STREQ(bmrt_get_network_name(runtime_, 1), "softmax");
  EXPECT_EQ(bmrt_get_stage_size(runtime_, "softmax"), 1);
  EXPECT_EQ(bmrt_get_neuron_number(runtime_, "softmax"), 1);
  auto in = inputs(info, network.input);
  EXPECT_EQ(bmrt_get_stage_index(runtime_, "softmax", in.data()), 0);
  take_log();
  in[0].shape.dims[0] = 77;
  EXPECT_EQ(bmrt_get_stage_index(runtime_, "softmax", in.data()), -1);
  EXPECT_ONE_LINE("bmrt_get_stage_index", "is compiled for inputs");
  EXPECT_EQ(bmrt_get_network_name(runtime_, 2), nullptr);
  EXPECT_ONE_LINE("bmrt_get_network_name", "network 2 does not exist");
  EXPECT_TRUE(bmrt_pre_alloc_mem(runtime_, "softmax"));
  EXPECT_TRUE(bmrt_free_pre_alloc_mem(runtime_, "softmax"));
  EXPECT_EQ(bmruntime::Count(in[0]), bmrt_shape_count(&in[0].shape));
  EXPECT_EQ(bmruntime::ByteSize(in[0].device_mem), bm_mem_get_device_size(in[0].device_mem));
  release(in);
}

TEST_F(Networks, ThreadsWithNumbersShareANetwork) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  Bytes input = network.input;
  void* const from = input.data();
  Bytes output(network.output.size());
  void* to = output.data();
  bm_shape_t shape{};
  const auto launch = [&](std::uint64_t thread) {
    return bmrt_launch_data_multi_thread(runtime_, info.name, &from, info.stages[0].input_shapes, 1, &to, &shape, 1,
                                         thread, true, nullptr, 0);
  };
  take_log();
  EXPECT_FALSE(launch(3));
  EXPECT_ONE_LINE("bmrt_launch_data_multi_thread", "thread_idx 3 is not prepared");
  ASSERT_TRUE(bmrt_pre_alloc_mem_multi_thread(runtime_, 3, nullptr));
  ASSERT_TRUE(launch(3));
  EXPECT_EQ(output, network.output);
  auto in = inputs(info, network.input);
  std::vector<bm_tensor_t> out(1);
  const int core = 0;
  ASSERT_TRUE(
      bmrt_launch_tensor_multi_thread(runtime_, info.name, in.data(), 1, out.data(), 1, 3, false, false, &core, 1));
  EXPECT_EQ(bmrt_thread_sync(runtime_), BM_SUCCESS);
  EXPECT_EQ(contents(out), network.output);
  release(in);
  release(out);
}

TEST_F(Networks, TheLogKeepsBackWhatIsBelowItsLevel) {
  const BMRT_LogLevel before = bmrt_get_current_log_level();
  bmrt_set_current_log_level(BMRT_LOG_FATAL);
  take_log();
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, "no such file"));
  EXPECT_TRUE(take_log().empty());
  bmrt_set_current_log_level(before);
  EXPECT_FALSE(bmrt_load_bmodel(runtime_, "no such file"));
  EXPECT_EQ(take_log().size(), 1U);
  EXPECT_THAT(libbmrt_version(), HasSubstr("libbmrt_version:"));
}

TEST_F(Networks, LibrariesOpenThroughTheRuntime) {
  void* const library = bmrt_load_lib(SOFTTPU_TEST_CIPHER, 1);
  ASSERT_NE(library, nullptr);
  EXPECT_NE(bmrt_find_sym(library, "decrypt"), nullptr);
  EXPECT_EQ(bmrt_find_sym(library, "encrypt"), nullptr);
  EXPECT_THAT(bmrt_lib_error(), HasSubstr("encrypt"));
  EXPECT_EQ(bmrt_unload_lib(library), 0);
}

TEST_F(Networks, WhatIsNotPublishedIsRefusedByName) {
  take_log();
  EXPECT_FALSE(bmrt_get_coeff_info(runtime_, nullptr));
  EXPECT_ONE_LINE("bmrt_get_coeff_info", "is not published");
  EXPECT_FALSE(
      bmrt_update_bmodel_weight_with_decrypt(runtime_, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_ONE_LINE("bmrt_update_bmodel_weight_with_decrypt", "is not published");
  EXPECT_FALSE(bmrt_empty_bmodel_weight_with_decrypt(runtime_, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_ONE_LINE("bmrt_empty_bmodel_weight_with_decrypt", "is not published");
}

}  // namespace
}  // namespace softtpu::host_test
