// Convolutions of few input channels: whatever loops carry them out, every instruction set gives the bits of the plain
// ones. (What the plain loops give is compared with oracles elsewhere: conv_test.cpp, okk_layers_test.cpp.)
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "device/memory/kernel_choice.hpp"
#include "okk.h"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/instruction_sets.hpp"
#include "tpu_kernel.h"

namespace softtpu::shallow_conv_test {
namespace {

struct Shape {
  dim4 input;
  int oc;
  dim2 kernel, stride, dilation;
  padding_t pad;

  static int extent(int size, int before, int after, int kernel, int stride, int dilation) {
    return (size + before + after - (kernel - 1) * dilation - 1) / stride + 1;
  }
  bool fits() const {
    return input.h + pad.top + pad.bottom > (kernel.h - 1) * dilation.h &&
           input.w + pad.left + pad.right > (kernel.w - 1) * dilation.w;
  }
  std::string text() const {
    return fmt::format("[{}, {}, {}, {}] -> {}, {}x{} / {}x{}, dilation {}x{}, padding {} {} {} {}", input.n, input.c,
                       input.h, input.w, oc, kernel.h, kernel.w, stride.h, stride.w, dilation.h, dilation.w, pad.top,
                       pad.bottom, pad.left, pad.right);
  }
};

// What local memory holds.
enum class Values : std::uint8_t { kOrdinaryHalves, kOrdinaryFloats, kAny };

class ShallowConvolutions : public testing::TestWithParam<const char*> {
 protected:
  static constexpr unsigned kInput = 0, kWeight = 0x8000, kBias = 0x1E000, kResult = 0x20000;

  explicit ShallowConvolutions(const char* chip = "bm1684x") : device_(chip) {}
  ~ShallowConvolutions() override {
    set_plain_kernels(false);
    set_simd_limit("");
  }

  int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Shape shape() {
    Shape shape;
    do {
      // Wide rows are results without gaps of their own.
      shape.input = {in(1, 4), in(1, 8), in(1, 29), in(0, 4) == 0 ? in(45, 150) : in(1, 29)};
      shape.oc = in(0, 3) == 0 ? in(65, 200) : in(1, 64);
      shape.kernel = {in(1, 7), in(1, 7)};
      if (in(0, 2) == 0) shape.kernel = {1, 1};
      shape.stride = {in(1, 3), in(1, 3)};
      shape.dilation = in(0, 3) == 0 ? dim2{in(1, 3), in(1, 5)} : dim2{1, 1};
      shape.pad = {in(0, 3), in(0, 3), in(0, 3), in(0, 3)};
    } while (!shape.fits() || room(shape) > 0x20000);
    return shape;
  }
  // Bytes of the result in an NPU, at most.
  static int room(const Shape& s) {
    const int h = Shape::extent(s.input.h, s.pad.top, s.pad.bottom, s.kernel.h, s.stride.h, s.dilation.h);
    const int w = Shape::extent(s.input.w, s.pad.left, s.pad.right, s.kernel.w, s.stride.w, s.dilation.w);
    return s.input.n * ((s.oc + 63) / 64) * (h * w * 4 + 128);
  }

  void fill(Values values) {
    const std::size_t bytes = device_.chip().local_mem.bytes;
    device_.begin_with(reference::Background::made(bytes, [&](std::uint8_t* data) {
      fill(values, {reinterpret_cast<std::uint32_t*>(data), bytes / 4});
    }));
    before_ = device_.local_image();
  }
  // Of a prime number of random words, again and again: no two NPUs hold the same.
  void fill(Values values, std::span<std::uint32_t> memory) {
    constexpr std::size_t kWords = 65521;
    const std::size_t made = std::min(kWords, memory.size());
    for (std::uint32_t& word : memory.first(made)) {
      const auto any = static_cast<std::uint32_t>(random_());
      switch (values) {
        case Values::kOrdinaryHalves: word = (any & 0x87FF87FFU) | 0x30003800U; break;
        case Values::kOrdinaryFloats: word = (any & 0x81FFFFFFU) | 0x3E000000U; break;
        case Values::kAny: word = any; break;
      }
      // Zeros, as padding and activations bring them.
      if ((any & 0x70000U) == 0) word = 0;
    }
    for (std::size_t at = made; at < memory.size(); at += made)
      std::memcpy(&memory[at], memory.data(), std::min(made, memory.size() - at) * sizeof(std::uint32_t));
  }
  // The whole local memory after the kernel has run on what it held before.
  reference::Image after(const std::function<void()>& kernel) {
    device_.local_image() = before_;
    const LaunchOutcome outcome = device_.run(kernel);
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return device_.local_image();
  }
  void expect_the_plain_bits(const std::function<void()>& kernel, const std::string& what) {
    set_plain_kernels(true);
    const reference::Image plain = after(kernel);
    set_plain_kernels(false);
    ASSERT_FALSE(plain == before_) << what << " changes nothing";
    const reference::Image fast = after(kernel);
    ASSERT_TRUE(plain == fast) << what;
  }

  void SetUp() override {
    if (*GetParam() == '\0' && best_is_avx2()) GTEST_SKIP() << "avx2 is the best";
    if (!set_simd_limit(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }

  TestDevice device_;
  reference::Image before_;
  std::mt19937 random_{11};
};

TEST_P(ShallowConvolutions, OfFloatsHaveThePlainBits) {
  for (int i = 0; i < 30; ++i) {
    const Shape s = shape();
    const data_type_t type = i % 3 == 0 ? DT_FP32 : i % 3 == 1 ? DT_FP16 : DT_BFP16;
    // A NaN of f32 may be any.
    fill(type == DT_FP32 ? Values::kOrdinaryFloats : i % 4 == 0 ? Values::kAny : Values::kOrdinaryHalves);
    const bool bias = in(0, 1) != 0 && i % 4 != 0, add = in(0, 2) == 0 && i % 4 != 0;
    const data_type_t out = type == DT_FP32 || add || in(0, 1) != 0 ? DT_FP32 : type;
    expect_the_plain_bits(
        [&] {
          tpu_bdc_fp_conv2d(kResult, kInput, kWeight, kBias, &s.input, nullptr, s.oc, &s.kernel, &s.pad, &s.stride,
                            &s.dilation, out, type, bias, add);
        },
        fmt::format("{}, type {}, bias {}, add {}", s.text(), i % 3, bias, add));
    if (HasFatalFailure()) return;
  }
}

TEST_P(ShallowConvolutions, OfBytesHaveThePlainBits) {
  for (int i = 0; i < 30; ++i) {
    const Shape s = shape();
    fill(Values::kAny);
    const data_type_t input = in(0, 1) != 0 ? DT_INT8 : DT_UINT8, weight = in(0, 1) != 0 ? DT_INT8 : DT_UINT8;
    scalar_t point, outside;
    point.u32 = static_cast<std::uint32_t>(in(0, 127));
    outside.u32 = static_cast<std::uint32_t>(in(0, 127));
    expect_the_plain_bits(
        [&] {
          tpu_bdc_int8_asym_quant_conv2d(kResult, kInput, kWeight, point, outside, &s.input, nullptr, s.oc, &s.kernel,
                                         &s.pad, &s.stride, &s.dilation, DT_INT32, input, weight, DT_INT8, false);
        },
        s.text());
    if (HasFatalFailure()) return;
  }
}

// Depthwise: the rows of an output are summed in one go where windows look at padding of one value.
TEST_P(ShallowConvolutions, DepthwiseOfBytesHaveThePlainBits) {
  for (int i = 0; i < 60; ++i) {
    const Shape s = shape();
    fill(Values::kAny);
    const data_type_t input = in(0, 1) != 0 ? DT_INT8 : DT_UINT8, weight = in(0, 1) != 0 ? DT_INT8 : DT_UINT8;
    const auto shift = static_cast<unsigned char>(in(0, 1) != 0 ? 0 : in(1, 16));
    const bool bias = in(0, 1) != 0, each = in(0, 2) == 0;
    const bool is_signed = input == DT_INT8 || weight == DT_INT8 || bias;
    const bool short_results = in(0, 2) == 0;
    const data_type_t out = is_signed ? (short_results ? DT_INT8 : DT_INT32) : (short_results ? DT_UINT8 : DT_UINT32);
    scalar_t outside;
    outside.u32 = static_cast<std::uint32_t>(in(0, 255));
    // Now and then over its input: all results are stored at the end.
    const unsigned result = in(0, 3) == 0 ? kInput + 64U * static_cast<unsigned>(in(0, 20)) : kResult;
    expect_the_plain_bits(
        [&] {
          if (each) {
            tpu_bdc_int8_pc_pad_depthwise2d(result, kInput, kWeight, kBias, kBias + 0x1000, &s.input, &s.kernel, &s.pad,
                                            &s.stride, &s.dilation, out, input, weight, DT_INT32, shift, bias, false,
                                            RM_HALF_UP);
          } else {
            tpu_bdc_int8_depthwise2d(result, kInput, kWeight, kBias, outside, &s.input, &s.kernel, &s.pad, &s.stride,
                                     &s.dilation, out, input, weight, DT_INT32, shift, bias, false, RM_HALF_UP);
          }
        },
        fmt::format("{} to {:#x}, shift {}, bias {}, padding of each channel {}", s.text(), result, shift, bias, each));
    if (HasFatalFailure()) return;
  }
}

// All results are stored at the end, those of several batches in one go.
TEST_P(ShallowConvolutions, ThatOverwriteTheirInputHaveThePlainBits) {
  scalar_t zero;
  zero.u32 = 0;
  for (int i = 0; i < 60; ++i) {
    const Shape s = shape();
    const unsigned result = kInput + 64U * static_cast<unsigned>(in(0, 20));
    if (result + static_cast<unsigned>(room(s)) > kWeight) continue;
    const bool bytes = i % 2 == 0;
    fill(bytes ? Values::kAny : Values::kOrdinaryFloats);
    expect_the_plain_bits(
        [&] {
          if (bytes) {
            tpu_bdc_int8_asym_quant_conv2d(result, kInput, kWeight, zero, zero, &s.input, nullptr, s.oc, &s.kernel,
                                           &s.pad, &s.stride, &s.dilation, DT_INT32, DT_UINT8, DT_INT8, DT_INT8, false);
          } else {
            tpu_bdc_fp_conv2d(result, kInput, kWeight, kBias, &s.input, nullptr, s.oc, &s.kernel, &s.pad, &s.stride,
                              &s.dilation, DT_FP32, DT_FP32, false, false);
          }
        },
        fmt::format("{} to {:#x}", s.text(), result));
    if (HasFatalFailure()) return;
  }
}

TEST_P(ShallowConvolutions, OfBytesThatAreShiftedHaveThePlainBits) {
  const data_type_t wide[] = {DT_INT8, DT_UINT8, DT_INT16, DT_UINT16};
  for (int i = 0; i < 40; ++i) {
    const Shape s = shape();
    fill(Values::kAny);
    const data_type_t input = in(0, 1) != 0 ? DT_INT8 : DT_UINT8, weight = in(0, 1) != 0 ? DT_INT8 : DT_UINT8;
    const data_type_t bias = in(0, 1) != 0 ? DT_INT16 : DT_UINT16;
    const bool has_bias = in(0, 1) != 0, relu = in(0, 1) != 0;
    const bool is_signed = input == DT_INT8 || weight == DT_INT8 || (has_bias && bias == DT_INT16);
    const data_type_t output = wide[2 * in(0, 1) + (is_signed && !relu ? 0 : 1)];
    const auto shift = static_cast<unsigned char>(in(0, 3) == 0 ? in(0, 31) : in(0, 12));
    expect_the_plain_bits(
        [&] {
          tpu_bdc_int8_sym_quant_conv2d(kResult, kInput, kWeight, kBias, &s.input, nullptr, s.oc, &s.kernel, &s.pad,
                                        &s.stride, &s.dilation, output, input, weight, bias, shift, has_bias, relu);
        },
        fmt::format("{}, {} x {} + {} {} >> {}, relu {}, to {}", s.text(), static_cast<int>(input),
                    static_cast<int>(weight), has_bias, static_cast<int>(bias), shift, relu, static_cast<int>(output)));
    if (HasFatalFailure()) return;
  }
}

class ShallowConvolutionsOfBm1684 : public ShallowConvolutions {
 protected:
  ShallowConvolutionsOfBm1684() : ShallowConvolutions("bm1684") {}
};

TEST_P(ShallowConvolutionsOfBm1684, HaveThePlainBits) {
  for (int i = 0; i < 30; ++i) {
    const Shape s = shape();
    fill(i % 4 == 0 ? Values::kAny : Values::kOrdinaryFloats);
    const Padding pad = {s.pad.top, s.pad.bottom, s.pad.left, s.pad.right};
    const bool bias = in(0, 1) != 0, add = in(0, 2) == 0;
    expect_the_plain_bits(
        [&] {
          okk_bdc_conv2d(kResult, kInput, kWeight, kBias, &s.input, s.oc, s.kernel.h, s.kernel.w, nullptr, nullptr,
                         bias, add, &pad, &s.stride, &s.dilation);
        },
        fmt::format("{}, bias {}, add {}", s.text(), bias, add));
    if (HasFatalFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& set) {
  return *set.param == '\0' ? "best" : std::string(set.param);
}
INSTANTIATE_TEST_SUITE_P(InstructionSets, ShallowConvolutions, testing::Values("sse4", "avx2", ""), name_of);
INSTANTIATE_TEST_SUITE_P(InstructionSets, ShallowConvolutionsOfBm1684, testing::Values("sse4", "avx2", ""), name_of);

}  // namespace
}  // namespace softtpu::shallow_conv_test
