// Convolutions, depthwise convolutions and poolings against oracles that are written from the description.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tests/unit/compare_with_oracle.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

using reference::aligned;
using reference::compact;
using reference::Float;
using reference::Image;
using reference::LocalTensor;
using reference::RandomData;

constexpr int kCases = 20;
constexpr unsigned kInput = 0x4000, kWeight = 0x14000, kBias = 0x2C000, kPoint = 0x2D000, kPairs = 0x2E000;
constexpr unsigned kResult = 0x30000;

unsigned address(int npu, unsigned offset) {
  return static_cast<unsigned>(npu) * static_cast<unsigned>(reference::kLocalBytes) + offset;
}

// Input and window of one case.
struct Geometry {
  dim4 in;
  dim2 kernel, stride, dilation, insert;
  padding_t pad;
  bool deconv = false;

  int out(int extent, int inserted, int before, int after, int taps, int step, int spread) const {
    return ((extent - 1) * (inserted + 1) + 1 + before + after - ((taps - 1) * spread + 1)) / step + 1;
  }
  int oh() const { return out(in.h, insert.h, pad.top, pad.bottom, kernel.h, stride.h, dilation.h); }
  int ow() const { return out(in.w, insert.w, pad.left, pad.right, kernel.w, stride.w, dilation.w); }
  bool fits() const {
    return (in.h - 1) * (insert.h + 1) + 1 + pad.top + pad.bottom >= (kernel.h - 1) * dilation.h + 1 &&
           (in.w - 1) * (insert.w + 1) + 1 + pad.left + pad.right >= (kernel.w - 1) * dilation.w + 1;
  }
  // What a tap sees: an element, an inserted value, or padding.
  enum class Sees : std::uint8_t { kElement, kInserted, kPadding };
  struct Spot {
    Sees sees;
    int h, w;
  };
  Spot spot(int o_h, int o_w, int k_h, int k_w) const {
    const int y = o_h * stride.h + k_h * dilation.h - pad.top;
    const int x = o_w * stride.w + k_w * dilation.w - pad.left;
    if (y < 0 || x < 0 || y > (in.h - 1) * (insert.h + 1) || x > (in.w - 1) * (insert.w + 1)) {
      return {Sees::kPadding, 0, 0};
    }
    if (y % (insert.h + 1) != 0 || x % (insert.w + 1) != 0) return {Sees::kInserted, 0, 0};
    return {Sees::kElement, y / (insert.h + 1), x / (insert.w + 1)};
  }
  std::string text() const {
    return fmt::format("in [{}, {}, {}, {}] kernel {}x{} stride {}x{} dilation {}x{} insert {}x{} pad {} {} {} {} {}",
                       in.n, in.c, in.h, in.w, kernel.h, kernel.w, stride.h, stride.w, dilation.h, dilation.w, insert.h,
                       insert.w, pad.top, pad.bottom, pad.left, pad.right, deconv ? "deconv" : "");
  }
};

class Windows : public OracleComparison {
 protected:
  Geometry geometry(int channels, bool deconv) {
    Geometry g;
    do {
      g.in = {random_.in(1, 2), channels, random_.in(1, 9), random_.in(1, 20)};
      g.kernel = {random_.in(1, 3), random_.in(1, 4)};
      g.stride = {random_.in(1, 3), random_.in(1, 3)};
      g.dilation = {random_.in(1, 2), random_.in(1, 3)};
      g.pad = {random_.in(0, 2), random_.in(0, 2), random_.in(0, 3), random_.in(0, 3)};
      g.insert = {0, 0};
      if (deconv) {
        g.stride = {1, 1};
        g.insert = {random_.in(0, 2), random_.in(0, 2)};
      }
      g.deconv = deconv;
    } while (!g.fits());
    return g;
  }
  // An input with gaps, or the natural layout.
  LocalTensor input(const Geometry& g, unsigned addr, int size, bool free) {
    LocalTensor tensor = aligned(addr, g.in.n, g.in.c, g.in.h, g.in.w, size);
    if (!free) return tensor;
    tensor.w_stride = 2;
    tensor.h_stride = g.in.w * 2 + 1;
    tensor.c_stride = g.in.h * tensor.h_stride + 3;
    tensor.n_stride = tensor.c_stride * ((addr / reference::kLocalBytes + g.in.c + 63) / 64);
    return tensor;
  }
  static dim4 strides(const LocalTensor& t) {
    return {static_cast<int>(t.n_stride), static_cast<int>(t.c_stride), static_cast<int>(t.h_stride),
            static_cast<int>(t.w_stride)};
  }
  template <class Body>
  static void each_output(const Geometry& g, int channels, Body body) {
    for (int n = 0; n < g.in.n; ++n) {
      for (int c = 0; c < channels; ++c) {
        for (int h = 0; h < g.oh(); ++h) {
          for (int w = 0; w < g.ow(); ++w) body(n, c, h, w);
        }
      }
    }
  }
};

// Weights: groups of input channels, in each the kernel, in each tap the channels of the group.
LocalTensor weights(const Geometry& g, unsigned addr, int oc, int group, int size) {
  return compact(addr, 1, oc, (g.in.c + group - 1) / group * g.kernel.h * g.kernel.w, group, size);
}
std::uint32_t weight_at(const Image& image, const LocalTensor& weight, const Geometry& g, int oc, int ic, int kh,
                        int kw) {
  if (g.deconv) {
    kh = g.kernel.h - 1 - kh;
    kw = g.kernel.w - 1 - kw;
  }
  const int unit = (ic / weight.w * g.kernel.h + kh) * g.kernel.w + kw;
  return RandomData::take(image, weight, 0, oc, unit, ic % weight.w);
}

TEST_F(Windows, FloatConvolutionsSumInTheChipsOrder) {
  for (int i = 0; i < 3 * kCases; ++i) {
    const Float type = static_cast<Float>(i % 3);
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 70), random_.flip());
    const int oc = random_.in(1, 9);
    const int npu = random_.in(0, 63), in_npu = type == Float::kF32 ? random_.in(0, 63) : 0;
    const bool free = random_.flip(), has_bias = random_.flip(), add = random_.flip();
    const Float out = add || random_.flip() ? Float::kF32 : type;
    const LocalTensor in = input(g, address(in_npu, kInput), size, free);
    const LocalTensor weight = weights(g, address(npu, kWeight), oc, type == Float::kF32 ? 1 : 32, size);
    const LocalTensor bias = compact(address(npu, kBias), 1, oc, 1, 1, 4);
    const LocalTensor result = aligned(address(npu, kResult), g.in.n, oc, g.oh(), g.ow(), reference::size_of(out));
    random_.fill(image_, in, type);
    random_.fill(image_, weight, type);
    random_.fill(image_, bias, Float::kF32);
    random_.fill(image_, result, out);
    Image wanted = image_;
    each_output(g, oc, [&](int n, int c, int h, int w) {
      const auto tap = [&](int ic, int kh, int kw) {
        const Geometry::Spot spot = g.spot(h, w, kh, kw);
        if (spot.sees != Geometry::Sees::kElement) return 0.0;
        return reference::value_of(RandomData::take(image_, in, n, ic, spot.h, spot.w), type);
      };
      const auto factor = [&](int ic, int kh, int kw) {
        return reference::value_of(weight_at(image_, weight, g, c, ic, kh, kw), type);
      };
      std::vector<float> addends;
      if (has_bias) {
        addends.push_back(
            static_cast<float>(reference::value_of(RandomData::take(image_, bias, 0, c, 0, 0), Float::kF32)));
      }
      if (add) {
        addends.push_back(
            static_cast<float>(reference::value_of(RandomData::take(image_, result, n, c, h, w), Float::kF32)));
      }
      float total = 0;
      if (type == Float::kF32) {
        reference::TwoLanes sum;
        for (const float addend : addends) sum.put(addend);
        for (int ic = 0; ic < g.in.c; ++ic) {
          for (int kh = 0; kh < g.kernel.h; ++kh) {
            for (int kw = 0; kw < g.kernel.w; ++kw) sum.put(reference::multiply(tap(ic, kh, kw), factor(ic, kh, kw)));
          }
        }
        total = sum.result();
      } else {
        for (const float addend : addends) total = reference::rounded_sum(total, addend);
        for (int first = 0; first < g.in.c; first += 32) {
          for (int kh = 0; kh < g.kernel.h; ++kh) {
            for (int kw = 0; kw < g.kernel.w; ++kw) {
              std::vector<double> a, b;
              for (int ic = first; ic < std::min(first + 32, g.in.c); ++ic) {
                a.push_back(tap(ic, kh, kw));
                b.push_back(factor(ic, kh, kw));
              }
              total = reference::rounded_sum(total, reference::group_sum(a, b));
            }
          }
        }
      }
      RandomData::put(wanted, result, n, c, h, w, reference::bits_of(total, out));
    });
    constexpr std::array kTypes = {DT_FP32, DT_FP16, DT_BFP16};
    const data_type_t in_type = kTypes[static_cast<std::size_t>(type)];
    const data_type_t out_type = kTypes[static_cast<std::size_t>(out)];
    const dim4 stride = strides(in);
    expect(
        wanted,
        [&] {
          const auto a = [](const LocalTensor& tensor) { return static_cast<unsigned>(tensor.addr); };
          if (g.deconv) {
            tpu_bdc_fp_conv2d_for_deconv2d(a(result), a(in), a(weight), a(bias), &g.in, free ? &stride : nullptr, oc,
                                           &g.kernel, &g.insert, &g.pad, &g.dilation, out_type, in_type, has_bias, add);
          } else {
            tpu_bdc_fp_conv2d(a(result), a(in), a(weight), a(bias), &g.in, free ? &stride : nullptr, oc, &g.kernel,
                              &g.pad, &g.stride, &g.dilation, out_type, in_type, has_bias, add);
          }
        },
        fmt::format("{} oc {} npu {} type {} out {} bias {} add {}", g.text(), oc, npu, static_cast<int>(type),
                    static_cast<int>(out), has_bias, add));
  }
}

TEST_F(Windows, ByteConvolutionsTakeZeroPointsAndPaddingPerChannel) {
  for (int i = 0; i < 2 * kCases; ++i) {
    const Geometry g = geometry(random_.in(1, 140), random_.flip());
    const int oc = random_.in(1, 9), npu = random_.in(0, 63);
    const bool in_signed = random_.flip(), weight_signed = random_.flip(), point_signed = random_.flip();
    const bool add = random_.flip();
    const LocalTensor in = input(g, kInput, 1, random_.flip());
    const LocalTensor weight = weights(g, address(npu, kWeight), oc, 64, 1);
    const LocalTensor points = compact(address(npu, kPoint), 1, oc, 1, 1, 1);
    const LocalTensor pairs = compact(kPairs, 1, g.in.c, 1, 2, 1);
    const LocalTensor result = aligned(address(npu, kResult), g.in.n, oc, g.oh(), g.ow(), 4);
    for (const LocalTensor* tensor : {&in, &weight, &points, &pairs, &result}) random_.fill_bits(image_, *tensor);
    Image wanted = image_;
    each_output(g, oc, [&](int n, int c, int h, int w) {
      std::int64_t sum = add ? RandomData::take(image_, result, n, c, h, w) : 0;
      const std::int64_t point = RandomData::integer(RandomData::take(image_, points, 0, c, 0, 0), 1, point_signed);
      for (int ic = 0; ic < g.in.c; ++ic) {
        for (int kh = 0; kh < g.kernel.h; ++kh) {
          for (int kw = 0; kw < g.kernel.w; ++kw) {
            const Geometry::Spot spot = g.spot(h, w, kh, kw);
            const std::uint32_t seen =
                spot.sees == Geometry::Sees::kElement
                    ? RandomData::take(image_, in, n, ic, spot.h, spot.w)
                    : RandomData::take(image_, pairs, 0, ic, 0, spot.sees == Geometry::Sees::kPadding ? 0 : 1);
            const std::int64_t factor =
                RandomData::integer(weight_at(image_, weight, g, c, ic, kh, kw), 1, weight_signed);
            sum += RandomData::integer(seen, 1, in_signed) * (factor - point);
          }
        }
      }
      RandomData::put(wanted, result, n, c, h, w, static_cast<std::uint32_t>(sum));
    });
    const auto byte = [](bool is_signed) { return is_signed ? DT_INT8 : DT_UINT8; };
    const dim4 stride = strides(in);
    expect(
        wanted,
        [&] {
          const auto a = [](const LocalTensor& tensor) { return static_cast<unsigned>(tensor.addr); };
          if (g.deconv) {
            tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(
                a(result), a(in), a(weight), a(points), a(pairs), &g.in, &stride, oc, &g.kernel, &g.insert, &g.pad,
                &g.dilation, DT_INT32, byte(in_signed), byte(weight_signed), byte(point_signed), add);
          } else {
            tpu_bdc_int8_asym_pc_quant_conv2d(a(result), a(in), a(weight), a(points), a(pairs), &g.in, &stride, oc,
                                              &g.kernel, &g.pad, &g.stride, &g.dilation, DT_INT32, byte(in_signed),
                                              byte(weight_signed), byte(point_signed), add);
          }
        },
        fmt::format("{} oc {} npu {}", g.text(), oc, npu));
  }
}

TEST_F(Windows, DepthwiseAndAverageRoundEveryStep) {
  for (int i = 0; i < 3 * kCases; ++i) {
    const Float type = static_cast<Float>(i % 3);
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 130), false);
    const int npu = random_.in(0, 63);
    const bool average = random_.flip(), has_bias = !average && random_.flip();
    const LocalTensor in = input(g, address(npu, kInput), size, false);
    const LocalTensor weight = compact(address(npu, kWeight), 1, g.in.c, g.kernel.h, g.kernel.w, size);
    const LocalTensor bias = compact(address(npu, kBias), 1, g.in.c, 1, 1, size);
    const LocalTensor result = aligned(address(npu, kResult), g.in.n, g.in.c, g.oh(), g.ow(), size);
    for (const LocalTensor* tensor : {&in, &weight, &bias, &result}) random_.fill(image_, *tensor, type);
    scalar_t scale;
    scale.u32 = random_.element(type);
    Image wanted = image_;
    each_output(g, g.in.c, [&](int n, int c, int h, int w) {
      reference::TwoLanes sum(type, average ? -0.0F : 0.0F);
      if (has_bias) {
        sum.put(static_cast<float>(reference::value_of(RandomData::take(image_, bias, 0, c, 0, 0), type)));
      }
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          const double seen = spot.sees == Geometry::Sees::kElement
                                  ? reference::value_of(RandomData::take(image_, in, n, c, spot.h, spot.w), type)
                                  : 0.0;
          const std::uint32_t factor = average ? scale.u32 : RandomData::take(image_, weight, 0, c, kh, kw);
          sum.put(reference::rounded_product(seen, reference::value_of(factor, type), type));
        }
      }
      RandomData::put(wanted, result, n, c, h, w, reference::bits_of(sum.result(), type));
    });
    constexpr std::array kTypes = {DT_FP32, DT_FP16, DT_BFP16};
    const data_type_t dtype = kTypes[static_cast<std::size_t>(type)];
    expect(
        wanted,
        [&] {
          const auto a = [](const LocalTensor& tensor) { return static_cast<unsigned>(tensor.addr); };
          if (average) {
            tpu_bdc_fp_avg_pool2d(a(result), a(in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation, dtype, scale);
          } else {
            tpu_bdc_fp_depthwise2d(a(result), a(in), a(weight), a(bias), &g.in, &g.kernel, &g.pad, &g.stride,
                                   &g.dilation, dtype, has_bias);
          }
        },
        fmt::format("{} npu {} type {} average {} bias {}", g.text(), npu, static_cast<int>(type), average, has_bias));
  }
}

TEST_F(Windows, MaximumTakesTheLaterOfEquals) {
  for (int i = 0; i < 3 * kCases; ++i) {
    const Float type = static_cast<Float>(i % 3);
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 130), false);
    const int npu = random_.in(0, 63);
    const LocalTensor in = input(g, address(npu, kInput), size, false);
    const LocalTensor result = aligned(address(npu, kResult), g.in.n, g.in.c, g.oh(), g.ow(), size);
    random_.fill_bits(image_, in);
    scalar_t outside;
    outside.u32 = random_.element(type);
    Image wanted = image_;
    each_output(g, g.in.c, [&](int n, int c, int h, int w) {
      constexpr std::uint32_t kLowest[] = {0xFF7FFFFF, 0xFBFF, 0xFF7F};
      std::uint32_t best = kLowest[static_cast<std::size_t>(type)];
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          const std::uint32_t mask = size == 2 ? 0xFFFFU : 0xFFFFFFFFU;
          const std::uint32_t seen = spot.sees == Geometry::Sees::kElement
                                         ? RandomData::take(image_, in, n, c, spot.h, spot.w)
                                         : outside.u32 & mask;
          if (!(reference::value_of(best, type) > reference::value_of(seen, type))) best = seen;
        }
      }
      const bool subnormal = type == Float::kF32 && (best & 0x7F800000U) == 0;
      RandomData::put(wanted, result, n, c, h, w, subnormal ? best & 0x80000000U : best);
    });
    constexpr std::array kTypes = {DT_FP32, DT_FP16, DT_BFP16};
    expect(
        wanted,
        [&] {
          tpu_bdc_fp_max_pool2d(static_cast<unsigned>(result.addr), static_cast<unsigned>(in.addr), &g.in, &g.kernel,
                                &g.pad, &g.stride, &g.dilation, kTypes[static_cast<std::size_t>(type)], outside);
        },
        fmt::format("{} npu {} type {}", g.text(), npu, static_cast<int>(type)));
  }
}

TEST_F(Windows, AnOutputOnItsInputIsWrittenLast) {
  // Channel by channel in place: a 1 x 1 kernel that adds nothing copies the input.
  const Geometry g{{1, 70, 5, 6}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 0, 1, 0}};
  const LocalTensor in = aligned(kInput, 1, 70, 5, 6, 1);
  random_.fill_bits(image_, in);
  Image wanted = image_;
  each_output(g, 70, [&](int n, int c, int h, int w) {
    std::uint32_t best = 0;
    for (int kh = 0; kh < 2; ++kh) {
      for (int kw = 0; kw < 2; ++kw) {
        const Geometry::Spot spot = g.spot(h, w, kh, kw);
        if (spot.sees == Geometry::Sees::kElement)
          best = std::max(best, RandomData::take(image_, in, n, c, spot.h, spot.w));
      }
    }
    RandomData::put(wanted, in, n, c, h, w, best);
  });
  scalar_t zero;
  zero.u32 = 0;
  expect(
      wanted,
      [&] {
        tpu_bdc_int8_max_pool2d(kInput, kInput, &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation, DT_UINT8, zero);
      },
      "in place");
}

TEST_F(Windows, WrongArgumentsAreRefused) {
  const Geometry good{{1, 3, 6, 6}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0, 0, 0}};
  const auto pool = [](Geometry g, unsigned in, data_type_t type) {
    return [=] {
      scalar_t zero;
      zero.u32 = 0;
      tpu_bdc_fp_max_pool2d(kResult, in, &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation, type, zero);
    };
  };
  Geometry bad = good;
  bad.stride.h = 0;
  device_.expect_fault(pool(bad, kInput, DT_FP32), "stride.h (0) is outside 1..15");
  bad = good;
  bad.pad.left = 16;
  device_.expect_fault(pool(bad, kInput, DT_FP32), "padding.left (16) is outside 0..15");
  bad = good;
  bad.kernel = {7, 2};
  device_.expect_fault(pool(bad, kInput, DT_FP32), "kernel (7 x 2, dilation 1 x 1) is larger than the padded input");
  bad = good;
  bad.kernel = {2147483647, 2147483647};
  device_.expect_fault(pool(bad, kInput, DT_FP32), "kernel.h (2147483647) is outside 1..65535");
  bad = good;
  bad.in.c = -4;
  device_.expect_fault(pool(bad, kInput, DT_FP32), "input.c (-4) is outside 1..65535");
  device_.expect_fault(pool(good, kInput + 4, DT_FP32), "input address (0x4004) is not a multiple of 64");
  device_.expect_fault(pool(good, address(1, kInput), DT_FP32),
                       "start NPU of input (1) differs from start NPU of output");
  device_.expect_fault(pool(good, kInput, DT_INT32), "type is int32");
  device_.expect_fault(
      [&] {
        tpu_bdc_fp_conv2d(kResult, address(1, kInput), kWeight, kBias, &good.in, nullptr, 4, &good.kernel, &good.pad,
                          &good.stride, &good.dilation, DT_FP16, DT_FP16, false, false);
      },
      "start NPU of input (1) is not 0");
  device_.expect_fault(
      [&] {
        tpu_bdc_fp_conv2d(kResult, kInput, kWeight, kBias, nullptr, nullptr, 4, &good.kernel, &good.pad, &good.stride,
                          &good.dilation, DT_FP16, DT_FP16, false, false);
      },
      "input_shape is NULL");
}

}  // namespace
}  // namespace softtpu
