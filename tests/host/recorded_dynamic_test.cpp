// Dynamic networks as recorded, in all their shapes: the bytes and shapes of the outputs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

  // Runs of one network of a file, each with memory of its own, as they were recorded: what nothing has written is 0.
  int run_alone(const std::filesystem::path& file, const std::filesystem::path& runs) {
    int done = 0;
    for (const Json& run : runs_of(runs)) {
      EXPECT_TRUE(bmrt_load_bmodel(runtime_, file.c_str()));
      done += run_recorded(runs, run, run.at("net").get<std::string>()) ? 1 : 0;
      bmrt_destroy(runtime_);
      runtime_ = bmrt_create(handle_);
    }
    return done;
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

// The groups of recorded networks with fewer rows in a slice: each row has the same bytes in any slices.
TEST_F(RecordedDynamicNetworks, GiveTheSameBytesInSlicesOfRows) {
  int divided = 0;
  int runs = 0;
  const std::filesystem::path all = std::string(SOFTTPU_ALL_DYNAMIC_NETWORKS);
  const std::filesystem::path few = std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic";
  for (const auto& network : networks_in(std::filesystem::exists(all) ? all : few)) {
    for (const std::uint8_t rows : Bytes{1, 2, 3}) {
      Bytes bytes = read_file(network.string());
      // Heads of groups: their number of steps, the marks 0, 255 and 0x22, and the rows of a slice at the end.
      int found = 0;
      for (std::size_t i = 0; i + 16 <= bytes.size(); ++i) {
        const bool head = bytes[i] == 0 && bytes[i + 1] == 0 && bytes[i + 2] >= 2 && bytes[i + 2] < 100 &&
                          bytes[i + 3] == 0 && bytes[i + 4] == 255 && bytes[i + 7] == 0x22 &&
                          (bytes[i + 8] == 1 || bytes[i + 8] == 3) && bytes[i + 12] > rows && bytes[i + 13] == 0 &&
                          bytes[i + 14] == 0 && bytes[i + 15] == 0;
        if (!head) continue;
        bytes[i + 12] = rows;
        ++found;
      }
      if (found == 0) continue;
      divided += found;
      ASSERT_TRUE(bmrt_load_bmodel_data(runtime_, bytes.data(), bytes.size()))
          << network << testing::PrintToString(take_log());
      const std::string name = names().back();
      for (const Json& run : runs_of(network)) {
        EXPECT_TRUE(run_recorded(network, run, name)) << network << testing::PrintToString(take_log());
        ++runs;
      }
      bmrt_destroy(runtime_);
      runtime_ = bmrt_create(handle_);
    }
  }
  EXPECT_GE(divided, 10);
  EXPECT_GE(runs, 10);
  RecordProperty("runs", runs);
}

// All of them, where they lie beside the checkout.
TEST_F(RecordedDynamicNetworks, OfTheCompleteCollectionGiveTheRecordedBytes) {
  const std::filesystem::path folder = std::string(SOFTTPU_ALL_DYNAMIC_NETWORKS);
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the complete collection is not here";
  int equal = 0;
  for (const auto& network : networks_in(folder)) {
    take_log();
    const int runs = static_cast<int>(runs_of(network).size());
    const int done = run_all(network);
    const auto log = take_log();
    EXPECT_EQ(done, runs) << network << testing::PrintToString(log);
    equal += done;
  }
  EXPECT_EQ(equal, 173);
}

// Blocks of a language model: a prompt and further tokens, in lengths of 1 to 32 and with up to 96 tokens of history.
TEST_F(RecordedDynamicNetworks, BlocksOfTheCompleteLanguageModelGiveTheRecordedBytes) {
  const std::filesystem::path file = std::string(SOFTTPU_ALL_DYNAMIC_NETWORKS) + "/llm_tinyqwen2_history.bmodel";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the complete collection is not here";
  for (const char* name : {"block_0", "block_kv_0"}) {
    const auto runs = std::filesystem::path(file).replace_extension(std::string(name) + ".json");
    EXPECT_EQ(run_alone(file, runs), 4) << name << testing::PrintToString(take_log());
  }
}

// A history that is none of this block's, and the next launch is right.
TEST_F(RecordedDynamicNetworks, AHistoryOfAnotherKindIsRefusedByTheLaunch) {
  const std::filesystem::path network = std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic/llm_block_W4BF16.bmodel";
  load(network.string());
  constexpr int kRows = 4;
  const auto launch = [&](const bm_shape_t& keys, const bm_shape_t& values, const bm_shape_t& places) {
    std::vector<Bytes> in{Bytes(kRows * 512 * 2), Bytes(1024), Bytes(200 * 128 * 2), Bytes(200 * 128 * 2)};
    std::vector<Bytes> out{Bytes(32 * 512 * 2), Bytes(32 * 128 * 2), Bytes(32 * 128 * 2)};
    const std::vector<bm_shape_t> shapes{{3, {1, kRows, 512}}, places, keys, values};
    std::vector<bm_shape_t> made(out.size());
    std::vector<void*> from;
    std::vector<void*> to;
    for (Bytes& one : in) from.push_back(one.data());
    for (Bytes& one : out) to.push_back(one.data());
    take_log();
    return bmrt_launch_data(runtime_, "block_kv_0", from.data(), shapes.data(), 4, to.data(), made.data(), 3, true);
  };
  const bm_shape_t good{4, {1, 8, 2, 64}};
  const bm_shape_t places{2, {1, kRows}};
  EXPECT_FALSE(launch({4, {1, 129, 2, 64}}, good, places));  // more than it is compiled for
  EXPECT_ONE_LINE("bmrt_launch_data", "not for [1, 4, 512], [1, 4], [1, 129, 2, 64]");
  EXPECT_FALSE(launch({3, {8, 2, 64}}, good, places));
  EXPECT_ONE_LINE("bmrt_launch_data", "not for [1, 4, 512], [1, 4], [8, 2, 64]");
  constexpr const char* kNetwork = "network \"block_kv_0\"";
  EXPECT_FALSE(launch({4, {1, 8, 1, 64}}, good, places));
  EXPECT_ONE_LINE(
      kNetwork,
      "with these shapes part 0 cannot run: layer 12 of its list, concatenation (7): inputs of different extents");
  EXPECT_FALSE(launch(good, {4, {1, 7, 2, 64}}, places));
  EXPECT_ONE_LINE(kNetwork, "layer 14 of its list, attention over heads (10009): operands of these extents");
  EXPECT_FALSE(launch(good, good, {2, {1, kRows - 1}}));
  EXPECT_ONE_LINE(kNetwork, "layer 10 of its list, rotary embedding (172): sines and cosines of these extents");
  EXPECT_TRUE(launch(good, good, places)) << testing::PrintToString(take_log());
  bmrt_destroy(runtime_);
  runtime_ = bmrt_create(handle_);
  EXPECT_EQ(run_all(network), static_cast<int>(runs_of(network).size()));
}

// A list's greatest history is longer than what is recorded: the launch is refused, not the network.
TEST_F(RecordedDynamicNetworks, MoreKeysThanRecordedAreRefusedByTheLaunch) {
  load(std::string(SOFTTPU_TEST_NETWORKS) + "/dynamic/llm_block_W4BF16.bmodel");
  constexpr int kRows = 32, kHistory = 97;
  std::vector<Bytes> in{Bytes(kRows * 512 * 2), Bytes(kRows * 4), Bytes(kHistory * 128 * 2), Bytes(kHistory * 128 * 2)};
  std::vector<Bytes> out{Bytes(kRows * 512 * 2), Bytes(kRows * 128 * 2), Bytes(kRows * 128 * 2)};
  const std::vector<bm_shape_t> shapes{
      {3, {1, kRows, 512}}, {2, {1, kRows}}, {4, {1, kHistory, 2, 64}}, {4, {1, kHistory, 2, 64}}};
  std::vector<bm_shape_t> made(out.size());
  std::vector<void*> from;
  std::vector<void*> to;
  for (Bytes& one : in) from.push_back(one.data());
  for (Bytes& one : out) to.push_back(one.data());
  EXPECT_FALSE(
      bmrt_launch_data(runtime_, "block_kv_0", from.data(), shapes.data(), 4, to.data(), made.data(), 3, true));
  EXPECT_THAT(take_log(),
              testing::Contains(testing::HasSubstr("attention over heads (10009): 129 keys (up to 128 are recorded)")));
}

}  // namespace
}  // namespace softtpu::host_test
