// libbmrt as programs use it: networks on a device, in a process of their own, byte for byte.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bmruntime_cpp.h"
#include "softtpu/networks.h"
#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

TEST_F(Networks, WithoutAPartGiveNoOutputThatNeedsIt) {
  ASSERT_TRUE(softtpu_bmrt_run_static_parts(runtime_, true));
  const bm_net_info_t& info = load(made("mixed_outputs"));
  const Recorded network = recorded("softmax_INT8");
  ASSERT_EQ(info.output_num, 3);
  const std::size_t bytes = network.output.size();
  std::vector<Bytes> outputs(3, Bytes(bytes, 0x5A));
  void* in[] = {const_cast<std::uint8_t*>(network.input.data())};  // NOLINT
  void* out[] = {outputs[0].data(), outputs[1].data(), outputs[2].data()};
  bm_shape_t shapes[3] = {};
  take_log();
  EXPECT_FALSE(bmrt_launch_data(runtime_, info.name, in, info.stages[0].input_shapes, 1, out, shapes, 3, true));
  EXPECT_THAT(take_log(), testing::Contains(HasSubstr(
                              "has not made \"best\", \"top_k\": left out is part 3 runs on the host's processor")));
  EXPECT_EQ(outputs, (std::vector<Bytes>{network.output, Bytes(bytes, 0x5A), Bytes(bytes, 0x5A)}));
  EXPECT_EQ(shapes[0].num_dims, info.stages[0].output_shapes[0].num_dims);
  EXPECT_EQ(shapes[1].num_dims, -1);
  EXPECT_EQ(shapes[2].num_dims, -1);
  // Arrays that the function would make, and tensors: with memory of the program what is made is there.
  void* none[3] = {};
  EXPECT_FALSE(bmrt_launch_data(runtime_, info.name, in, info.stages[0].input_shapes, 1, none, shapes, 3, false));
  EXPECT_EQ(none[0], nullptr);
  std::vector<bm_tensor_t> given = inputs(info, network.input);
  std::vector<bm_tensor_t> results(3);
  EXPECT_FALSE(bmrt_launch_tensor(runtime_, info.name, given.data(), 1, results.data(), 3));
  for (bm_tensor_t& result : results)
    ASSERT_EQ(bm_malloc_device_byte(handle_, &result.device_mem, static_cast<unsigned>(bytes)), BM_SUCCESS);
  EXPECT_FALSE(bmrt_launch_tensor_ex(runtime_, info.name, given.data(), 1, results.data(), 3, true, false));
  EXPECT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
  Bytes got(bytes);
  EXPECT_EQ(bm_memcpy_d2s(handle_, got.data(), results[0].device_mem), BM_SUCCESS);
  EXPECT_EQ(got, network.output);
  EXPECT_THAT(take_log(), testing::SizeIs(3));
  for (bm_tensor_t& result : results) bm_free_device(handle_, result.device_mem);
  bm_free_device(handle_, given[0].device_mem);
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

}  // namespace
}  // namespace softtpu::host_test
