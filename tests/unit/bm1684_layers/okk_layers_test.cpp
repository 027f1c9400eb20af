// BM1684's layers against the reference: random shapes, windows, layouts, strides; refusals that change nothing.
#include <climits>

#include "tests/reference/bm1684.hpp"
#include "tests/unit/okk_fixture.hpp"

namespace softtpu::okk_layers_test {
namespace {

namespace ref = reference::bm1684;

constexpr std::uint32_t kOutput = 0x40000;
constexpr std::uint32_t kInput = 0x0;
constexpr std::uint32_t kWeight = 0x20000;
constexpr std::uint32_t kBias = 0x38000;

struct Geometry {
  int kernel_h, kernel_w;
  Padding padding;
  dim2 stride, dilation;
};

// Values of a tensor by coordinates; `outside` beyond its height and width.
struct Values {
  const std::vector<std::uint32_t>& words;
  Dim4 shape;
  std::uint32_t at(int n, int c, int h, int w, std::uint32_t outside = 0) const {
    if (h < 0 || h >= shape.h || w < 0 || w >= shape.w) return outside;
    return words[static_cast<std::size_t>(((n * shape.c + c) * shape.h + h) * shape.w + w)];
  }
};

class OkkLayers : public OkkTest {
 protected:
  Geometry random_geometry(const Dim4& input, bool dilated) {
    Geometry g{number(1, 3), number(1, 3), {}, {number(1, 3), number(1, 3)}, {1, 1}};
    g.padding = {number(0, 2), number(0, 2), number(0, 2), number(0, 2)};
    if (dilated) g.dilation = {number(1, 3), number(1, 3)};
    if (dilated && number(0, 5) == 0) {
      g.dilation = {number(1, 12), number(1, 12)};
      g.padding = {number(0, 15), number(0, 15), number(0, 15), number(0, 15)};
    }
    // The window has to fit at least once.
    while (out_h(g, input.h) < 1) ++(g.padding.top < 15 ? g.padding.top : g.padding.bottom);
    while (out_w(g, input.w) < 1) ++(g.padding.left < 15 ? g.padding.left : g.padding.right);
    return g;
  }
  // What is added up for one output element: in steps of a tap and a pair of input channels.
  static std::vector<Words> conv_products(const Values& input, const Values& weight, const Geometry& g, int n, int oc,
                                          int h, int w) {
    std::vector<Words> products;
    for (int i = 0; i < g.kernel_h; ++i) {
      for (int j = 0; j < g.kernel_w; ++j) {
        for (int c = 0; c < input.shape.c; ++c) {
          if (c % 2 == 0) products.emplace_back();
          const std::uint32_t value = input.at(n, c, h * g.stride.h - g.padding.top + i * g.dilation.h,
                                               w * g.stride.w - g.padding.left + j * g.dilation.w);
          products.back().push_back(ref::mul(value, weight.at(c / 2, oc, i, 2 * j + c % 2)));
        }
      }
    }
    return products;
  }
  static int out_h(const Geometry& g, int h) {
    return (h + g.padding.top + g.padding.bottom - (g.kernel_h - 1) * g.dilation.h - 1 + g.stride.h) / g.stride.h;
  }
  static int out_w(const Geometry& g, int w) {
    return (w + g.padding.left + g.padding.right - (g.kernel_w - 1) * g.dilation.w - 1 + g.stride.w) / g.stride.w;
  }
};

TEST_F(OkkLayers, ConvolutionMatchesTheReference) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dim4 in{number(1, 2), number(1, trial % 5 == 0 ? 70 : 9), number(1, 7), number(1, 12)};
    const int oc = number(1, trial % 5 == 0 ? 9 : 70);
    const int npu = number(0, 63);
    const Geometry g = random_geometry(in, true);
    const bool using_bias = trial % 2 == 0;
    const bool add = trial % 3 == 0;
    const bool given = flip();  // strides of its own for the input
    // With strides given, the input begins at any word.
    DeviceTensor input = aligned(in, number(0, 63), kInput + static_cast<local_addr_t>(given ? 4 * number(0, 63) : 0));
    if (given) input = spread(input);
    const DeviceTensor output = aligned({in.n, oc, out_h(g, in.h), out_w(g, in.w)}, npu, kOutput);
    // Pairs of input channels: [pair, oc, kh, 2 * kw] words; a stride of the kernel counts pairs.
    const int groups = (npu + oc + 63) / 64;
    const int row = g.kernel_w + number(0, 2), window = g.kernel_h * row + number(0, 2);
    const dim4 kernel_stride = {groups * window + number(0, 2), window, row, 1};
    const DeviceTensor weight{Dtype::kFp32,
                              {(in.c + 1) / 2, oc, g.kernel_h, 2 * g.kernel_w},
                              npu,
                              kWeight,
                              {2 * kernel_stride.n, 2 * kernel_stride.c, 2 * kernel_stride.h, 1}};
    const DeviceTensor bias{Dtype::kFp32, {1, oc, 1, 1}, npu, kBias, {groups, 1, 1, 1}};
    const Words x = put_random(input);
    const Words k = put_random(weight);
    const Words b = put_random(bias);
    const Words old = put_random(output);
    const Values in_values{x, in};
    const Values weights{k, weight.shape};
    Words want;
    for (int n = 0; n < in.n; ++n) {
      for (int o = 0; o < oc; ++o) {
        for (int h = 0; h < output.shape.h; ++h) {
          for (int w = 0; w < output.shape.w; ++w) {
            std::uint32_t sum = ref::four_lanes(conv_products(in_values, weights, g, n, o, h, w));
            if (using_bias) sum = ref::add(sum, b[static_cast<std::size_t>(o)]);
            if (add) sum = ref::add(sum, old[want.size()]);
            want.push_back(sum);
          }
        }
      }
    }
    const dim4 in_shape = input.c_shape();
    const dim4 in_stride = input.c_stride();
    expect_result(
        [&] {
          okk_bdc_conv2d(addr(output), addr(input), addr(weight), addr(bias), &in_shape, oc, g.kernel_h, g.kernel_w,
                         given ? &in_stride : nullptr, &kernel_stride, using_bias, add, &g.padding, &g.stride,
                         &g.dilation);
        },
        output, want, "conv2d");
  }
}

TEST_F(OkkLayers, WindowsOverChannelsMatchTheReference) {
  for (int trial = 0; trial < 60; ++trial) {
    const Dim4 in{number(1, 3), number(1, 70), number(1, 6), number(1, 9)};
    const int npu = number(0, 63);
    const Geometry g = random_geometry(in, trial % 3 == 0);
    const DeviceTensor input = aligned(in, npu, kInput);
    const DeviceTensor output = aligned({in.n, in.c, out_h(g, in.h), out_w(g, in.w)}, npu, kOutput);
    const int groups = (npu + in.c + 63) / 64;
    const int taps = g.kernel_h * g.kernel_w;
    const DeviceTensor weight{
        Dtype::kFp32, {1, in.c, g.kernel_h, g.kernel_w}, npu, kWeight, {groups * taps, taps, g.kernel_w, 1}};
    const DeviceTensor bias{Dtype::kFp32, {1, in.c, 1, 1}, npu, kBias, {groups, 1, 1, 1}};
    const Words x = put_random(input);
    const Words k = put_random(weight);
    const Words b = put_random(bias);
    const Values in_values{x, in};
    const Values weights{k, weight.shape};
    const std::uint32_t average = std::bit_cast<std::uint32_t>(1.0F / static_cast<float>(taps));
    constexpr std::uint32_t kLowest = 0xFF7FFFFF;
    Words want;
    for (int n = 0; n < in.n; ++n) {
      for (int c = 0; c < in.c; ++c) {
        for (int h = 0; h < output.shape.h; ++h) {
          for (int w = 0; w < output.shape.w; ++w) {
            Words products;
            std::uint32_t largest = kLowest;
            for (int i = 0; i < g.kernel_h; ++i) {
              for (int j = 0; j < g.kernel_w; ++j) {
                const int y = h * g.stride.h - g.padding.top + i * g.dilation.h;
                const int z = w * g.stride.w - g.padding.left + j * g.dilation.w;
                products.push_back(
                    ref::mul(in_values.at(n, c, y, z), trial % 3 == 0 ? weights.at(0, c, i, j) : average));
                largest = ref::max(in_values.at(n, c, y, z, kLowest), largest);
              }
            }
            std::uint32_t result = trial % 3 == 2 ? largest : ref::two_lanes(products);
            if (trial % 3 == 0) result = ref::add(result, b[static_cast<std::size_t>(c)]);
            want.push_back(result);
          }
        }
      }
    }
    const dim4 in_shape = input.c_shape();
    expect_result(
        [&] {
          if (trial % 3 == 0) {
            okk_bdc_depthwise2d(addr(output), addr(input), addr(weight), addr(bias), &in_shape, g.kernel_h, g.kernel_w,
                                true, &g.padding, &g.stride, &g.dilation);
          } else if (trial % 3 == 1) {
            okk_bdc_avg_pool2d(addr(output), addr(input), &in_shape, g.kernel_h, g.kernel_w, &g.padding, &g.stride);
          } else {
            okk_bdc_max_pool2d(addr(output), addr(input), &in_shape, g.kernel_h, g.kernel_w, &g.padding, &g.stride);
          }
        },
        output, want,
        trial % 3 == 0   ? "depthwise2d"
        : trial % 3 == 1 ? "avg_pool2d"
                         : "max_pool2d");
  }
}

TEST_F(OkkLayers, MatrixProductMatchesTheReference) {
  for (int trial = 0; trial < 40; ++trial) {
    const int rows = number(1, 6);
    const int inner = trial % 8 == 0 ? 1 : number(1, 90);
    const int left_width = number(1, inner);
    const int right_width = number(1, 12);
    const int cols = number(1, 200);
    const int npu = number(0, 63);
    const bool using_bias = trial % 2 == 0;
    const bool add = trial % 3 == 0;
    const auto matrix = [&](int r, int c, int width, int at, std::uint32_t offset) {
      return aligned({r, (c + width - 1) / width, 1, width}, at, offset);
    };
    const DeviceTensor left = matrix(rows, inner, left_width, number(0, 63), kInput);
    const DeviceTensor right = matrix(inner, cols, right_width, npu, kWeight);
    const DeviceTensor bias = matrix(1, cols, right_width, npu, 0x78000);
    const DeviceTensor output = matrix(rows, cols, right_width, npu, kOutput);
    const Words x = put_random(left);
    const Words y = put_random(right);
    const Words b = put_random(bias);
    const Words old = put_random(output);
    // The unused columns of a last channel are computed as well.
    const int stored = output.shape.c * right_width;
    Words want;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < stored; ++c) {
        Words products;
        for (int k = 0; k < inner; ++k) {
          products.push_back(ref::mul(x[static_cast<std::size_t>(r * left.shape.c * left_width + k)],
                                      y[static_cast<std::size_t>(k * stored + c)]));
        }
        std::uint32_t sum = ref::two_lanes(products);
        if (using_bias) sum = ref::add(sum, b[static_cast<std::size_t>(c)]);
        if (add) sum = ref::add(sum, old[want.size()]);
        want.push_back(sum);
      }
    }
    expect_result(
        [&] {
          okk_bdc_matmul(addr(output), addr(left), addr(right), addr(bias), rows, inner, cols, left_width, right_width,
                         using_bias, add);
        },
        output, want, "matmul");
  }
}

TEST_F(OkkLayers, RefusesWhatTheChipCannotDo) {
  const dim4 in = {1, 2, 8, 8};
  const Padding none = {0, 0, 0, 0};
  const dim2 one = {1, 1};
  const dim4 taps = {9, 9, 3, 1};
  const auto conv = [&](const Padding& padding, const dim2& stride, const dim2& dilation, local_addr_t weight) {
    okk_bdc_conv2d(kOutput, kInput, weight, kBias, &in, 2, 3, 3, nullptr, &taps, false, false, &padding, &stride,
                   &dilation);
  };
  device_.expect_fault([&] { conv({16, 0, 0, 0}, one, one, kWeight); }, "padding.top (16) is outside 0..15");
  device_.expect_fault([&] { conv({0, 0, -1, 0}, one, one, kWeight); }, "padding.left (-1)");
  device_.expect_fault([&] { conv(none, {0, 1}, one, kWeight); }, "stride.h (0) is outside 1..15");
  device_.expect_fault([&] { conv(none, one, {1, 0}, kWeight); }, "dilation.w (0)");
  device_.expect_fault([&] { conv(none, one, {9, 1}, kWeight); }, "is larger than the padded input");
  device_.expect_fault([&] { conv(none, one, one, kWeight + 4); }, "weight address (0x20004) is not a multiple of 8");
  device_.expect_fault([&] { conv(none, one, one, 0x80000); }, "start NPU of weight (1) differs");
  // The natural strides of such weights are longer than 64 bits count; the sanitizers see whether they are computed.
  for (const int size : {INT_MIN, INT_MAX}) {
    device_.expect_fault(
        [&] {
          okk_bdc_conv2d(kOutput, kInput, kWeight, kBias, &in, size, size, size, nullptr, nullptr, false, false, &none,
                         &one, &one);
        },
        "okk_bdc_conv2d");
  }
  device_.expect_fault([&] { okk_bdc_matmul(kOutput, kInput, kWeight, kBias, 2, 20, 8, 0, 8, false, false); },
                       "left_cols_per_channel (0)");
  device_.expect_fault([&] { okk_bdc_max_pool2d(kOutput, kInput, nullptr, 2, 2, nullptr, nullptr); },
                       "input_shape is NULL");
}

// The output lies over the bias, and over weights that make NaNs: both count as they were before (tests/pairs: call
// 2687 of seed 39000, of which plain loops and SIMD loops gave different sums).
TEST_F(OkkLayers, OutputsOverWhatTheyAreMadeOf) {
  const Dim4 in{3, 3, 3, 4};
  const dim4 in_shape{in.n, in.c, in.h, in.w};
  const Padding none = {0, 0, 0, 0};
  const dim2 one = {1, 1};
  const DeviceTensor input = aligned(in, 0, kInput);
  const DeviceTensor weight{Dtype::kFp32, {2, 66, 2, 4}, 0, kWeight, {16, 8, 4, 1}};
  const DeviceTensor bias{Dtype::kFp32, {1, 66, 1, 1}, 0, kBias, {2, 1, 1, 1}};
  const auto convolved = [&](std::uint32_t at) {
    put_random(input), put_random(weight), put_random(bias);
    EXPECT_TRUE(device_
                    .run([&] {
                      okk_bdc_conv2d(at, kInput, kWeight, kBias, &in_shape, 66, 2, 2, nullptr, nullptr, true, false,
                                     &none, &one, &one);
                    })
                    .ok);
    return aligned({3, 66, 2, 3}, 0, at).read(device_.chip(), memory());
  };
  const auto begin = random_;
  const Words apart = convolved(kOutput);
  for (const std::uint32_t over : {kBias, kWeight}) {
    random_ = begin;
    EXPECT_EQ(convolved(over), apart) << over;
  }
}

TEST_F(OkkLayers, OneThreadGivesTheSameBits) {
  const dim4 in = {1, 16, 30, 40};
  const DeviceTensor input = aligned({1, 16, 30, 40}, 0, kInput);
  const DeviceTensor weight{Dtype::kFp32, {8, 20, 3, 6}, 0, kWeight, {18, 18, 6, 1}};
  const DeviceTensor output = aligned({1, 20, 28, 38}, 0, kOutput);
  put_random(input), put_random(weight);
  const dim4 taps = {9, 9, 3, 1};
  const auto run = [&] {
    EXPECT_TRUE(device_
                    .run([&] {
                      okk_bdc_conv2d(kOutput, kInput, kWeight, kBias, &in, 20, 3, 3, nullptr, &taps, false, false,
                                     nullptr, nullptr, nullptr);
                    })
                    .ok);
    return output.read(device_.chip(), memory());
  };
  const Words many = run();
  set_thread_limit(1);
  const Words one = run();
  set_thread_limit(0);
  EXPECT_EQ(many, one);
}

}  // namespace
}  // namespace softtpu::okk_layers_test
