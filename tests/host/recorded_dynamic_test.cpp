// Dynamic networks as recorded, in all their shapes: the bytes and shapes of the outputs. Networks with a layer that is
// not carried out are refused by it.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/host/network_fixture.hpp"

namespace softtpu::host_test {
namespace {

using Json = nlohmann::json;

class RecordedDynamicNetworks : public Networks {
 protected:
  static Json runs_of(const std::filesystem::path& network) {
    std::ifstream file(std::filesystem::path(network).replace_extension("json"));
    return Json::parse(file).at("runs");
  }

  static bm_shape_t shape_of(const Json& tensor) {
    bm_shape_t shape{};
    for (const Json& extent : tensor.at("shape")) shape.dims[shape.num_dims++] = extent.get<int>();
    return shape;
  }

  static std::filesystem::path part(const std::filesystem::path& network, const Json& run, const char* which) {
    return std::filesystem::path(network).replace_extension("run" + std::to_string(run.at("run").get<int>()) + "." +
                                                            which + ".bin");
  }

  // Whether the launch is carried out; then its outputs are those of the recording.
  bool run_recorded(const std::filesystem::path& network, const Json& run, const std::string& name) {
    constexpr std::size_t kSpare = 64;
    const Bytes given = read_file(part(network, run, "input"));
    std::vector<std::size_t> sizes;
    std::vector<bm_shape_t> shapes;
    for (const Json& tensor : run.at("inputs")) {
      sizes.push_back(tensor.at("bytes").get<std::size_t>());
      shapes.push_back(shape_of(tensor));
    }
    std::vector<Bytes> in = split(given, sizes);
    std::vector<Bytes> out;
    std::vector<void*> from;
    std::vector<void*> to;
    for (Bytes& one : in) from.push_back(one.data());
    for (const Json& tensor : run.at("outputs"))
      out.emplace_back(tensor.at("bytes").get<std::size_t>() + kSpare, std::uint8_t{0xAA});
    for (Bytes& one : out) to.push_back(one.data());
    std::vector<bm_shape_t> made(out.size());
    if (!bmrt_launch_data(runtime_, name.c_str(), from.data(), shapes.data(), static_cast<int>(in.size()), to.data(),
                          made.data(), static_cast<int>(out.size()), true))
      return false;
    Bytes all;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bm_shape_t expected = shape_of(run.at("outputs")[i]);
      EXPECT_EQ(std::vector<int>(made[i].dims, made[i].dims + made[i].num_dims),
                std::vector<int>(expected.dims, expected.dims + expected.num_dims))
          << network << " run " << run.at("run") << " output " << i;
      // Nothing behind what the shape says is written.
      EXPECT_TRUE(std::all_of(out[i].end() - kSpare, out[i].end(), [](std::uint8_t byte) { return byte == 0xAA; }));
      all.insert(all.end(), out[i].begin(), out[i].end() - kSpare);
    }
    EXPECT_TRUE(all == read_file(part(network, run, "output"))) << network << " run " << run.at("run");
    return true;
  }

  // Runs that are carried out.
  int run_all(const std::filesystem::path& network) {
    const std::string name = load(network.string()).name;
    int done = 0;
    for (const Json& run : runs_of(network)) done += run_recorded(network, run, name) ? 1 : 0;
    bmrt_destroy(runtime_);
    runtime_ = bmrt_create(handle_);
    return done;
  }

  static std::vector<std::filesystem::path> networks_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".bmodel" &&
          std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension("json")))
        all.push_back(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST_F(RecordedDynamicNetworks, GiveTheRecordedBytesAndShapes) {
  const auto networks = networks_in(std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic");
  EXPECT_GE(networks.size(), 33U);
  for (const auto& network : networks)
    EXPECT_EQ(run_all(network), static_cast<int>(runs_of(network).size()))
        << network << testing::PrintToString(take_log());
}

// All of them, where they lie beside the checkout.
TEST_F(RecordedDynamicNetworks, OfTheCompleteCollectionRunOrAreRefusedByLayer) {
  const std::filesystem::path folder = std::string(SOFTTPU_ALL_DYNAMIC_NETWORKS);
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the complete collection is not here";
  const std::map<std::string, std::string> refused{
      {"attention_small_BF16", "attention (177)"},
      {"attention_small_F16", "attention (177)"},
      {"attention_small_INT8", "attention (177)"},
      {"conv_3d_F32", "3-D convolution (109)"},
      {"lenet_INT8", "softmax (19)"},
      {"lstm_F16", "LSTM (116)"},
      {"lstm_F32", "LSTM (116)"},
      {"resize_F16", "resize (20)"},
      {"resize_F32", "resize (20)"},
      {"resize_INT8", "resize (20)"},
  };
  int equal = 0;
  for (const auto& network : networks_in(folder)) {
    take_log();
    const int runs = static_cast<int>(runs_of(network).size());
    const int done = run_all(network);
    const auto log = take_log();
    const auto known = refused.find(network.stem().string());
    EXPECT_EQ(done, known == refused.end() ? runs : 0) << network << testing::PrintToString(log);
    if (known != refused.end()) {
      EXPECT_THAT(log, testing::Contains(testing::HasSubstr(known->second))) << network;
    }
    equal += done;
  }
  EXPECT_GE(equal, 161);
}

}  // namespace
}  // namespace softtpu::host_test
