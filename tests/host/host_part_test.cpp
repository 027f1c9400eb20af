// Parts of networks for the host's processor: what they give, with instructions around them, and what is refused.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HostParts : public Networks {
 protected:
  template <class T>
  static std::vector<T> as(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  static Bytes of(const std::vector<T>& values) {
    Bytes bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  // One line of the log that has the text.
  void expect_refused(const Bytes& input, const char* text) {
    const bm_net_info_t& info = *bmrt_get_network_info(runtime_, names().back().c_str());
    auto in = inputs(info, input);
    std::vector<bm_tensor_t> out(static_cast<std::size_t>(info.output_num));
    take_log();
    EXPECT_FALSE(bmrt_launch_tensor(runtime_, info.name, in.data(), info.input_num, out.data(), info.output_num));
    const auto log = take_log();
    ASSERT_EQ(log.size(), 1U) << testing::PrintToString(log);
    EXPECT_THAT(log[0], HasSubstr(text));
    release(in);
  }
};

TEST_F(HostParts, BehindInstructionsGetWhatTheseMake) {
  const Recorded network = recorded("softmax_INT8");
  const bm_net_info_t& info = load(made("host_behind"));
  ASSERT_EQ(info.output_num, 2);
  const Bytes found = run(info, network.input);
  const auto rows = as<float>(network.output);
  const auto parts = split(found, {3 * 12 * 5 * 4, 3 * 12 * 5 * 4});
  const auto values = as<float>(parts[0]);
  const auto places = as<std::int32_t>(parts[1]);
  for (std::size_t row = 0; row < 36; ++row) {
    std::vector<float> order(rows.begin() + static_cast<std::ptrdiff_t>(row * 50),
                             rows.begin() + static_cast<std::ptrdiff_t>(row * 50 + 50));
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(values[row * 5 + i], order[static_cast<std::size_t>(places[row * 5 + i])]);
    }
    std::sort(order.rbegin(), order.rend());
    EXPECT_TRUE(std::equal(order.begin(), order.begin() + 5, values.begin() + static_cast<std::ptrdiff_t>(row * 5)));
  }
}

TEST_F(HostParts, BeforeInstructionsGiveWhatTheseTake) {
  const Recorded network = recorded("softmax_INT8");
  std::vector<float> floors = as<float>(network.input);
  std::vector<float> raw = floors;
  for (float& value : raw) value *= 3;
  std::transform(raw.begin(), raw.end(), floors.begin(), [](float value) { return std::floor(value); });
  const Bytes wanted = run(load(network.path), of(floors));
  void* const other = bmrt_create(handle_);
  std::swap(runtime_, *const_cast<void**>(&other));
  EXPECT_EQ(run(load(made("host_before")), of(raw)), wanted);
  // The program's own memory for outputs gets them, too.
  Bytes out(wanted.size());
  void* from = raw.data();
  void* to = out.data();
  bm_shape_t shape{3, {3, 12, 50}};
  bm_shape_t shape_of_output{};
  EXPECT_TRUE(bmrt_launch_data(runtime_, names().back().c_str(), &from, &shape, 1, &to, &shape_of_output, 1, true));
  EXPECT_EQ(out, wanted);
  std::swap(runtime_, *const_cast<void**>(&other));
  bmrt_destroy(other);
}

TEST_F(HostParts, BetweenInstructionsHandOn) {
  const Recorded network = recorded("softmax_INT8");
  std::vector<float> rows = as<float>(network.output);
  for (auto row = rows.begin(); row != rows.end(); row += 50) std::sort(row, row + 50);
  const Bytes wanted = run(load(network.path), of(rows));
  void* const other = bmrt_create(handle_);
  std::swap(runtime_, *const_cast<void**>(&other));
  const bm_net_info_t& info = load(made("host_between"));
  EXPECT_EQ(run(info, network.input), wanted);
  EXPECT_EQ(run(info, network.input), wanted) << "the second time";
  std::swap(runtime_, *const_cast<void**>(&other));
  bmrt_destroy(other);
}

// The example of ONNX's documentation with two classes, whose second has other scores.
TEST_F(HostParts, GiveOutputsTheirRealShapes) {
  const bm_net_info_t& info = load(made("host_nms"));
  ASSERT_EQ(info.input_num, 2);
  const std::vector<float> boxes{0, 0,  1, 1,  0, 0.1F,  1, 1.1F,  0, -0.1F, 1, 0.9F,
                                 0, 10, 1, 11, 0, 10.1F, 1, 11.1F, 0, 100,   1, 101};
  const std::vector<float> scores{0.9F, 0.75F, 0.6F, 0.95F, 0.5F, 0.3F, 0.1F, 0.2F, 0.3F, 0.1F, 0.41F, 0.4F};
  Bytes input = of(boxes);
  const Bytes second = of(scores);
  input.insert(input.end(), second.begin(), second.end());
  auto in = inputs(info, input);
  bm_tensor_t out{};
  ASSERT_TRUE(bmrt_launch_tensor(runtime_, info.name, in.data(), 2, &out, 1));
  EXPECT_EQ(out.shape.num_dims, 2);
  EXPECT_EQ(out.shape.dims[0], 3);
  EXPECT_EQ(out.shape.dims[1], 3);
  EXPECT_THAT(as<std::int32_t>(contents({out})), ElementsAre(0, 0, 3, 0, 0, 0, 0, 1, 4));
  release(in);
  bm_free_device(handle_, out.device_mem);
}

TEST_F(HostParts, OfAProgramsOwnLibrary) {
  // Without the library the file loads, and a launch says what is missing.
  load(made("host_user"));
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  expect_refused(of(values), "USER_DEFINED (3) needs libusercpu.so");
  bmrt_destroy(runtime_);
  runtime_ = bmrt_create(handle_);
  void* const library = bmrt_load_lib(SOFTTPU_TEST_USER_LAYERS, RTLD_NOW);
  ASSERT_NE(library, nullptr) << bmrt_lib_error();
  const bm_net_info_t& info = load(made("host_user"));
  EXPECT_THAT(as<float>(run(info, of(values))), ElementsAre(2.5F, 5, 7.5F, 10, 12.5F, 15));
  // The shape that the library gives, the status that it returns, and what it throws.
  EXPECT_THAT(as<float>(run(info, of(std::vector<float>{-1, 2, 3, 4, 5, 6}))), ElementsAre(10, 12.5F, 15));
  expect_refused(of(std::vector<float>{-7, 2, 3, 4, 5, 6}), "user_cpu_process returned 3");
  expect_refused(of(std::vector<float>{-8, 2, 3, 4, 5, 6}), "user_cpu_process threw \"a row of -8\"");
  bmrt_destroy(runtime_);
  runtime_ = bmrt_create(handle_);
  bmrt_unload_lib(library);
}

class HostPartsThatCannotRun : public HostParts,
                               public testing::WithParamInterface<std::pair<const char*, const char*>> {};
TEST_P(HostPartsThatCannotRun, AreRefusedByNameWhenLaunched) {
  const bm_net_info_t& info = load(made(GetParam().first));
  Bytes input;
  for (int i = 0; i < info.input_num; ++i) input.resize(input.size() + info.max_input_bytes[i]);
  if (std::string(GetParam().first) == "host_smaller") {
    const Bytes large = of(std::vector<float>{0, 300, 0, 0, 0, 0});
    std::copy(large.begin(), large.end(), input.begin());
  }
  expect_refused(input, GetParam().second);
  // Nothing is lost: another one runs.
  const Recorded good = recorded("softmax_INT8");
  EXPECT_EQ(run(load(good.path), good.input), good.output);
}
INSTANTIATE_TEST_SUITE_P(
    Files, HostPartsThatCannotRun,
    testing::Values(
        std::pair("host_unknown",
                  "part 0 runs on the host's processor (layer y, operation 7): YOLO (7) is not carried out"),
        std::pair("host_record", "TOPK (17) has 8 bytes of parameters, its published record has 12"),
        std::pair("host_other_operands", "GATHER (9): its result has 1 x 3 x 3 elements, the file has room for 6"),
        std::pair("host_smaller", "GATHERND (12): a value of output \"y\" does not fit its type i8")),
    [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace softtpu::host_test
