// Layers for the host's processor: examples of the operators' documentation, and what is refused.
#include "runtime/bmodel/host_layer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

namespace softtpu::bmodel::host_layer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Shape = std::vector<std::uint64_t>;

class HostLayers : public testing::Test {
 protected:
  // Fields of a record, one behind the other; flags are bytes.
  template <class... Fields>
  void record(Fields... fields) {
    record_.clear();
    (add(fields), ...);
    record_.resize((record_.size() + 3) / 4 * 4);
  }
  void input(Shape shape, const std::vector<float>& values) {
    HostTensor tensor{DataType::kFloat32, std::move(shape), {}};
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    inputs_.push_back(std::move(tensor));
  }
  void integers(Shape shape, const std::vector<std::int32_t>& values) {
    HostTensor tensor{DataType::kInt32, std::move(shape), {}};
    tensor.bytes.resize(values.size() * sizeof(std::int32_t));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    inputs_.push_back(std::move(tensor));
  }
  void output(Shape shape, DataType type = DataType::kFloat32) {
    std::uint64_t bytes = 4;
    for (const std::uint64_t extent : shape) bytes *= extent;
    outputs_.push_back({"y" + std::to_string(outputs_.size()), type, std::move(shape), 0, bytes, 1, 0, {}});
  }
  HostLayer layer(std::int32_t type) const { return {type, record_}; }
  std::string why_not(std::int32_t type) const {
    std::vector<Tensor> inputs;
    for (const HostTensor& one : inputs_) inputs.push_back({"x", one.type, one.shape, 0, one.bytes.size(), 1, 0, {}});
    return why_not_on_host(layer(type), inputs, outputs_);
  }
  // All results as numbers, one behind the other; empty, with the text of the error, where there is one.
  std::vector<float> run(std::int32_t type) {
    EXPECT_EQ(why_not(type), "");
    error_.clear();
    const auto made = run_on_host(layer(type), inputs_, outputs_, true);
    inputs_.clear();
    outputs_.clear();
    shapes_.clear();
    if (!made) {
      error_ = made.error().text;
      return {};
    }
    std::vector<float> all;
    for (const HostTensor& result : *made) {
      shapes_.push_back(result.shape);
      for (std::size_t at = 0; at < result.bytes.size(); at += 4) {
        float value = 0;
        std::int32_t whole = 0;
        std::memcpy(&value, &result.bytes[at], 4);
        std::memcpy(&whole, &result.bytes[at], 4);
        all.push_back(result.type == DataType::kFloat32 ? value : static_cast<float>(whole));
      }
    }
    return all;
  }

  std::vector<HostTensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<Shape> shapes_;
  std::string error_;

 private:
  void add(bool flag) { record_.push_back(flag ? 1 : 0); }
  template <class T>
  void add(T value) {
    record_.resize((record_.size() + 3) / 4 * 4 + sizeof(T));
    std::memcpy(&record_[record_.size() - sizeof(T)], &value, sizeof(T));
  }
  std::vector<std::uint8_t> record_;
};

TEST_F(HostLayers, TakeTheLargestOfEachRow) {
  record(3, -1, true, true, false);
  input({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  output({3, 3});
  output({3, 3}, DataType::kInt32);
  EXPECT_THAT(run(17), ElementsAre(3, 2, 1, 7, 6, 5, 11, 10, 9, 3, 2, 1, 3, 2, 1, 3, 2, 1));
  // Equal ones as they stand; along another axis; the smallest ones; a NaN is the greatest.
  record(2, 0, true, true, false);
  input({3, 2}, {5, 1, 5, NAN, 4, 3});
  output({2, 2}, DataType::kInt32);
  outputs_[0].type = DataType::kFloat32;
  output({2, 2}, DataType::kInt32);
  EXPECT_THAT(run(17), ElementsAre(5, testing::IsNan(), 5, 3, 0, 1, 1, 2));
  record(0, 0, true, false, false);
  input({3}, {3, 1, 2});
  integers({1}, {2});
  output({2});
  EXPECT_THAT(run(17), ElementsAre(1, 2));
  record(4, 0, true, false, false);
  input({3}, {3, 1, 2});
  output({4});
  EXPECT_TRUE(run(17).empty());
  EXPECT_EQ(error_, "TOPK (17): the first 4 of 3 elements");
}

TEST_F(HostLayers, TakeTheLargestAsMxnetDoes) {
  const std::vector<float> x{0.3F, 0.2F, 0.4F, 0.1F, 0.3F, 0.2F};
  record(1, -1, 0, 0, 0);
  input({2, 3}, x);
  output({2, 1});
  EXPECT_THAT(run(25), ElementsAre(2, 1));
  record(2, -1, 1, 0, 0);
  input({2, 3}, x);
  output({2, 2});
  EXPECT_THAT(run(25), ElementsAre(0.4F, 0.3F, 0.3F, 0.2F));
  record(2, 1, 3, 0, 0);
  input({2, 3}, x);
  output({2, 3});
  EXPECT_THAT(run(25), ElementsAre(1, 0, 1, 0, 1, 1));
}

TEST_F(HostLayers, SortAndOrder) {
  record(-1, true);
  input({2, 3}, {3, 1, 2, 1, 3, 2});
  output({2, 3}, DataType::kInt32);
  EXPECT_THAT(run(11), ElementsAre(1, 2, 0, 0, 2, 1));
  record(0, false, false, true);
  input({2, 3}, {3, 1, 2, 1, 3, 2});
  output({2, 3});
  output({2, 3}, DataType::kInt32);
  EXPECT_THAT(run(20), ElementsAre(3, 3, 2, 1, 1, 2, 0, 1, 0, 1, 0, 1));
}

TEST_F(HostLayers, GatherRowsAndElements) {
  record(0);
  input({3, 2}, {1.0F, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F});
  integers({2, 2}, {0, 1, 1, -1});
  output({2, 2, 2});
  EXPECT_THAT(run(9), ElementsAre(1.0F, 1.2F, 2.3F, 3.4F, 2.3F, 3.4F, 4.5F, 5.7F));
  record(1, 0);
  input({2, 2}, {0, 1, 2, 3});
  integers({2, 2}, {0, 0, 1, 1});
  output({2});
  EXPECT_THAT(run(12), ElementsAre(0, 3));
  record(1, 1);
  input({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  integers({2, 1}, {1, 0});
  output({2, 2});
  EXPECT_THAT(run(12), ElementsAre(2, 3, 4, 5));
  record(1, 0);
  input({2, 2}, {0, 1, 2, 3});
  integers({1, 2}, {0, 2});
  output({1});
  EXPECT_TRUE(run(12).empty());
  EXPECT_EQ(error_, "GATHERND (12): index 2 is outside -2..1");
}

TEST_F(HostLayers, ScatterRowsAndElements) {
  record(1, 8, 0, 0, 0, 0, 0, 0, 0);
  integers({4, 1}, {4, 3, 1, 4});
  input({4}, {9, 10, 11, 12});
  output({8});
  EXPECT_THAT(run(27), ElementsAre(0, 11, 0, 10, 21, 0, 0, 0));
  for (const auto& [operation, first] : {std::pair(0, 5.0F), {1, 6.0F}, {3, 5.0F}, {4, 1.0F}, {5, 5.0F}}) {
    record(0, operation);
    input({3}, {1, 2, 3});
    integers({1, 1}, {0});
    input({1}, {5});
    output({3});
    EXPECT_THAT(run(56), ElementsAre(first, 2, 3)) << operation;
  }
  record(0, 2);
  input({3}, {1, 2, 3});
  integers({1, 1}, {0});
  input({1}, {5});
  output({3});
  EXPECT_EQ(why_not(56), "TENSOR_SCATTER_OP (56): its operation 2 is not known");
}

TEST_F(HostLayers, ChooseByMasksAndRepeat) {
  record(false);
  std::vector<std::uint8_t> one{0};
  input({2, 3}, {1, 2, 3, 4, 5, 6});
  input({3}, {0, 1, 1});
  output({6});
  // Its record is one byte.
  const auto made = run_on_host({22, one}, inputs_, outputs_, true);
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_THAT((*made)[0].shape, ElementsAre(4));
  inputs_.clear();
  outputs_.clear();
  record(1);
  input({2, 2}, {1, 2, 3, 4});
  integers({2}, {2, 1});
  output({2, 3});
  EXPECT_THAT(run(57), ElementsAre(1, 1, 2, 3, 3, 4));
  record(0, 1);
  input({4, 4}, {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  integers({4}, {4, 3, 2, 1});
  output({4, 4});
  EXPECT_THAT(run(53), ElementsAre(3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15));
  record();
  input({2, 2}, {0, 1, 2, 0});
  output({4, 2}, DataType::kInt32);
  EXPECT_THAT(run(14), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(shapes_[0], ElementsAre(2, 2));
  record(5);
  input({5}, {0.5F, 1.5F, -0.5F, 2.4F, -1.6F});
  output({5});
  EXPECT_THAT(run(23), ElementsAre(0, 2, 0, 2, -2));
}

// The boxes of ONNX's documentation.
const std::vector<float> kBoxes{0, 0,  1, 1,  0, 0.1F,  1, 1.1F,  0, -0.1F, 1, 0.9F,
                                0, 10, 1, 11, 0, 10.1F, 1, 11.1F, 0, 100,   1, 101};
const std::vector<float> kScores{0.9F, 0.75F, 0.6F, 0.95F, 0.5F, 0.3F};

TEST_F(HostLayers, SuppressBoxesAsOnnxDoes) {
  record(0, 3);
  input({1, 6, 4}, kBoxes);
  input({1, 1, 6}, kScores);
  integers({1}, {3});
  input({1}, {0.5F});
  input({1}, {0});
  output({6, 3}, DataType::kInt32);
  EXPECT_THAT(run(46), ElementsAre(0, 0, 3, 0, 0, 0, 0, 0, 5));
  record(0, 3);
  input({1, 6, 4}, kBoxes);
  input({1, 1, 6}, kScores);
  input({1}, {0.5F});
  output({6, 3}, DataType::kInt32);
  EXPECT_EQ(why_not(46), "ONNX_NMS (46) has 3 inputs, whose meaning is not published");
}

TEST_F(HostLayers, SuppressBoxesAsTensorflowDoes) {
  record(0.5F, 0.4F, 3);
  input({6, 4}, kBoxes);
  input({6}, kScores);
  output({3}, DataType::kInt32);
  EXPECT_THAT(run(10), ElementsAre(3, 0));
  // Soft: the scores of what overlaps fall.
  record(0.5F, 0.0F, 0.5F, false, 6);
  outputs_.clear();
  input({6, 4}, kBoxes);
  input({6}, kScores);
  output({6}, DataType::kInt32);
  output({6});
  output({1}, DataType::kInt32);
  EXPECT_THAT(run(31), ElementsAre(3, 0, 5, 0.95F, 0.9F, 0.3F, 3));
  record(1.0F, 0.0F, 0.5F, true, 6);
  input({6, 4}, kBoxes);
  input({6}, kScores);
  output({6}, DataType::kInt32);
  output({6});
  output({1}, DataType::kInt32);
  const auto soft = run(31);
  ASSERT_EQ(soft.size(), 13U);
  // TensorFlow's own test gives these.
  EXPECT_THAT(std::vector<float>(soft.begin(), soft.begin() + 6), ElementsAre(3, 0, 1, 5, 4, 2));
  const float scores[] = {0.95F, 0.9F, 0.384F, 0.3F, 0.256F, 0.197F};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(soft[6 + i], scores[i], 1e-3F) << i;
}

TEST_F(HostLayers, SuppressBoxesAsMxnetDoes) {
  record(0.1F, 0.0F, -1, 2, 1, 0, -1, 1, 0, 0);
  input({4, 6}, {0, 0.5F, 0.1F, 0.1F, 0.2F,  0.2F,  1, 0.4F, 0.1F, 0.1F, 0.2F, 0.2F,
                 0, 0.3F, 0.1F, 0.1F, 0.14F, 0.14F, 2, 0.6F, 0.5F, 0.5F, 0.7F, 0.8F});
  output({4, 6});
  EXPECT_THAT(run(6), ElementsAre(2, 0.6F, 0.5F, 0.5F, 0.7F, 0.8F, 0, 0.5F, 0.1F, 0.1F, 0.2F, 0.2F, -1, -1, -1, -1, -1,
                                  -1, -1, -1, -1, -1, -1, -1));
}

TEST_F(HostLayers, DetectAsSsdDoes) {
  // Two classes, the first of them the background; two priors without an offset, and one that moves.
  record(2, true, 0, 0.45F, 10, 2, 10, 0.2F, 3, 1, false, 1.0F, 0.0F);
  input({1, 12}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  input({1, 6}, {0.1F, 0.9F, 0.2F, 0.8F, 0.5F, 0.5F});
  input({1, 2, 12}, {0,    0,    0.5F, 0.5F, 0,    0,    0.5F, 0.5F, 0, 0,    0.5F, 0.5F,
                     0.1F, 0.1F, 0.2F, 0.2F, 0.1F, 0.1F, 0.2F, 0.2F, 2, 0.1F, 0.2F, 0.2F});
  output({1, 1, 10, 7});
  EXPECT_THAT(run(0), ElementsAre(0, 1, 0.9F, 0, 0, 0.5F, 0.5F, 0, 1, 0.5F, 1, 0, 1.5F, 0.5F));
  EXPECT_THAT(shapes_[0], ElementsAre(1, 1, 2, 7));
  // Nothing found: a row for each image.
  record(2, true, 0, 0.45F, 10, 2, 10, 2.0F, 3, 1, false, 1.0F, 0.0F);
  input({1, 4}, {0, 0, 0, 0});
  input({1, 2}, {0.1F, 0.9F});
  input({1, 2, 4}, {0, 0, 0.5F, 0.5F, 0.1F, 0.1F, 0.2F, 0.2F});
  output({1, 1, 10, 7});
  EXPECT_THAT(run(0), ElementsAre(0, -1, -1, -1, -1, -1, -1));
}

TEST_F(HostLayers, PoolRegions) {
  std::vector<float> image(16);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  record(2, 2, 1.0F);
  input({1, 1, 4, 4}, image);
  input({1, 5}, {0, 0, 0, 3, 3});
  output({1, 1, 2, 2});
  EXPECT_THAT(run(4), ElementsAre(5, 7, 13, 15));
  // A plane that rises evenly has its value at the middle of each bin.
  record(2, 2, 1.0F, 2, true);
  input({1, 1, 4, 4}, image);
  input({1, 5}, {0, 0.5F, 0.5F, 3.5F, 3.5F});
  output({1, 1, 2, 2});
  EXPECT_THAT(run(38), ElementsAre(3.75F, 5.25F, 9.75F, 11.25F));
  record(1, 1, 0.5F, 0, 0);
  input({1, 1, 4, 4}, image);
  input({1, 5}, {0, 0, 0, 4, 4});
  output({1, 1, 1, 1});
  EXPECT_THAT(run(5), ElementsAre(5));
  record(1, 1, 0.5F, 0, 1);
  input({1, 1, 4, 4}, image);
  input({1, 5}, {0, 0, 0, 4, 4});
  output({1, 1, 1, 1});
  EXPECT_EQ(why_not(5), "ROIALIGN (5): position_sensitive is not carried out");
}

TEST_F(HostLayers, SampleGrids) {
  const std::vector<float> grid{-1, -1, 0, 0, 1, 1, 2, 0.5F};
  for (const auto& [mode, padding, aligned, wanted] : {std::tuple(0, 0, true, std::vector<float>{0, 4, 8, 0}),
                                                       {0, 0, false, std::vector<float>{0, 4, 2, 0}},
                                                       {0, 1, false, std::vector<float>{0, 4, 8, 7.25F}},
                                                       {1, 1, true, std::vector<float>{0, 4, 8, 8}},
                                                       {0, 2, true, std::vector<float>{0, 4, 8, 5.5F}}}) {
    record(mode, padding, aligned);
    input({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
    input({1, 2, 2, 2}, grid);
    output({1, 1, 2, 2});
    EXPECT_EQ(run(40), wanted) << mode << padding << aligned;
  }
  record(true, 1, 2, 2);
  input({1, 2, 3}, {1, 0, 0.5F, 0, 1, -0.5F});
  output({1, 2, 2, 2});
  EXPECT_THAT(run(39), ElementsAre(-0.5F, -1.5F, 1.5F, -1.5F, -0.5F, 0.5F, 1.5F, 0.5F));
  record(true, 1, 3, 3, 1, 0, true);
  input({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  input({1, 2, 3}, {0, 1, 0, 1, 0, 0});
  output({1, 1, 3, 3});
  EXPECT_THAT(run(41), ElementsAre(0, 3, 6, 1, 4, 7, 2, 5, 8));
}

TEST_F(HostLayers, Resize) {
  const auto resized = [&](int aligned, int half, int method) {
    record(aligned, half, method, 0, 1, 1, 4);
    input({1, 1, 1, 2}, {0, 4});
    output({1, 1, 4, 1});
    return run(18);
  };
  EXPECT_THAT(resized(0, 1, 0), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(resized(0, 0, 0), ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(resized(1, 0, 2), ElementsAre(0, testing::FloatEq(4.0F / 3), testing::FloatEq(8.0F / 3), 4));
  EXPECT_THAT(resized(0, 0, 1), ElementsAre(0, 0, 4, 4));
}

TEST_F(HostLayers, KeepSmallFloats) {
  for (const auto& [type, bits] :
       {std::pair(DataType::kFloat16, std::vector<std::uint16_t>{0x3C00, 0x0001, 0xFC00, 0x8000}),
        {DataType::kBfloat16, std::vector<std::uint16_t>{0x3F80, 0x0001, 0xFF80, 0x8000}}}) {
    record(0);
    HostTensor x{type, {4}, std::vector<std::uint8_t>(8)};
    std::memcpy(x.bytes.data(), bits.data(), 8);
    inputs_.push_back(x);
    integers({4}, {3, 2, 1, 0});
    output({4}, type);
    const auto made = run_on_host(layer(9), inputs_, outputs_, true);
    ASSERT_TRUE(made) << made.error().text;
    std::vector<std::uint16_t> found(4);
    std::memcpy(found.data(), (*made)[0].bytes.data(), 8);
    EXPECT_THAT(found, ElementsAre(bits[3], bits[2], bits[1], bits[0]));
    inputs_.clear();
    outputs_.clear();
  }
}

// Numbers of a record or of an operand that would take all memory.
TEST_F(HostLayers, TakeNoMemoryThatTheFileHasNot) {
  record(2, 1 << 30, 1 << 30, 0, 0, 0, 0, 0, 0);
  integers({1, 2}, {0, 0});
  input({1}, {1});
  output({4});
  EXPECT_TRUE(run(27).empty());
  EXPECT_EQ(error_, "SCATTER_ND (27): its result has 1073741824 elements, the file has room for 4");
  record(0);
  input({2}, {1, 2});
  integers({2}, {1 << 30, 1 << 30});
  output({4});
  EXPECT_TRUE(run(57).empty());
  EXPECT_EQ(error_, "REPEAT_INTERLEAVE (57): its result has 1 x 1073741824 x 1 elements, the file has room for 4");
  record(1 << 14, 1 << 14, 0.5F);
  input({1, 1, 1, 1}, {1});
  input({1, 5}, {0, 0, 0, 1, 1});
  output({4});
  EXPECT_TRUE(run(4).empty());
  record(0, 0, 0, 0, 0, 1 << 14, 1 << 14);
  input({1, 1, 1, 1}, {1});
  output({4});
  EXPECT_TRUE(run(18).empty());
  record(1, 1, 1.0F, 0, false);
  input({1, 1, 1, 1}, {1});
  input({1, 5}, {0, 0, 0, 1e9F, 1e9F});
  output({1, 1, 1, 1});
  EXPECT_TRUE(run(38).empty());
  EXPECT_EQ(error_, "PYTORCH_ROI_ALIGN (38): region 0 has 1000000000 x 1000000000 samples in a bin");
}

TEST_F(HostLayers, AreRefusedByName) {
  input({1}, {1});
  output({1});
  EXPECT_EQ(why_not(13), "YOLOV3_DETECTION_OUTPUT (13) is not carried out");
  EXPECT_EQ(why_not(60), "layer 60 is not in the published list");
  EXPECT_EQ(why_not(-5), "layer -5 is not in the published list");
  EXPECT_EQ(why_not(23), "UNARY (23) has 0 bytes of parameters, its published record has 4");
  record(6);
  EXPECT_EQ(why_not(23), "UNARY (23): its operation 6 is not known");
  EXPECT_EQ(why_not(9), "GATHER (9) has 1 inputs, not 2");
  EXPECT_EQ(why_not(kUserLayer), "");
  inputs_[0].type = DataType::kInt4;
  EXPECT_EQ(why_not(9), "GATHER (9) with i4");
  EXPECT_EQ(name_of_host_layer(46), "ONNX_NMS (46)");
  EXPECT_EQ(meaning_of_host_layer(46), "ONNX NonMaxSuppression");
}

}  // namespace
}  // namespace softtpu::bmodel::host_layer_test
