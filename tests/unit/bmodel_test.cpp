// The container of compiled networks: what a file holds, and files that are damaged.
#include "runtime/bmodel/container.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "runtime/bmodel/layer_list.hpp"

namespace softtpu::bmodel::bmodel_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using File = std::vector<std::uint8_t>;

File read(const std::string& name) {
  std::ifstream file(std::string(SOFTTPU_TEST_NETWORKS) + "/" + name, std::ios::binary);
  File bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

// The list of layers of the recorded dynamic network.
std::vector<std::uint8_t> recorded_list() {
  const File file = read("dynamic/topk_F16.bmodel");
  const auto model = read_model(file);
  if (!model || model->networks[0].stages[0].dynamic_parts.empty()) return {};
  const Bytes list = model->networks[0].stages[0].dynamic_parts[0].list;
  return {list.begin(), list.end()};
}

TEST(LayerList, HoldsLayersWithOperandsAndParameters) {
  const auto bytes = recorded_list();
  const auto list = read_layer_list(bytes, 1, 2);
  ASSERT_TRUE(list) << list.error().text;
  EXPECT_THAT(list->inputs, ElementsAre(0));
  EXPECT_THAT(list->outputs, ElementsAre(1, 2));
  ASSERT_EQ(list->groups.size(), 2U);
  const ListedLayer& layer = list->groups[0].layers[0];
  EXPECT_EQ(name_of_layer(layer.type), "top-k (57)");
  EXPECT_EQ(layer.word(0), 5);
  EXPECT_EQ(layer.word(1000), 0);
  const std::vector<ShapedTensor> given{{0, {2, 300}}};
  const auto results = results_of(layer, given);
  ASSERT_TRUE(results) << results.error().text;
  EXPECT_THAT((*results)[1].extents, ElementsAre(2, 5));
  EXPECT_EQ((*results)[1].type, 6U);
  EXPECT_THAT(faults_of(*list, given, WhoseSizes::kGreatest), testing::IsEmpty());
  // Fewer elements than are looked for.
  const std::vector<ShapedTensor> narrow{{0, {2, 4}}};
  EXPECT_THAT(faults_of(*list, narrow, WhoseSizes::kGreatest),
              ElementsAre(HasSubstr("top-k (57): the largest 5 of 4 elements")));
}

TEST(LayerList, ThatEndsEarlyIsRefused) {
  const auto bytes = recorded_list();
  ASSERT_FALSE(bytes.empty());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto list = read_layer_list(std::span(bytes).first(size), 1, 2);
    ASSERT_FALSE(list) << size;
    EXPECT_THAT(list.error().text, HasSubstr("its list of layers is damaged: byte "));
  }
}

TEST(LayerList, WithAnyDamageIsReadOrRefused) {
  const auto good = recorded_list();
  std::mt19937 random(7);
  const std::vector<ShapedTensor> given{{0, {3, 300}}};
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    auto bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    const auto list = read_layer_list(bytes, 1, 2);
    if (!list || !faults_of(*list, given, WhoseSizes::kGreatest).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

ListedLayer layer_with(std::uint32_t type, const std::vector<std::int32_t>& words) {
  ListedLayer layer;
  layer.type = type;
  layer.inputs.resize(1);
  layer.outputs.resize(1);
  layer.parameters = {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * sizeof(words[0])};
  return layer;
}

TEST(LayerList, ReshapesCopyExtentsAndTakeTheRest) {
  constexpr std::int32_t kMark = 0x08000000;
  const std::vector<ShapedTensor> given{{1, {2, 12, 8}}};
  const std::vector<std::int32_t> marked{kMark | 4, 0, kMark | 3, kMark | 4, 2, 0, 0, 0, 0, 0};
  const auto split = results_of(layer_with(18, marked), given);
  ASSERT_TRUE(split) << split.error().text;
  EXPECT_THAT((*split)[0].extents, ElementsAre(2, 3, 4, 8));
  const std::vector<std::int32_t> rest{2, 0, -1, 0, 0, 0, 0, 0, 0, 0};
  const auto flat = results_of(layer_with(18, rest), given);
  ASSERT_TRUE(flat) << flat.error().text;
  EXPECT_THAT((*flat)[0].extents, ElementsAre(2, 96));
  const std::vector<std::int32_t> wrong{2, 5, 5, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(results_of(layer_with(18, wrong), given).error().text, HasSubstr("[2, 12, 8] cannot become [5, 5]"));
}

std::string refusal(const File& file) {
  const auto model = read_model(file);
  return model ? "" : model.error().text;
}

TEST(Bmodel, HoldsNetworksTensorsAndInstructions) {
  const File file = read("attention_small_F16.bmodel");
  const auto model = read_model(file);
  ASSERT_TRUE(model) << model.error().text;
  EXPECT_EQ(model->chip, "BM1684X");
  ASSERT_EQ(model->networks.size(), 1U);
  const Network& network = model->networks[0];
  EXPECT_EQ(network.name, "attention_small");
  ASSERT_EQ(network.stages.size(), 1U);
  const Stage& stage = network.stages[0];
  EXPECT_THAT(stage.refusals, testing::IsEmpty());
  ASSERT_EQ(stage.inputs.size(), 1U);
  EXPECT_EQ(stage.inputs[0].name, "x");
  EXPECT_EQ(stage.inputs[0].type, DataType::kFloat32);
  EXPECT_THAT(stage.inputs[0].shape, ElementsAre(1, 12, 48));
  EXPECT_EQ(stage.inputs[0].bytes, 2304U);
  ASSERT_EQ(stage.groups.size(), 1U);
  EXPECT_EQ(stage.groups[0].tiu.size(), 12032U);
  EXPECT_EQ(stage.groups[0].dma.size(), 2048U);
  EXPECT_FALSE(stage.coefficients.empty());
}

TEST(Bmodel, ATruncatedFileIsRefused) {
  const File file = read("addtwoioalone_F16.bmodel");
  EXPECT_THAT(refusal({}), HasSubstr("it has 0 bytes, a header has 64"));
  EXPECT_THAT(refusal(File(file.begin(), file.begin() + 100)), HasSubstr("are longer than the file of 100"));
  for (std::size_t bytes = 0; bytes < file.size(); bytes += 97) {
    const File part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    const auto model = read_model(part);
    if (!model) continue;  // what is missing may be the padding at the end
    for (const CommandGroup& group : model->networks[0].stages[0].groups) {
      EXPECT_LE(group.tiu.data() + group.tiu.size(), part.data() + part.size());
      EXPECT_LE(group.dma.data() + group.dma.size(), part.data() + part.size());
    }
  }
}

TEST(Bmodel, AnotherKindOfFileIsRefused) {
  EXPECT_THAT(refusal(File(200, 0)), HasSubstr("it begins with 0x00000000, not 0xff55aaee"));
}

TEST(Bmodel, ATinyFileThatClaimsMuchCostsNothing) {
  File file = read("addtwoioalone_F16.bmodel");
  file.resize(100);
  for (int i = 8; i < 16; ++i) file[static_cast<std::size_t>(i)] = 0xFF;
  EXPECT_THAT(refusal(file), HasSubstr("longer than the file of 100"));
}

TEST(Bmodel, DamagedBytesAreRefusedOrRead) {
  const File file = read("addtwoioalone_F16.bmodel");
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    File damaged = file;
    const std::size_t at = random() % 4000;
    for (std::size_t j = 0; j <= random() % 4; ++j) damaged[at + j] = static_cast<std::uint8_t>(random());
    const auto model = read_model(damaged);
    refused += model ? 0 : 1;
    if (!model) continue;
    const std::uint8_t* end = damaged.data() + damaged.size();
    for (const Network& network : model->networks) {
      for (const Stage& stage : network.stages) {
        if (!stage.coefficients.empty()) {
          EXPECT_LE(stage.coefficients.data() + stage.coefficients.size(), end);
        }
        for (const CommandGroup& group : stage.groups) {
          if (!group.tiu.empty()) {
            EXPECT_LE(group.tiu.data() + group.tiu.size(), end);
          }
          if (!group.dma.empty()) {
            EXPECT_LE(group.dma.data() + group.dma.size(), end);
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Bmodel, TheMapOfTensorsNamesLayersAndTheirResults) {
  const auto layers = read_tensor_map(R"json([
    {"opcode": "tpu.Conv2D", "subnet_id": 2, "tiu_dma_id(before)": [3, 4], "tiu_dma_id(after)": [9, 5], "more": {},
     "operands": [{"name": "x"}, {}, 5],
     "results": [{"name": "conv1", "address": 4294971392, "memory_type": "<1x3x28x30xf16>", "layout": "continuous",
                  "type": "tensor<1x3x28x30xf16>"},
                 {"name": "packed", "address": 4294975488, "memory_type": "<4x3xsi8>", "layout": "continuous_4n"},
                 {"name": "in_local", "address": 8192, "memory_type": "<1x3xf32>"}, 5]},
    {"bdc_gdma_id(before)": [9, 5], "bdc_gdma_id(after)": [12, 5], "results": [{"name": "old"}]}])json");
  ASSERT_TRUE(layers) << layers.error().text;
  ASSERT_EQ(layers->size(), 2U);
  const Layer& first = layers->at(0);
  EXPECT_EQ(first.label(), "conv1 (tpu.Conv2D)");
  EXPECT_EQ(first.part, 2U);
  ASSERT_EQ(first.results.size(), 1U);
  EXPECT_EQ(first.results[0].type, "f16");
  EXPECT_THAT(first.results[0].shape, ElementsAre(1, 3, 28, 30));
  EXPECT_EQ(first.results[0].address, 0x100001000U);
  EXPECT_EQ(first.results[0].mlir, "tensor<1x3x28x30xf16>");
  EXPECT_EQ(first.mlir, first.results[0].mlir);
  EXPECT_EQ(first.type, "f16");
  EXPECT_THAT(first.operands, ElementsAre("x"));
  EXPECT_EQ(layers->at(1).label(), "old");

  auto packed = pack_layers(*layers);
  const auto ranges = unpack_layers(packed);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0], (LayerRange{3, 9, 4, 5, "conv1 (tpu.Conv2D)"}));
  EXPECT_EQ(ranges[1], (LayerRange{9, 12, 5, 5, "old"}));
  packed.pop_back();
  EXPECT_EQ(unpack_layers(packed).size(), 1U);
}

// One layer whose only result has this type.
std::string map_of(const std::string& type) {
  return R"json([{"tiu_dma_id(before)": [0, 0], "tiu_dma_id(after)": [1, 1],
                  "results": [{"name": "a", "address": 4294967296, "memory_type": ")json" +
         type + R"json("}]}])json";
}

TEST(Bmodel, ADamagedMapOfTensorsIsRefusedOrRead) {
  for (const char* text : {"", "{", "{}", "5", "[5]", "[{}]", R"json([{"tiu_dma_id(before)": [1]}])json",
                           R"json([{"tiu_dma_id(before)": [1, -1], "tiu_dma_id(after)": [1, 1]}])json"})
    EXPECT_FALSE(read_tensor_map(text)) << text;
  // A result that cannot be read has no tensor.
  for (const char* type : {"", "<>", "<3xf32", "<99999999999999999999999xf32>", "<3>"}) {
    const auto layers = read_tensor_map(map_of(type));
    ASSERT_TRUE(layers) << type;
    EXPECT_TRUE(layers->at(0).results.empty()) << type;
  }
  EXPECT_EQ(read_tensor_map(map_of("<3xf32>"))->at(0).results.size(), 1U);
}

TEST(Bmodel, AMapBesideTheFileHasToBeOfItsNetwork) {
  Stage stage;
  stage.outputs.push_back({"a", DataType::kFloat32, {3}, 0x100000000, 12, 1, 0, {}});
  stage.groups.push_back({});
  stage.groups[0].tiu_count = stage.groups[0].dma_count = 2;
  stage.map_fault = "the map of tensors is not JSON";
  EXPECT_TRUE(use_tensor_map(stage, map_of("<3xf32>")));
  EXPECT_EQ(stage.layers.size(), 1U);
  EXPECT_EQ(stage.map_fault, "");
  stage.groups[0].dma_count = 0;
  const auto longer = use_tensor_map(stage, map_of("<3xf32>"));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().text, HasSubstr("layer a ends with TIU 1 and DMA 1, part 0 has 2 and 0 instructions"));
  stage.groups[0].dma_count = 2;
  stage.outputs[0].name = "b";
  const auto other = use_tensor_map(stage, map_of("<3xf32>"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text, HasSubstr("no layer has the output \"b\""));
  EXPECT_FALSE(use_tensor_map(stage, "["));
}

TEST(Bmodel, ResultsOfLayersBecomeTensorsOfTheStageOnce) {
  Stage stage;
  stage.outputs.push_back({"y", DataType::kFloat32, {2}, 0x100000000, 8, 1, 0, {}});
  Layer layer;
  layer.results = {{"y", "f32", {2}, 0x100000000, {}},
                   {"z", "si16", {2, 3}, 0x100001000, {}},
                   {"unknown", "f8E4M3", {2}, 0x100002000, {}},
                   {"huge", "f32", {1ULL << 39, 1ULL << 39}, 0x100003000, {}}};
  add_layers(stage, {layer});
  ASSERT_EQ(stage.between.size(), 1U);
  EXPECT_EQ(stage.between[0].name, "z");
  EXPECT_EQ(stage.between[0].bytes, 12U);
}

}  // namespace
}  // namespace softtpu::bmodel::bmodel_test
