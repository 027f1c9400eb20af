// Convolutions against oracles that are written from the description.
#include <climits>

#include "device/isa/op_names.hpp"
#include "tests/unit/assumed.hpp"
#include "tests/unit/window_fixture.hpp"

namespace softtpu::conv_test {
namespace {

using Sees = Geometry::Sees;
constexpr int kCases = 30;  // of each function

class Convolutions : public WindowTest {
 protected:
  // Zero points, padding and insertion of an asymmetric convolution.
  struct Asymmetric {
    bool per_channel, constant_weight;
  };
  void asymmetric(const Geometry& g, const Asymmetric& form);
};

// ---- Floats ----

enum class FloatForm : std::uint8_t { kPlain, kLong, kDeconv, kConstant, kRelu };

class FloatConvolutions : public Convolutions, public testing::WithParamInterface<FloatForm> {};

TEST_P(FloatConvolutions, SumInTheChipsOrder) {
  const FloatForm form = GetParam();
  if (form == FloatForm::kRelu) record_assumed({Op::tpu_bdc_fp_conv2d_with_relu});
  for (int i = 0; i < kCases; ++i) {
    const Float type = static_cast<Float>(i % 3);
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 70), form == FloatForm::kDeconv ? Steps::kDeconv : Steps::kStrided);
    const int oc = random_.in(1, 9);
    const int npu = random_.in(0, 63), in_npu = type == Float::kF32 ? random_.in(0, 63) : 0;
    const bool free = random_.flip(), has_bias = random_.flip(), add = random_.flip();
    const bool relu = form == FloatForm::kRelu && random_.in(0, 3) != 0;
    const Float out = add || random_.flip() ? Float::kF32 : type;
    const LocalTensor in = input(g, address(in_npu, kInput), size, free);
    const LocalTensor weight = reference::weights(g, address(npu, kWeight), oc, type == Float::kF32 ? 1 : 32, size);
    const LocalTensor bias = compact(address(npu, kBias), 1, oc, 1, 1, 4);
    // Only an f32 convolution needs an output that is aligned like its layout.
    const unsigned shift = type == Float::kF32 ? 0 : 8 * static_cast<unsigned>(random_.in(0, 3));
    const LocalTensor result = output(g, address(npu, kResult + shift), oc, reference::size_of(out));
    const scalar_t constant = scalar_bits(random_.element(type));
    fill({&in, &weight}, type);
    fill({&bias}, Float::kF32);
    fill({&result}, out);
    Image wanted = image_;
    each_element(result, [&](int n, int c, int h, int w) {
      std::vector<float> first;
      if (has_bias) first.push_back(static_cast<float>(value(bias, Float::kF32, 0, c, 0, 0)));
      if (add) first.push_back(static_cast<float>(value(result, Float::kF32, n, c, h, w)));
      const float sum = reference::float_convolution(type, first, g, [&](int ic, int kh, int kw) {
        const Geometry::Spot spot = g.spot(h, w, kh, kw);
        const double seen = spot.sees == Sees::kElement ? value(in, type, n, ic, spot.h, spot.w) : 0.0;
        const std::uint32_t factor =
            form == FloatForm::kConstant ? constant.u32 : reference::weight_at(image_, weight, g, c, ic, kh, kw);
        return std::pair{seen, reference::value_of(factor, type)};
      });
      const std::uint32_t bits = reference::bits_of(sum, out);
      RandomData::put(wanted, result, n, c, h, w, relu && !(reference::value_of(bits, out) > 0) ? 0 : bits);
    });
    const dim4 stride = strides(in);
    const dim4* given = free ? &stride : nullptr;
    expect(
        wanted,
        [&] {
          switch (form) {
            case FloatForm::kPlain:
              return tpu_bdc_fp_conv2d(addr(result), addr(in), addr(weight), addr(bias), &g.in, given, oc, &g.kernel,
                                       &g.pad, &g.stride, &g.dilation, code(out), code(type), has_bias, add);
            case FloatForm::kLong:
              return tpu_bdc_fp_conv2d_long_instr(addr(result), addr(in), addr(weight), addr(bias), &g.in, given, oc,
                                                  &g.kernel, &g.pad, &g.stride, &g.dilation, code(out), code(type),
                                                  has_bias, add);
            case FloatForm::kDeconv:
              return tpu_bdc_fp_conv2d_for_deconv2d(addr(result), addr(in), addr(weight), addr(bias), &g.in, given, oc,
                                                    &g.kernel, &g.insert, &g.pad, &g.dilation, code(out), code(type),
                                                    has_bias, add);
            case FloatForm::kRelu:
              return tpu_bdc_fp_conv2d_with_relu(addr(result), addr(in), addr(weight), addr(bias), &g.in, given, oc,
                                                 &g.kernel, &g.pad, &g.stride, &g.dilation, code(out), code(type),
                                                 has_bias, add, relu);
            case FloatForm::kConstant:
              return tpu_bdc_fp_conv2d_kernel_const(addr(result), addr(in), addr(bias), constant, &g.in, given, oc,
                                                    &g.kernel, &g.pad, &g.stride, &g.dilation, code(out), code(type),
                                                    has_bias, add);
          }
        },
        fmt::format("{} oc {} npu {} type {} out {} bias {} add {}", g.text(), oc, npu, static_cast<int>(type),
                    static_cast<int>(out), has_bias, add));
    if (HasFatalFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<FloatForm>& form) {
  constexpr std::array kNames = {"Plain", "Long", "Deconv", "Constant", "Relu"};
  return kNames[static_cast<std::size_t>(form.param)];
}
INSTANTIATE_TEST_SUITE_P(Forms, FloatConvolutions,
                         testing::Values(FloatForm::kPlain, FloatForm::kLong, FloatForm::kDeconv, FloatForm::kConstant,
                                         FloatForm::kRelu),
                         name_of);

// ---- Bytes ----

TEST_F(Convolutions, SymmetricSumsAreShiftedAndSaturated) {
  for (int i = 0; i < 2 * kCases; ++i) {
    const bool deconv = i % 2 == 1;
    const Geometry g = geometry(random_.in(1, 140), deconv ? Steps::kDeconv : Steps::kStrided);
    const int oc = random_.in(1, 9), npu = random_.in(0, 63);
    const bool in_signed = random_.flip(), weight_signed = random_.flip(), bias_signed = random_.flip();
    const bool has_bias = random_.flip(), relu = random_.flip(), free = random_.flip();
    const bool any_signed = in_signed || weight_signed || (has_bias && bias_signed);
    const int rshift = random_.in(0, 32) / random_.in(1, 4);
    const Dtype type = integer_type(random_.in(1, 2), any_signed && !relu);
    const LocalTensor in = input(g, kInput, 1, free);
    const LocalTensor weight = reference::weights(g, address(npu, kWeight), oc, 64, 1);
    const LocalTensor bias = compact(address(npu, kBias), 1, oc, 1, 1, 2);
    const LocalTensor result = output(g, address(npu, kResult), oc, size_of(type));
    fill_bits({&in, &weight, &bias, &result});
    Image wanted = image_;
    // The range is the signed one as soon as the bias has a signed type, whether it is used or not.
    const bool signed_range = (any_signed || bias_signed) && !relu;
    each_element(result, [&](int n, int c, int h, int w) {
      std::int64_t sum = has_bias ? integer(bias, bias_signed, 0, c, 0, 0) : 0;
      for (int ic = 0; ic < g.in.c; ++ic) {
        for (int kh = 0; kh < g.kernel.h; ++kh) {
          for (int kw = 0; kw < g.kernel.w; ++kw) {
            const Geometry::Spot spot = g.spot(h, w, kh, kw);
            if (spot.sees != Sees::kElement) continue;
            sum += integer(in, in_signed, n, ic, spot.h, spot.w) *
                   RandomData::integer(reference::weight_at(image_, weight, g, c, ic, kh, kw), 1, weight_signed);
          }
        }
      }
      reference::Wide shifted = reference::shifted(sum, -rshift, Rounding::kHalfUp);
      if (relu && shifted < 0) shifted = 0;
      RandomData::put(
          wanted, result, n, c, h, w,
          reference::low_bits(reference::clamped(shifted, integer_type(size_of(type), signed_range)), type));
    });
    const dim4 stride = strides(in);
    const dim4* given = free ? &stride : nullptr;
    const data_type_t in_type = code(integer_type(1, in_signed)), weight_type = code(integer_type(1, weight_signed));
    const data_type_t bias_type = code(integer_type(2, bias_signed));
    const auto by = static_cast<unsigned char>(rshift);
    expect(
        wanted,
        [&] {
          if (deconv) {
            tpu_bdc_int8_sym_quant_conv2d_for_deconv2d(addr(result), addr(in), addr(weight), addr(bias), &g.in, given,
                                                       oc, &g.kernel, &g.insert, &g.pad, &g.dilation, code(type),
                                                       in_type, weight_type, bias_type, by, has_bias, relu);
          } else {
            tpu_bdc_int8_sym_quant_conv2d(addr(result), addr(in), addr(weight), addr(bias), &g.in, given, oc, &g.kernel,
                                          &g.pad, &g.stride, &g.dilation, code(type), in_type, weight_type, bias_type,
                                          by, has_bias, relu);
          }
        },
        fmt::format("{} oc {} npu {} rshift {} bias {} relu {} signed {} {} {}", g.text(), oc, npu, rshift, has_bias,
                    relu, in_signed, weight_signed, bias_signed));
    if (HasFatalFailure()) return;
  }
}

// Values given once, or for each channel, or a constant kernel.
void Convolutions::asymmetric(const Geometry& g, const Asymmetric& form) {
  const int oc = random_.in(1, 9), npu = random_.in(0, 63);
  const bool in_signed = random_.flip(), weight_signed = random_.flip(), point_signed = random_.flip();
  const scalar_t point = scalar_bits(random_.in(0, 3) == 0 ? 0 : random_.bits() & 0xFFU);
  const scalar_t padding = scalar_bits(random_.bits() & 0xFFU), inserted = scalar_bits(random_.bits() & 0xFFU);
  const scalar_t constant = scalar_bits(random_.bits() & 0xFFU);
  // A scalar zero point of 0 and unsigned operands give unsigned sums.
  const bool unsigned_sums = !form.per_channel && point.u32 == 0 && !in_signed && !weight_signed && !point_signed;
  const int bytes = random_.flip() ? 4 : 2;
  const Dtype type = integer_type(bytes, !unsigned_sums && random_.flip());
  const bool add = bytes == 4 && random_.flip();
  const bool free = random_.flip();
  const LocalTensor in = input(g, kInput, 1, free);
  const LocalTensor weight = reference::weights(g, address(npu, kWeight), oc, 64, 1);
  const LocalTensor points = compact(address(npu, kPoint), 1, oc, 1, 1, 1);
  const LocalTensor pairs = compact(kPairs, 1, g.in.c, 1, 2, 1);
  const LocalTensor result = output(g, address(npu, kResult), oc, bytes);
  fill_bits({&in, &weight, &points, &pairs, &result});
  Image wanted = image_;
  each_element(result, [&](int n, int c, int h, int w) {
    std::int64_t sum = add ? take(result, n, c, h, w) : 0;
    const std::int64_t zero =
        form.per_channel ? integer(points, point_signed, 0, c, 0, 0) : RandomData::integer(point.u32, 1, point_signed);
    for (int ic = 0; ic < g.in.c; ++ic) {
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          std::uint32_t seen = spot.sees == Sees::kPadding ? padding.u32 : inserted.u32;
          if (form.per_channel) seen = take(pairs, 0, ic, 0, spot.sees == Sees::kPadding ? 0 : 1);
          if (spot.sees == Sees::kElement) seen = take(in, n, ic, spot.h, spot.w);
          const std::uint32_t factor =
              form.constant_weight ? constant.u32 : reference::weight_at(image_, weight, g, c, ic, kh, kw);
          sum += RandomData::integer(seen, 1, in_signed) * (RandomData::integer(factor, 1, weight_signed) - zero);
        }
      }
    }
    // 32 bits wrap; 16 bits saturate to the signed range, unless all is unsigned.
    std::uint32_t bits = static_cast<std::uint32_t>(sum);
    if (bytes == 2) bits = reference::low_bits(reference::clamped(sum, integer_type(2, !unsigned_sums)), type);
    RandomData::put(wanted, result, n, c, h, w, bits);
  });
  const dim4 stride = strides(in);
  const dim4* given = free ? &stride : nullptr;
  const data_type_t out = code(type), it = code(integer_type(1, in_signed)), wt = code(integer_type(1, weight_signed)),
                    zt = code(integer_type(1, point_signed));
  const unsigned to = addr(result), from = addr(in), by = addr(weight), zero = addr(points), pad = addr(pairs);
  expect(
      wanted,
      [&] {
        if (form.constant_weight) {
          tpu_bdc_int8_asym_quant_conv2d_kernel_const(to, from, constant, point, padding, &g.in, given, oc, &g.kernel,
                                                      &g.pad, &g.stride, &g.dilation, out, it, wt, zt, add);
        } else if (form.per_channel && g.rotated_180) {
          tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(to, from, by, zero, pad, &g.in, given, oc, &g.kernel,
                                                         &g.insert, &g.pad, &g.dilation, out, it, wt, zt, add);
        } else if (form.per_channel) {
          tpu_bdc_int8_asym_pc_quant_conv2d(to, from, by, zero, pad, &g.in, given, oc, &g.kernel, &g.pad, &g.stride,
                                            &g.dilation, out, it, wt, zt, add);
        } else if (g.rotated_180) {
          tpu_bdc_int8_asym_quant_conv2d_for_deconv2d(to, from, by, point, padding, inserted, &g.in, given, oc,
                                                      &g.kernel, &g.insert, &g.pad, &g.dilation, out, it, wt, zt, add);
        } else {
          tpu_bdc_int8_asym_quant_conv2d(to, from, by, point, padding, &g.in, given, oc, &g.kernel, &g.pad, &g.stride,
                                         &g.dilation, out, it, wt, zt, add);
        }
      },
      fmt::format("{} oc {} npu {} out {} zp {:x} add {} signed {} {} {}", g.text(), oc, npu, to_text(type), point.u32,
                  add, in_signed, weight_signed, point_signed));
}

TEST_F(Convolutions, AsymmetricSumsTakeOffAZeroPoint) {
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    asymmetric(geometry(random_.in(1, 140), Steps::kStrided), {false, false});
    asymmetric(geometry(random_.in(1, 140), Steps::kDeconv), {false, false});
  }
}
TEST_F(Convolutions, AsymmetricSumsTakeValuesPerChannel) {
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    asymmetric(geometry(random_.in(1, 140), Steps::kStrided), {true, false});
    asymmetric(geometry(random_.in(1, 140), Steps::kDeconv), {true, false});
  }
}
TEST_F(Convolutions, AsymmetricSumsOfAConstantKernel) {
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    asymmetric(geometry(random_.in(1, 140), Steps::kStrided), {false, true});
  }
}

// ---- Questions ----

TEST_F(Convolutions, WeightSizesFollowFromTheGroups) {
  for (int i = 0; i < kCases; ++i) {
    const int ic = random_.in(1, 200), oc = random_.in(1, 200);
    const dim2 kernel = {random_.in(1, 5), random_.in(1, 5)};
    const int size = 1 << random_.in(0, 2);
    const data_type_t type = size == 4 ? DT_FP32 : size == 2 ? DT_BFP16 : DT_UINT8;
    const int group = size == 4 ? 1 : size == 2 ? 32 : 64;
    const int per_channel = (ic + group - 1) / group * group * kernel.h * kernel.w * size;
    const LaunchOutcome outcome = device_.run([&] {
      EXPECT_EQ(tpu_get_ic_parallel(type), group);
      EXPECT_EQ(tpu_conv_kernel_size_per_oc(ic, &kernel, type), per_channel);
      EXPECT_EQ(tpu_conv_kernel_size(oc, ic, &kernel, type), (oc + 63) / 64 * per_channel);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    if (HasFailure()) return;
    for (const Op op : {Op::tpu_get_ic_parallel, Op::tpu_conv_kernel_size_per_oc, Op::tpu_conv_kernel_size})
      device_.oracle().confirm(op);
  }
}

// Neither 32 nor 64 bits hold what these ask for.
TEST_F(Convolutions, WeightSizesThatNoIntHoldsAreRefused) {
  const dim2 small = {1, 1}, large = {INT_MAX, INT_MAX};
  device_.expect_fault([&] { tpu_conv_kernel_size_per_oc(1 << 20, &large, DT_FP32); },
                       "tpu_conv_kernel_size_per_oc: the result (");
  device_.expect_fault([&] { tpu_conv_kernel_size_per_oc(1 << 30, &small, DT_FP32); },
                       "tpu_conv_kernel_size_per_oc: the result (4294967296) does not fit into an int");
  device_.expect_fault([&] { tpu_conv_kernel_size_per_oc(INT_MAX, &small, DT_INT8); },
                       "tpu_conv_kernel_size_per_oc: the result (2147483648) does not fit into an int");
  device_.expect_fault([&] { tpu_conv_kernel_size(1 << 20, 1 << 20, &small, DT_FP32); },
                       "tpu_conv_kernel_size: the result (68719476736) does not fit into an int");
}

// ---- Refusals ----

TEST_F(Convolutions, WrongArgumentsAreRefused) {
  const Geometry good{{1, 3, 6, 6}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0, 0, 0}};
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

TEST_F(Convolutions, WeightsOf8BitsBeginAtAMultipleOf64) {
  const Geometry good{{1, 3, 6, 6}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0, 0, 0}};
  for (const unsigned off : {4U, 8U, 16U, 32U}) {
    device_.expect_fault(
        [&] {
          tpu_bdc_int8_sym_quant_conv2d(kResult, kInput, kWeight + off, kBias, &good.in, nullptr, 4, &good.kernel,
                                        &good.pad, &good.stride, &good.dilation, DT_INT8, DT_INT8, DT_INT8, DT_INT16, 3,
                                        false, false);
        },
        "weight address (0x");
    device_.expect_fault(
        [&] {
          tpu_bdc_int8_asym_quant_conv2d(kResult, kInput, kWeight + off, scalar_t{}, scalar_t{}, &good.in, nullptr, 4,
                                         &good.kernel, &good.pad, &good.stride, &good.dilation, DT_INT32, DT_INT8,
                                         DT_INT8, DT_INT8, false);
        },
        "weight address (0x");
  }
}

}  // namespace
}  // namespace softtpu::conv_test
