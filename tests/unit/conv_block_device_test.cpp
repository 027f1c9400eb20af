// Blocks of softtpu/layout.h on the device: one copy loads weights and bias, the convolution gives exactly what plain
// integer arithmetic gives. All numbers are small integers, so every type computes them without rounding.
#include <gtest/gtest.h>
#include <okk.h>
#include <tpu_kernel.h>

#include <cstring>
#include <random>

#include "softtpu/layout.h"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::conv_block_device_test {
namespace {

struct Problem {
  int n, ic, h, w, oc, kh, kw;
  std::vector<int> x, weights, bias;

  Problem(int seed, int oc_count, int ic_count, int window_h, int window_w)
      : n(2), ic(ic_count), h(5), w(4), oc(oc_count), kh(window_h), kw(window_w) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto fill = [&](std::vector<int>& values, int count, int low, int high) {
      for (int i = 0; i < count; ++i) values.push_back(std::uniform_int_distribution<int>(low, high)(random));
    };
    fill(x, n * ic * h * w, 0, 3);
    fill(weights, oc * ic * kh * kw, -1, 1);
    fill(bias, oc, -9, 9);
  }
  std::vector<int> expected() const {
    std::vector<int> result;
    for (int b = 0; b < n; ++b)
      for (int o = 0; o < oc; ++o)
        for (int y = 0; y + kh <= h; ++y)
          for (int col = 0; col + kw <= w; ++col) result.push_back(at(b, o, y, col));
    return result;
  }

 private:
  int at(int b, int o, int y, int col) const {
    int sum = bias[static_cast<std::size_t>(o)];
    for (int c = 0; c < ic; ++c)
      for (int i = 0; i < kh; ++i)
        for (int j = 0; j < kw; ++j)
          sum += x[static_cast<std::size_t>(((b * ic + c) * h + y + i) * w + col + j)] *
                 weights[static_cast<std::size_t>(((o * ic + c) * kh + i) * kw + j)];
    return sum;
  }
};

// A small whole number in each of the types.
struct AsFloat {
  using Stored = float;
  static Stored store(int value) { return static_cast<float>(value); }
};
struct AsHalf {
  using Stored = std::uint16_t;
  static Stored store(int value) {
    if (value == 0) return 0;
    int exponent = 0;
    while (1 << (exponent + 1) <= std::abs(value)) ++exponent;
    const int fraction = (std::abs(value) << (10 - exponent)) & 0x3FF;
    return static_cast<Stored>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
  }
};
struct AsInt8 {
  using Stored = std::int8_t;
  static Stored store(int value) { return static_cast<Stored>(value); }
};
struct AsInt16 {
  using Stored = std::int16_t;
  static Stored store(int value) { return static_cast<Stored>(value); }
};

template <class As>
std::vector<typename As::Stored> stored(const std::vector<int>& values) {
  std::vector<typename As::Stored> result;
  for (const int value : values) result.push_back(As::store(value));
  return result;
}

template <class T>
void put(TestDevice& device, std::uint64_t addr, const std::vector<T>& values) {
  std::memcpy(device.global<T>(addr), values.data(), values.size() * sizeof(T));
}

constexpr std::uint32_t kBlock = 0, kX = 0x10000, kY = 0x20000;

// Merges with the library, puts block and input into global memory, runs `kernel`, compares the output.
template <class As, class BiasAs, class OutAs, class Kernel>
void expect_exact(TestDevice& device, const Problem& p, int ic_pack, const Kernel& kernel) {
  const auto weights = stored<As>(p.weights);
  const auto bias = stored<BiasAs>(p.bias);
  const softtpu_conv_block_t block = {device.chip().npu_num, device.chip().eu_bytes, p.oc, p.ic, p.kh, p.kw, ic_pack,
                                      sizeof(weights[0]),    sizeof(bias[0])};
  std::vector<std::uint8_t> merged(softtpu_conv_block_bytes(&block));
  ASSERT_EQ(softtpu_conv_merge(&block, weights.data(), weights.size() * sizeof(weights[0]), bias.data(),
                               bias.size() * sizeof(bias[0]), merged.data(), merged.size()),
            0)
      << softtpu_layout_error();
  put(device, device.scratch(0), merged);
  put(device, device.scratch(1 << 20), stored<As>(p.x));
  const dim4 lanes = {1, static_cast<int>(softtpu_conv_block_lanes(&block)), 1,
                      static_cast<int>(softtpu_conv_block_lane_bytes(&block)) / 4};
  const auto offset = static_cast<std::uint32_t>(softtpu_conv_block_weight_offset(&block));
  const LaunchOutcome outcome = device.run([&] { kernel(lanes, kBlock + offset); });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const auto expected = stored<OutAs>(p.expected());
  const auto* got = device.global<typename OutAs::Stored>(device.scratch(2 << 20));
  EXPECT_EQ(std::vector<typename OutAs::Stored>(got, got + expected.size()), expected);
}

void run_float(TestDevice& device, const Problem& p, const dim4& lanes, std::uint32_t weights, data_type_t dtype) {
  const dim4 in = {p.n, p.ic, p.h, p.w}, out = {p.n, p.oc, p.h - p.kh + 1, p.w - p.kw + 1};
  const dim2 window = {p.kh, p.kw}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  tpu_gdma_cpy_S2L(kBlock, device.scratch(0), &lanes, nullptr, nullptr, DT_INT32);
  tpu_gdma_cpy_S2L(kX, device.scratch(1 << 20), &in, nullptr, nullptr, dtype);
  tpu_bdc_fp_conv2d(kY, kX, weights, kBlock, &in, nullptr, p.oc, &window, &none, &one, &one, dtype, dtype, true, false);
  tpu_gdma_cpy_L2S(device.scratch(2 << 20), kY, &out, nullptr, nullptr, dtype);
}

void run_int8(TestDevice& device, const Problem& p, const dim4& lanes, std::uint32_t weights) {
  const dim4 in = {p.n, p.ic, p.h, p.w}, out = {p.n, p.oc, p.h - p.kh + 1, p.w - p.kw + 1};
  const dim2 window = {p.kh, p.kw}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  tpu_gdma_cpy_S2L(kBlock, device.scratch(0), &lanes, nullptr, nullptr, DT_INT32);
  tpu_gdma_cpy_S2L(kX, device.scratch(1 << 20), &in, nullptr, nullptr, DT_INT8);
  tpu_bdc_int8_sym_quant_conv2d(kY, kX, weights, kBlock, &in, nullptr, p.oc, &window, &none, &one, &one, DT_INT16,
                                DT_INT8, DT_INT8, DT_INT16, 0, true, false);
  tpu_gdma_cpy_L2S(device.scratch(2 << 20), kY, &out, nullptr, nullptr, DT_INT16);
}

void run_2ic(TestDevice& device, const Problem& p, const dim4& lanes, std::uint32_t weights) {
  const dim4 in = {p.n, p.ic, p.h, p.w}, out = {p.n, p.oc, p.h - p.kh + 1, p.w - p.kw + 1};
  const dim4 pairs = {p.kh * p.kw, (p.ic + 1) / 2 * p.kh * p.kw, p.kw, 1};
  const dim2 one = {1, 1};
  const Padding none = {0, 0, 0, 0};
  okk_gdma_32bit_cpy_S2L(kBlock, device.scratch(0), &lanes, nullptr, nullptr);
  okk_gdma_32bit_cpy_S2L(kX, device.scratch(1 << 20), &in, nullptr, nullptr);
  okk_bdc_conv2d(kY, kX, weights, kBlock, &in, p.oc, p.kh, p.kw, nullptr, &pairs, true, false, &none, &one, &one);
  okk_gdma_32bit_cpy_L2S(device.scratch(2 << 20), kY, &out, nullptr, nullptr);
}

class ConvBlockOnDevice : public testing::TestWithParam<std::tuple<int, int, std::pair<int, int>>> {
 protected:
  Problem problem() const {
    const auto& [oc, ic, window] = GetParam();
    return Problem(oc * 1000 + ic, oc, ic, window.first, window.second);
  }
};

TEST_P(ConvBlockOnDevice, Fp32In1IC) {
  TestDevice device;
  const Problem p = problem();
  expect_exact<AsFloat, AsFloat, AsFloat>(device, p, SOFTTPU_1IC, [&](const dim4& lanes, std::uint32_t weights) {
    run_float(device, p, lanes, weights, DT_FP32);
  });
}
TEST_P(ConvBlockOnDevice, Fp16In32IC) {
  TestDevice device;
  const Problem p = problem();
  expect_exact<AsHalf, AsFloat, AsHalf>(device, p, SOFTTPU_32IC, [&](const dim4& lanes, std::uint32_t weights) {
    run_float(device, p, lanes, weights, DT_FP16);
  });
}
TEST_P(ConvBlockOnDevice, Int8In64IC) {
  TestDevice device;
  const Problem p = problem();
  expect_exact<AsInt8, AsInt16, AsInt16>(
      device, p, SOFTTPU_64IC, [&](const dim4& lanes, std::uint32_t weights) { run_int8(device, p, lanes, weights); });
}
TEST_P(ConvBlockOnDevice, Fp32In2ICOnBm1684) {
  TestDevice device("bm1684");
  const Problem p = problem();
  expect_exact<AsFloat, AsFloat, AsFloat>(
      device, p, SOFTTPU_2IC, [&](const dim4& lanes, std::uint32_t weights) { run_2ic(device, p, lanes, weights); });
}
INSTANTIATE_TEST_SUITE_P(WeightReorder, ConvBlockOnDevice,
                         testing::Combine(testing::Values(1, 64, 130), testing::Values(1, 33, 70),
                                          testing::Values(std::pair{1, 1}, std::pair{3, 2})));

}  // namespace
}  // namespace softtpu::conv_block_device_test
