// Networks that cannot run, files that are damaged, and wrong arguments: each is refused with the reason.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

using testing::HasSubstr;

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

TEST_F(Networks, MemoryOutsideTheDeviceIsRefusedByTensor) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  auto in = inputs(info, network.input);
  const auto good = in;
  in[0].device_mem.u.device.device_addr = 0xFFFFFFFFFF00;
  std::vector<bm_tensor_t> out(1);
  take_log();
  EXPECT_FALSE(bmrt_launch_tensor(runtime_, info.name, in.data(), 1, out.data(), 1));
  EXPECT_ONE_LINE("bmrt_launch_tensor", "at 0xffffffffff00 does not lie in global memory, 0x100000000..0x200000000");
  ASSERT_TRUE(bmrt_launch_tensor(runtime_, info.name, good.data(), 1, out.data(), 1));
  EXPECT_EQ(bm_thread_sync(handle_), BM_SUCCESS);
  EXPECT_EQ(contents(out), network.output);
  release(out);
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
