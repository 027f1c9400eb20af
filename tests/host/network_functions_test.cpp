// Functions of libbmrt that few programs call: those of the first generation, and those for several devices.
#include <algorithm>
#include <string>
#include <vector>

#include "bmruntime_cpp.h"
#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

class NetworkFunctions : public Networks {
 protected:
  // Elements that no launch has made.
  void spoil(const bm_device_mem_t& mem) {
    Bytes poison(mem.size, 0x77);
    EXPECT_EQ(bmrt_memcpy_s2d(runtime_, mem, poison.data()), BM_SUCCESS);
  }
};

TEST_F(NetworkFunctions, OfTheFirstGenerationWithStoreModesLaunch) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(network.path);
  const bm_shape_t& shape = info.stages[0].input_shapes[0];
  ASSERT_EQ(shape.num_dims, 3);
  int n = shape.dims[0], h = shape.dims[2], w = 1, modes[] = {BM_STORE_1N};
  Bytes input = network.input;
  bm_device_mem_t in = upload(input), out = allocate(static_cast<unsigned>(network.output.size()));
  bm_shape_t made{};
  for (int way = 0; way < 3; ++way) {
    spoil(out);
    const bool launched =
        way == 0 ? bmrt_launch_nhw_stmode(runtime_, 0, nullptr, &in, 1, &out, 1, n, h, w, modes, modes, &made)
        : way == 1
            ? bmrt_launch_nhw_stmode_multi_input(runtime_, 0, nullptr, &in, 1, &out, 1, n, &h, &w, modes, modes, &made)
            : bmrt_launch_shape_stmode(runtime_, 0, nullptr, &in, 1, &shape.num_dims, shape.dims, &out, 1, modes, modes,
                                       &made);
    ASSERT_TRUE(launched) << way << testing::PrintToString(take_log());
    EXPECT_EQ(bmrt_thread_sync(runtime_), BM_SUCCESS);
    EXPECT_EQ(download(out), network.output) << way;
    EXPECT_TRUE(bmrt_shape_is_same(&made, &info.stages[0].output_shapes[0]));
  }
  take_log();
  EXPECT_FALSE(
      bmrt_launch_nhw_stmode_multi_input(runtime_, 0, nullptr, &in, 1, &out, 1, n, nullptr, &w, modes, modes, &made));
  EXPECT_ONE_LINE("bmrt_launch_nhw_stmode_multi_input", "the heights or the widths are NULL");
  EXPECT_FALSE(bmrt_launch_cpu_data(runtime_, 0, nullptr, nullptr, 1, nullptr, 1, nullptr, nullptr));
  EXPECT_ONE_LINE("bmrt_launch_cpu_data", "not published");
  bm_free_device(handle_, in);
  bm_free_device(handle_, out);
}

TEST_F(NetworkFunctions, OfTheFirstGenerationKnowTheNetwork) {
  const bm_net_info_t& info = load(recorded("softmax_INT8").path);
  const char* const result = info.output_names[0];
  const bm_shape_t& given = info.stages[0].input_shapes[0];
  const bm_shape_t& made = info.stages[0].output_shapes[0];
  int count = 0;
  const char** list = nullptr;
  ASSERT_TRUE(bmrt_get_output_tensor(runtime_, 0, nullptr, &count, &list));
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(list[0], result);
  int extents[8] = {};
  ASSERT_EQ(bmrt_get_output_blob_max_shape(runtime_, result, 0, nullptr, extents), made.num_dims);
  EXPECT_TRUE(std::equal(extents, extents + made.num_dims, made.dims));
  int n = 0, c = 0, h = 0, w = 0;
  bmrt_get_input_blob_max_nhw(runtime_, "x", 0, nullptr, &n, &c, &h, &w);
  EXPECT_EQ((std::vector<int>{n, c, h, w}), (std::vector<int>{given.dims[0], given.dims[1], given.dims[2], 1}));
  bmrt_get_output_blob_max_nhw(runtime_, result, 0, nullptr, &n, &c, &h, &w);
  EXPECT_EQ((std::vector<int>{n, c, h, w}), (std::vector<int>{made.dims[0], made.dims[1], made.dims[2], 1}));
  EXPECT_EQ(bmrt_get_output_gmem_stmode(runtime_, result, 0, nullptr), BM_STORE_1N);
  EXPECT_FALSE(bmrt_can_batch_size_change(runtime_, 0, nullptr));
  EXPECT_FALSE(bmrt_can_height_and_width_change(runtime_, 0, nullptr));
  EXPECT_EQ(static_cast<bm_handle_t>(bmrt_get_bm_handle(runtime_)), handle_);
  const int core = 0;
  EXPECT_TRUE(bmrt_pre_alloc_neuron_multi_cores(runtime_, info.name, 0, &core, 1));
  testing::internal::CaptureStdout();
  bmrt_show_neuron_network(runtime_);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("softmax"));
}

TEST_F(NetworkFunctions, OfMemoryCopyPartsOfIt) {
  Bytes given{1, 2, 3, 4, 5, 6, 7, 8};
  Bytes back(8);
  bm_device_mem_t mem{};
  ASSERT_EQ(bmrt_malloc_neuron_device(runtime_, &mem, 1, 2, 1, 1), BM_SUCCESS);  // two floats
  ASSERT_EQ(bm_mem_get_device_size(mem), 8U);
  ASSERT_EQ(bmrt_memcpy_s2d_withsize(runtime_, mem, given.data(), 8), BM_SUCCESS);
  ASSERT_EQ(bmrt_memcpy_s2d_withsize_offset(runtime_, mem, given.data(), 3, 5), BM_SUCCESS);
  ASSERT_EQ(bmrt_memcpy_d2s(runtime_, back.data(), mem), BM_SUCCESS);
  EXPECT_EQ(back, (Bytes{1, 2, 3, 4, 5, 1, 2, 3}));
  ASSERT_EQ(bmrt_memcpy_d2s_withsize(runtime_, back.data(), mem, 2), BM_SUCCESS);
  ASSERT_EQ(bmrt_memcpy_d2s_withsize_offset(runtime_, back.data() + 2, mem, 2, 6), BM_SUCCESS);
  EXPECT_EQ(back, (Bytes{1, 2, 2, 3, 5, 1, 2, 3}));
  bmrt_free_device(runtime_, mem);
  int count = 0;
  EXPECT_EQ(bmrt_dev_getcount(runtime_, &count), BM_SUCCESS);
  EXPECT_EQ(count, 2);
  unsigned long time = 77;
  bmrt_get_last_api_process_time_us(runtime_, &time);
  EXPECT_NE(time, 77U);
  api_info_c none{};
  take_log();
  bmrt_free_api_info(&none);
  EXPECT_ONE_LINE("bmrt_free_api_info", "was not returned by get_bmodel_api_info_c");
}

TEST_F(NetworkFunctions, HelpersMakeARuntimeAndItsHandle) {
  bm_handle_t own = nullptr;
  void* const runtime = create_bmrt_helper(&own, "BM1684X", 0);
  ASSERT_NE(runtime, nullptr) << testing::PrintToString(take_log());
  ASSERT_NE(own, nullptr);
  EXPECT_TRUE(bmrt_load_bmodel(runtime, recorded("softmax_INT8").path.c_str()));
  destroy_bmruntime(runtime);
  bm_dev_free(own);
}

TEST_F(NetworkFunctions, OfSeveralDevicesCopyToEach) {
  bm_handle_t handles[2] = {handle_, nullptr};
  ASSERT_EQ(bm_dev_request(&handles[1], 1), BM_SUCCESS);
  void* const both = bmrt_create_ex(handles, 2);
  ASSERT_NE(both, nullptr) << testing::PrintToString(take_log());
  bm_shape_t shape{};
  const int extents[] = {4};
  bmrt_shape(&shape, extents, 1);
  EXPECT_EQ(bmruntime::Count(shape), 4U);
  EXPECT_TRUE(bmruntime::IsSameShape(shape, shape));
  bm_tensor_t first[2], second[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(bmrt_tensor_ex(&first[i], both, i, BM_INT8, shape)) << testing::PrintToString(take_log());
    ASSERT_TRUE(bmrt_tensor_ex(&second[i], both, i, BM_INT8, shape));
  }
  Bytes data[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  Bytes back[2] = {Bytes(4), Bytes(4)};
  void* from[] = {data[0].data(), data[1].data()};
  void* to[] = {back[0].data(), back[1].data()};
  int each[] = {1, 1};
  ASSERT_TRUE(bmrt_memcpy_s2d_parallel(both, first, from, each, 2)) << testing::PrintToString(take_log());
  ASSERT_TRUE(bmrt_memcpy_s2d_parallel(both, second, from, each, 2));
  size_t begin[] = {2, 2}, source[] = {0, 1}, sizes[] = {2, 2};
  ASSERT_TRUE(bmrt_memcpy_d2d_byte_parallel(both, second, begin, first, source, sizes, each, 2));
  ASSERT_TRUE(bmrt_memcpy_d2s_parallel(both, to, second, each, 2));
  EXPECT_EQ(back[0], (Bytes{1, 2, 1, 2}));
  EXPECT_EQ(back[1], (Bytes{5, 6, 6, 7}));
  take_log();
  EXPECT_FALSE(bmrt_memcpy_d2d_stride_ex_parallel(both, second, begin, &shape, first, source, &shape, &shape, each, 2));
  EXPECT_ONE_LINE("bmrt_memcpy_d2d_stride_ex_parallel", "is not published");
  for (int i = 0; i < 2; ++i) {
    bm_free_device(handles[i], first[i].device_mem);
    bm_free_device(handles[i], second[i].device_mem);
  }
  bmrt_destroy(both);
  bm_dev_free(handles[1]);
}

}  // namespace
}  // namespace softtpu::host_test
