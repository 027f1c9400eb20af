// Poolings and depthwise convolutions against oracles that are written from the description.
#include "tests/unit/window_fixture.hpp"

namespace softtpu::pool_test {
namespace {

using Sees = Geometry::Sees;
constexpr int kCases = 30;  // of each function

class Poolings : public WindowTest {
 protected:
  // Where a case lies: input and output in the same NPU, now and then the output on the input.
  struct Place {
    LocalTensor in, out;
  };
  Place place(const Geometry& g, int size, int out_size) {
    const int npu = random_.in(0, 63);
    const LocalTensor in = aligned(address(npu, kInput), g.in.n, g.in.c, g.in.h, g.in.w, size);
    const bool in_place = random_.in(0, 5) == 0;
    return {in, output(g, address(npu, in_place ? kInput : kResult), g.in.c, out_size)};
  }
  Steps any_steps(bool inserted) const { return inserted ? Steps::kInserted : Steps::kStrided; }
};

// ---- Floats ----

TEST_F(Poolings, FloatAveragesRoundEveryStep) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool inserted = i % 2 == 1;
    const Float type = any_float();
    const Geometry g = geometry(random_.in(1, 130), any_steps(inserted));
    const Place at = place(g, reference::size_of(type), reference::size_of(type));
    random_.fill(image_, at.out, type);
    random_.fill(image_, at.in, type);
    const scalar_t scale = scalar_bits(random_.element(type));
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      RandomData::put(wanted, at.out, n, c, h, w,
                      reference::float_window_sum(type, true, std::nullopt, g.kernel, [&](int kh, int kw) {
                        const Geometry::Spot spot = g.spot(h, w, kh, kw);
                        const double seen =
                            spot.sees == Sees::kElement ? value(at.in, type, n, c, spot.h, spot.w) : 0.0;
                        return std::pair{seen, reference::value_of(scale.u32, type)};
                      }));
    });
    expect(
        wanted,
        [&] {
          if (inserted) {
            tpu_bdc_fp_ins_avg_pool2d(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                      &g.insert, code(type), scale);
          } else {
            tpu_bdc_fp_avg_pool2d(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                  code(type), scale);
          }
        },
        fmt::format("{} type {}", g.text(), static_cast<int>(type)));
  }
}

enum class DepthwiseForm : std::uint8_t { kPlain, kInserted, kDeconv, kDeconvConstant };

TEST_F(Poolings, FloatDepthwiseRoundsEveryStep) {
  for (int i = 0; i < 4 * kCases && !HasFatalFailure(); ++i) {
    const auto form = static_cast<DepthwiseForm>(i % 4);
    const Float type = any_float();
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 130), form == DepthwiseForm::kPlain      ? Steps::kStrided
                                                    : form == DepthwiseForm::kInserted ? Steps::kInserted
                                                                                       : Steps::kDeconv);
    const Place at = place(g, size, size);
    const auto npu = static_cast<int>(at.in.addr / reference::kLocalBytes);
    const LocalTensor weight = compact(address(npu, kWeight), 1, g.in.c, g.kernel.h, g.kernel.w, size);
    const LocalTensor bias = compact(address(npu, kBias), 1, g.in.c, 1, 1, size);
    const bool has_bias = random_.flip();
    // A constant weight is given in the place of the address.
    const std::uint32_t constant = random_.element(type);
    fill({&at.out, &at.in, &weight, &bias}, type);
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      std::optional<double> first;
      if (has_bias) first = value(bias, type, 0, c, 0, 0);
      RandomData::put(
          wanted, at.out, n, c, h, w, reference::float_window_sum(type, false, first, g.kernel, [&](int kh, int kw) {
            const Geometry::Spot spot = g.spot(h, w, kh, kw);
            const double seen = spot.sees == Sees::kElement ? value(at.in, type, n, c, spot.h, spot.w) : 0.0;
            const dim2 tap = g.stored_tap(kh, kw);
            const bool stored = form != DepthwiseForm::kDeconvConstant;
            return std::pair{seen,
                             stored ? value(weight, type, 0, c, tap.h, tap.w) : reference::value_of(constant, type)};
          }));
    });
    expect(
        wanted,
        [&] {
          const unsigned to = addr(at.out), from = addr(at.in), by = addr(weight), start = addr(bias);
          switch (form) {
            case DepthwiseForm::kPlain:
              return tpu_bdc_fp_depthwise2d(to, from, by, start, &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                            code(type), has_bias);
            case DepthwiseForm::kInserted:
              return tpu_bdc_fp_ins_depthwise(to, from, by, start, &g.in, &g.kernel, &g.pad, &g.stride, &g.insert,
                                              &g.dilation, code(type), has_bias);
            case DepthwiseForm::kDeconv:
            case DepthwiseForm::kDeconvConstant:
              return tpu_bdc_fp_depthwise_for_deconv2d(to, from, form == DepthwiseForm::kDeconv ? by : constant, start,
                                                       &g.in, &g.kernel, &g.insert, &g.pad, &g.dilation, code(type),
                                                       code(type), form == DepthwiseForm::kDeconvConstant, has_bias);
          }
        },
        fmt::format("{} type {} form {} bias {}", g.text(), static_cast<int>(type), static_cast<int>(form), has_bias));
  }
}

TEST_F(Poolings, FloatExtremesTakeTheLaterOfEquals) {
  for (int i = 0; i < 4 * kCases && !HasFatalFailure(); ++i) {
    const bool maximum = i % 2 == 0;
    const Float type = any_float();
    const int size = reference::size_of(type);
    const Geometry g = geometry(random_.in(1, 130), Steps::kStrided);
    const Place at = place(g, size, size);
    fill_bits({&at.out, &at.in});
    const scalar_t outside = scalar_bits(random_.element(type));
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      RandomData::put(wanted, at.out, n, c, h, w,
                      reference::float_window_best(type, maximum, g.kernel, [&](int kh, int kw) {
                        const Geometry::Spot spot = g.spot(h, w, kh, kw);
                        return spot.sees == Sees::kElement ? take(at.in, n, c, spot.h, spot.w)
                                                           : outside.u32 & (size == 2 ? 0xFFFFU : ~0U);
                      }));
    });
    const auto function = maximum ? tpu_bdc_fp_max_pool2d : tpu_bdc_fp_min_pool2d;
    expect(
        wanted,
        [&] {
          function(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation, code(type), outside);
        },
        fmt::format("{} type {} maximum {}", g.text(), static_cast<int>(type), maximum));
  }
}

// ---- Bytes ----

TEST_F(Poolings, ByteExtremes) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool maximum = i % 2 == 0, is_signed = random_.flip();
    const Geometry g = geometry(random_.in(1, 130), Steps::kStrided);
    const Place at = place(g, 1, 1);
    fill_bits({&at.out, &at.in});
    const scalar_t outside = scalar_bits(random_.bits() & 0xFFU);
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      std::int64_t best = maximum ? -1000 : 1000;
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          const std::uint32_t bits = spot.sees == Sees::kElement ? take(at.in, n, c, spot.h, spot.w) : outside.u32;
          const std::int64_t seen = RandomData::integer(bits, 1, is_signed);
          best = maximum ? std::max(best, seen) : std::min(best, seen);
        }
      }
      RandomData::put(wanted, at.out, n, c, h, w, static_cast<std::uint32_t>(best));
    });
    const auto function = maximum ? tpu_bdc_int8_max_pool2d : tpu_bdc_int8_min_pool2d;
    expect(
        wanted,
        [&] {
          function(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                   code(integer_type(1, is_signed)), outside);
        },
        fmt::format("{} maximum {} signed {}", g.text(), maximum, is_signed));
  }
}

TEST_F(Poolings, ByteAveragesAreScaledShiftedAndSaturated) {
  for (int i = 0; i < 2 * kCases && !HasFatalFailure(); ++i) {
    const bool inserted = i % 2 == 1, is_signed = random_.flip();
    const Geometry g = geometry(random_.in(1, 130), any_steps(inserted));
    const Dtype type = integer_type(1 << random_.in(0, 2), is_signed);
    const Place at = place(g, 1, size_of(type));
    fill_bits({&at.out, &at.in});
    const auto scale = static_cast<unsigned char>(random_.in(0, 255));
    const auto rshift = static_cast<unsigned char>(random_.in(0, 32) / random_.in(1, 4));
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      std::int64_t sum = 0;
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          if (spot.sees == Sees::kElement) sum += integer(at.in, is_signed, n, c, spot.h, spot.w);
        }
      }
      RandomData::put(wanted, at.out, n, c, h, w,
                      reference::shifted_sum(sum * scale, is_signed, rshift, Rounding::kHalfUp, false, type));
    });
    const data_type_t in_type = code(integer_type(1, is_signed));
    expect(
        wanted,
        [&] {
          if (inserted) {
            tpu_bdc_int8_ins_avg_pool2d(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.insert,
                                        &g.dilation, code(type), in_type, scale, rshift);
          } else {
            tpu_bdc_int8_avg_pool2d(addr(at.out), addr(at.in), &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                    code(type), in_type, scale, rshift);
          }
        },
        fmt::format("{} signed {} out {} scale {} rshift {}", g.text(), is_signed, to_text(type), scale, rshift));
  }
}

// Padding and insertion: one value, or a pair for each channel; weights: stored, or one constant.
struct ByteForm {
  bool deconv, pairs, constant;
};
constexpr ByteForm kByteForms[] = {
    {false, false, false}, {false, false, true}, {false, true, false}, {true, false, false}, {true, true, false}};

class ByteDepthwise : public Poolings, public testing::WithParamInterface<ByteForm> {};

TEST_P(ByteDepthwise, SumsAreShiftedAndSaturated) {
  const ByteForm form = GetParam();
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    const Geometry g = geometry(random_.in(1, 130), form.deconv ? Steps::kDeconv : Steps::kStrided);
    const bool in_signed = random_.flip(), weight_signed = random_.flip(), bias_signed = random_.flip();
    const bool has_bias = random_.flip(), relu = random_.in(0, 2) == 0;
    const bool any_signed = in_signed || weight_signed || (has_bias && bias_signed);
    const Dtype type = relu ? Dtype::kUint8 : integer_type(1 << random_.in(0, 2), any_signed);
    const int rshift = random_.in(0, 32) / random_.in(1, 4);
    const auto rounding = static_cast<Rounding>(random_.in(0, 6));
    const Place at = place(g, 1, size_of(type));
    const auto npu = static_cast<int>(at.in.addr / reference::kLocalBytes);
    const LocalTensor weight = compact(address(npu, kWeight), 1, g.in.c, g.kernel.h, g.kernel.w, 1);
    const LocalTensor bias = compact(address(npu, kBias), 1, g.in.c, 1, 1, 4);
    const LocalTensor pairs = compact(address(npu, kPairs), 1, g.in.c, 1, 2, 1);
    fill_bits({&at.out, &at.in, &weight, &bias, &pairs});
    const scalar_t padding = scalar_bits(random_.bits() & 0xFFU), constant = scalar_bits(random_.bits() & 0xFFU);
    Image wanted = image_;
    each_element(at.out, [&](int n, int c, int h, int w) {
      std::int64_t sum = has_bias ? integer(bias, bias_signed, 0, c, 0, 0) : 0;
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          std::uint32_t seen = spot.sees == Sees::kPadding ? padding.u32 : 0;
          if (form.pairs) seen = take(pairs, 0, c, 0, spot.sees == Sees::kPadding ? 0 : 1);
          if (spot.sees == Sees::kElement) seen = take(at.in, n, c, spot.h, spot.w);
          const dim2 tap = g.stored_tap(kh, kw);
          const std::uint32_t factor = form.constant ? constant.u32 : take(weight, 0, c, tap.h, tap.w);
          sum += RandomData::integer(seen, 1, in_signed) * RandomData::integer(factor, 1, weight_signed);
        }
      }
      RandomData::put(wanted, at.out, n, c, h, w,
                      reference::shifted_sum(sum, any_signed, rshift, rounding, relu, type));
    });
    const data_type_t out = code(type), it = code(integer_type(1, in_signed)),
                      wt = code(integer_type(1, weight_signed)), bt = code(integer_type(4, bias_signed));
    const unsigned to = addr(at.out), from = addr(at.in), by = addr(weight), start = addr(bias), pad = addr(pairs);
    const auto shift = static_cast<unsigned char>(rshift);
    const auto mode = static_cast<rounding_mode_t>(rounding);
    expect(
        wanted,
        [&] {
          if (form.constant) {
            tpu_bdc_int8_depthwise2d_kernel_const(to, from, start, constant, padding, &g.in, &g.kernel, &g.pad,
                                                  &g.stride, &g.dilation, out, it, wt, bt, shift, has_bias, relu, mode);
          } else if (form.deconv && form.pairs) {
            tpu_bdc_int8_pc_pad_depthwise_for_deconv2d(to, from, by, start, pad, &g.in, &g.kernel, &g.pad, &g.insert,
                                                       &g.dilation, out, it, wt, bt, shift, has_bias, relu, mode);
          } else if (form.deconv) {
            tpu_bdc_int8_depthwise_for_deconv2d(to, from, by, start, padding, &g.in, &g.kernel, &g.pad, &g.insert,
                                                &g.dilation, out, it, wt, bt, shift, has_bias, relu, mode);
          } else if (form.pairs) {
            tpu_bdc_int8_pc_pad_depthwise2d(to, from, by, start, pad, &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                            out, it, wt, bt, shift, has_bias, relu, mode);
          } else {
            tpu_bdc_int8_depthwise2d(to, from, by, start, padding, &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation,
                                     out, it, wt, bt, shift, has_bias, relu, mode);
          }
        },
        fmt::format("{} out {} rshift {} mode {} bias {} relu {}", g.text(), to_text(type), rshift,
                    static_cast<int>(rounding), has_bias, relu));
  }
}

std::string name_of(const testing::TestParamInfo<ByteForm>& form) {
  constexpr std::array kNames = {"Plain", "Constant", "Pairs", "Deconv", "DeconvPairs"};
  return kNames[form.index];
}
INSTANTIATE_TEST_SUITE_P(Forms, ByteDepthwise, testing::ValuesIn(kByteForms), name_of);

// ---- Refusals ----

TEST_F(Poolings, WrongArgumentsAreRefused) {
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
}

}  // namespace
}  // namespace softtpu::pool_test
