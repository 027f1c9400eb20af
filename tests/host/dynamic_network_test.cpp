// Networks with dynamic parts: the recorded bytes and shapes, and what is refused.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

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

TEST_F(DynamicNetworks, MissingAndWrongInputsAreRefusedByName) {
  load(file("topk_F16.bmodel"));
  Bytes in(std::size_t{4} * kColumns * 3);
  Bytes out(60);
  std::array<void*, 2> to{out.data(), out.data()};
  std::array<bm_shape_t, 2> made{};
  const auto launch = [&](void* from, const bm_shape_t& shape, int inputs, int outputs) {
    take_log();
    return bmrt_launch_data(runtime_, "topk", &from, &shape, inputs, to.data(), made.data(), outputs, true);
  };
  const bm_shape_t good{2, {1, kColumns}};
  EXPECT_FALSE(launch(nullptr, good, 1, 2));
  EXPECT_ONE_LINE("bmrt_launch_data", "input 0 is NULL");
  EXPECT_FALSE(launch(in.data(), good, 0, 2));
  EXPECT_ONE_LINE("bmrt_launch_data", "has 1 inputs and 2 outputs; 0 and 2 are given");
  EXPECT_FALSE(launch(in.data(), {3, {1, 1, kColumns}}, 1, 2));
  EXPECT_ONE_LINE("bmrt_launch_data", "[1, 1, 300]");
  EXPECT_FALSE(launch(in.data(), {9, {1, kColumns}}, 1, 2));
  EXPECT_ONE_LINE("bmrt_launch_data", "9");
  EXPECT_TRUE(launch(in.data(), good, 1, 2)) << testing::PrintToString(take_log());
}

// What a program holds may have become wrong: each is one line, and the next right launch gives the recorded bytes.
TEST_F(DynamicNetworks, MemoryInAWrongStateIsRefusedByTensor) {
  const bm_net_info_t& info = load(file("topk_F16.bmodel"));
  const Bytes given = read_file(file("topk_F16.run0.input.bin"));
  std::vector<bm_tensor_t> in = inputs(info, given);
  std::array<bm_tensor_t, 2> out{};
  for (int i = 0; i < info.output_num; ++i)
    ASSERT_TRUE(bmrt_tensor(&out[static_cast<std::size_t>(i)], runtime_, info.output_dtypes[i],
                            info.stages[0].output_shapes[i]));
  const auto launch = [&](bm_tensor_t from, std::array<bm_tensor_t, 2> to) {
    take_log();
    return bmrt_launch_tensor_ex(runtime_, info.name, &from, 1, to.data(), 2, true, false);
  };
  const auto changed = [](auto tensor, auto change) {
    change(tensor);
    return tensor;
  };
  const std::uint64_t at = bm_mem_get_device_addr(in[0].device_mem);
  EXPECT_FALSE(launch(changed(in[0], [&](bm_tensor_t& one) { bm_set_device_mem(&one.device_mem, 400, at); }), out));
  EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "tensor \"x\" has memory of 400 bytes, it needs 3600");
  EXPECT_FALSE(launch(changed(in[0], [](bm_tensor_t& one) { one.device_mem = {}; }), out));
  EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "tensor \"x\" has memory of 0 bytes, it needs 3600");
  for (const std::uint64_t nowhere : {std::uint64_t{0}, std::uint64_t{0x7fff00000000}, ~std::uint64_t{0} - 63}) {
    EXPECT_FALSE(
        launch(changed(in[0], [&](bm_tensor_t& one) { bm_set_device_mem(&one.device_mem, 3600, nowhere); }), out));
    EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "does not lie in global memory");
    EXPECT_FALSE(launch(in[0], changed(out, [&](auto& all) { bm_set_device_mem(&all[1].device_mem, 60, nowhere); })));
    EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "does not lie in global memory");
  }
  EXPECT_FALSE(launch(changed(in[0], [](bm_tensor_t& one) { one.dtype = BM_INT8; }), out));
  EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "input \"x\" is of type int8, the network's is float32");
  EXPECT_FALSE(launch(in[0], changed(out, [](auto& all) { all[0].device_mem.size = 8; })));
  EXPECT_ONE_LINE("bmrt_launch_tensor_ex", "has memory of 8 bytes, it needs 60");
  ASSERT_TRUE(launch(in[0], out)) << testing::PrintToString(take_log());
  EXPECT_EQ(contents({out.begin(), out.end()}), read_file(file("topk_F16.run0.output.bin")));
  bm_free_device(handle_, in[0].device_mem);
  for (const bm_tensor_t& one : out) bm_free_device(handle_, one.device_mem);
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

}  // namespace
}  // namespace softtpu::host_test
