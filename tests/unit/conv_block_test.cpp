// softtpu/layout.h: the reorder of convolution weights and the merge with the bias, as documented with array
// operations, and both ways on random sizes.
#include "softtpu/layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "runtime/layout/placement.hpp"
#include "tests/unit/nd_array.hpp"

namespace softtpu::conv_block_test {
namespace {

using Words = std::vector<std::int32_t>;

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

TEST(WeightReorder, ResizePadsWithZeros) {
  const NdArray a = NdArray::counting(0, {1, 2, 3, 4});
  const Words expected = {0,  1, 2, 3,  0,  0,  4,  5, 6, 7, 0, 0, 8, 9, 10, 11, 0, 0, 12, 13, 14, 15, 0, 0, 16, 17, 18,
                          19, 0, 0, 20, 21, 22, 23, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0, 0, 0,  0,  0,  0,  0, 0, 0,  0,  0};
  EXPECT_EQ(a.resize({1, 3, 3, 6}).data, expected);
  EXPECT_EQ(NdArray::count(a.resize({2, 4, 3, 8}).shape), 192U);
}

// A tensor of shape (2, 5, 2, 3) on 4 NPUs with rows of 4 elements: the array operations give what each NPU holds.
TEST(WeightReorder, ActivationsInLocalMemory) {
  const NdArray expected =
      NdArray::counting(0, {2, 5, 6}).resize({2, 8, 8}).reshape({2, 2, 4, 2, 4}).transpose({2, 0, 1, 3, 4});
  ASSERT_EQ(expected.shape, (std::vector<std::size_t>{4, 2, 2, 2, 4}));
  const auto tensor = make_placement({4, 16, 1024}, LayoutKind::kAligned, 0, {2, 5, 2, 3}, 1, 4);
  ASSERT_TRUE(tensor);
  Words local(4 * 32, 0);  // 4 NPUs, 32 words each
  for (int i = 0; i < 60; ++i) {
    const LocalSpot spot = tensor->spot(i / 30, i / 6 % 5, i / 3 % 2, i % 3);
    local[static_cast<std::size_t>(spot.npu * 32 + spot.offset / 4)] = i;
  }
  EXPECT_EQ(local, expected.data);
}

// Weights (OC 2, IC 5, 2 x 3), 4 NPUs, 4 input channels side by side.
const softtpu_conv_block_t kExample = {4, 16, 2, 5, 2, 3, 4, 4, 0};

NdArray example_weights() {
  return NdArray::counting(0, {2, 5, 6}).resize({4, 8, 6}).reshape({1, 4, 2, 4, 6}).transpose({1, 0, 2, 4, 3});
}

TEST(WeightReorder, WeightsOfTheExample) {
  const NdArray expected = example_weights();
  ASSERT_EQ(expected.shape, (std::vector<std::size_t>{4, 1, 2, 6, 4}));
  const Words weights = NdArray::counting(0, {60}).data;
  // A block holds the NPUs that have output channels: the first two of the example's four; the others are zero there.
  ASSERT_EQ(softtpu_conv_block_lanes(&kExample), 2U);
  Words block(softtpu_conv_block_bytes(&kExample) / 4);
  ASSERT_EQ(softtpu_conv_reorder(&kExample, weights.data(), 240, block.data(), bytes_of(block)), 0);
  EXPECT_EQ(block, Words(expected.data.begin(), expected.data.begin() + 96));
  EXPECT_EQ(Words(expected.data.begin() + 96, expected.data.end()), Words(96, 0));
}

TEST(WeightReorder, BiasOfTheExample) {
  // Five biases on 4 NPUs: NPU 0 holds 60 and 64; one row of 4 elements per NPU.
  const NdArray expected = NdArray::counting(60, {1, 5, 1, 1})
                               .resize({1, 8, 1, 1})
                               .reshape({1, 2, 4, 1, 1})
                               .transpose({2, 0, 3, 4, 1})
                               .resize({4, 1, 1, 1, 4});
  EXPECT_EQ(expected.data, (Words{60, 64, 0, 0, 61, 0, 0, 0, 62, 0, 0, 0, 63, 0, 0, 0}));
  const softtpu_conv_block_t block = {4, 16, 5, 1, 1, 1, 4, 4, 4};
  const Words weights = {1, 2, 3, 4, 5};
  const Words bias = {60, 61, 62, 63, 64};
  Words merged(softtpu_conv_block_bytes(&block) / 4);
  ASSERT_EQ(softtpu_conv_merge(&block, weights.data(), 20, bias.data(), 20, merged.data(), bytes_of(merged)), 0);
  ASSERT_EQ(softtpu_conv_block_lane_bytes(&block), 4U * (4 + 2 * 4));
  for (std::size_t npu = 0; npu < 4; ++npu) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(merged[npu * 12 + i], expected.data[npu * 4 + i]);
  }
}

TEST(WeightReorder, MergeOfTheExample) {
  // The example joins, for each NPU, one row of biases and 12 rows of weights.
  softtpu_conv_block_t block = kExample;
  block.bias_bytes = 4;
  ASSERT_EQ(softtpu_conv_block_weight_offset(&block), 16U);
  ASSERT_EQ(softtpu_conv_block_lane_bytes(&block), 13U * 16);
  const Words weights = NdArray::counting(0, {60}).data;
  const Words bias = {60, 61};
  Words merged(softtpu_conv_block_bytes(&block) / 4);
  ASSERT_EQ(softtpu_conv_merge(&block, weights.data(), 240, bias.data(), 8, merged.data(), bytes_of(merged)), 0);
  const NdArray c = example_weights();
  for (std::size_t npu = 0; npu < 2; ++npu) {
    Words expected = {60 + static_cast<std::int32_t>(npu), 0, 0, 0};
    const auto row = c.data.begin() + static_cast<std::ptrdiff_t>(npu) * 48;
    expected.insert(expected.end(), row, row + 48);
    const auto lane = merged.begin() + static_cast<std::ptrdiff_t>(npu) * 52;
    EXPECT_EQ(Words(lane, lane + 52), expected);
  }
}

// The same construction on a chip's sizes for every storage mode, and the way back.
TEST(WeightReorder, EveryModeBothWaysOnRandomSizes) {
  std::mt19937 random(1);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const std::pair<int, int> modes[] = {{SOFTTPU_1IC, 4}, {SOFTTPU_2IC, 4}, {SOFTTPU_32IC, 2}, {SOFTTPU_64IC, 1}};
  for (int trial = 0; trial < 200; ++trial) {
    const auto& [pack, element] = modes[trial % 4];
    const softtpu_conv_block_t block = {trial % 3 == 0 ? 4 : 64,
                                        trial % 2 == 0 ? 64 : 128,
                                        pick(1, 150),
                                        pick(1, 80),
                                        pick(1, 4),
                                        pick(1, 4),
                                        pack,
                                        element,
                                        trial % 5 == 0 ? 0 : pick(1, 2) * 2};
    std::vector<std::uint8_t> weights(static_cast<std::size_t>(block.oc * block.ic * block.kh * block.kw * element));
    std::vector<std::uint8_t> bias(static_cast<std::size_t>(block.oc * block.bias_bytes));
    for (auto& byte : weights) byte = static_cast<std::uint8_t>(pick(1, 255));
    for (auto& byte : bias) byte = static_cast<std::uint8_t>(pick(1, 255));
    std::vector<std::uint8_t> merged(softtpu_conv_block_bytes(&block), 0xCD);
    ASSERT_FALSE(merged.empty()) << softtpu_layout_error();
    std::vector<std::uint8_t> weights_again(weights.size());
    std::vector<std::uint8_t> bias_again(bias.size());
    if (block.bias_bytes == 0) {
      ASSERT_EQ(softtpu_conv_reorder(&block, weights.data(), weights.size(), merged.data(), merged.size()), 0);
      ASSERT_EQ(softtpu_conv_restore(&block, merged.data(), merged.size(), weights_again.data(), weights.size()), 0);
    } else {
      ASSERT_EQ(softtpu_conv_merge(&block, weights.data(), weights.size(), bias.data(), bias.size(), merged.data(),
                                   merged.size()),
                0);
      ASSERT_EQ(softtpu_conv_split(&block, merged.data(), merged.size(), weights_again.data(), weights.size(),
                                   bias_again.data(), bias.size()),
                0);
    }
    EXPECT_EQ(weights, weights_again);
    EXPECT_EQ(bias, bias_again);
    // Everything else is zero: no input byte is zero, so the counts tell.
    const auto zeros = static_cast<std::size_t>(std::count(merged.begin(), merged.end(), 0));
    EXPECT_EQ(merged.size() - zeros, weights.size() + bias.size());
    // One element, by the layout's formula.
    const auto lanes = Lanes{block.npu_num, block.eu_bytes, 1U << 30};
    const auto tensor =
        make_placement(lanes, LayoutKind::kWeight, 0, {block.ic, block.oc, block.kh, block.kw}, pack, element);
    ASSERT_TRUE(tensor);
    const int oc = pick(0, block.oc - 1), ic = pick(0, block.ic - 1), h = pick(0, block.kh - 1),
              w = pick(0, block.kw - 1);
    const LocalSpot spot = tensor->spot(ic, oc, h, w);
    const std::size_t there = static_cast<std::size_t>(spot.npu) * softtpu_conv_block_lane_bytes(&block) +
                              softtpu_conv_block_weight_offset(&block) + static_cast<std::size_t>(spot.offset);
    const auto here = static_cast<std::size_t>((((oc * block.ic + ic) * block.kh + h) * block.kw + w) * element);
    EXPECT_EQ(std::memcmp(&merged[there], &weights[here], static_cast<std::size_t>(element)), 0);
  }
}

TEST(WeightReorder, RefusesWrongArguments) {
  std::vector<std::uint8_t> weights(240), bias(8), out(5000, 0xCD);
  const auto merge_with = [&](const softtpu_conv_block_t* block, std::size_t weights_bytes = 240,
                              const void* bias_data = "12345678") {
    const std::vector<std::uint8_t> before = out;
    EXPECT_EQ(softtpu_conv_merge(block, weights.data(), weights_bytes, bias_data, 8, out.data(), 416), -1);
    EXPECT_EQ(out, before);
    return std::string(softtpu_layout_error());
  };
  softtpu_conv_block_t block = kExample;
  EXPECT_EQ(merge_with(nullptr), "softtpu_conv_merge: block is NULL.");
  EXPECT_EQ(merge_with(&block), "softtpu_conv_merge: block->bias_bytes is 0; it must not be 0 here.");
  block.bias_bytes = 4;
  EXPECT_EQ(merge_with(&block, 239), "softtpu_conv_merge: weights has 239 bytes, but the sizes say 240.");
  EXPECT_EQ(merge_with(&block, 240, nullptr), "softtpu_conv_merge: bias is NULL.");
  block.kw = 0;
  EXPECT_EQ(merge_with(&block), "softtpu_conv_merge: block->kw is 0, outside 1..65535.");
  block.kw = 3;
  block.element_bytes = 3;
  EXPECT_EQ(merge_with(&block), "softtpu_conv_merge: block->element_bytes is 3; it can be 1, 2 or 4.");
  block = {64, 64, 65535, 65535, 65535, 65535, 64, 1, 0};
  EXPECT_EQ(softtpu_conv_block_bytes(&block), 0U);
  EXPECT_EQ(std::string(softtpu_layout_error()),
            "softtpu_conv_block_bytes: 65535 x 65535 x 65535 x 65535 weights are more than 4294967296.");
}

}  // namespace
}  // namespace softtpu::conv_block_test
