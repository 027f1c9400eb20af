// Convolutions and depthwise convolutions that requantise, against an oracle that is written from the description, by
// hand, and against the recorded functions whose steps they join.
#include "device/isa/op_names.hpp"
#include "tests/unit/requant_fixture.hpp"
#include "tests/unit/window_fixture.hpp"

namespace softtpu::requant_window_test {
namespace {

using reference::Requantisation;
using Sees = Geometry::Sees;
constexpr int kCases = 25;  // of each function
constexpr unsigned kTable = 0x2F000;

enum class Form : std::uint8_t { kPc, kC, kPcAsymPc, kCAsymPc, kCAsymC, kPcAsymC };

class RequantConvolutions : public WindowTest, public testing::WithParamInterface<Form> {
 protected:
  static bool has_table() {
    return GetParam() == Form::kPc || GetParam() == Form::kPcAsymPc || GetParam() == Form::kPcAsymC;
  }
  static bool is_asymmetric() { return GetParam() != Form::kPc && GetParam() != Form::kC; }
  static bool has_points() { return GetParam() == Form::kPcAsymPc || GetParam() == Form::kCAsymPc; }
};

struct Call {
  Geometry g;
  dim4 stride;
  bool free;
  int oc, npu;
  scalar_t point, padding;
  Requantisation constants;
  data_type_t out, in, weight, bias;
  bool has_requant, has_bias, relu, add, symmetric;
  rounding_mode_t rounding;
};

void call(Form form, const Call& a) {
  const unsigned to = address(a.npu, 0x30000), from = 0x4000, by = address(a.npu, 0x14000),
                 start = address(a.npu, 0x2C000), table = address(a.npu, kTable), points = address(a.npu, 0x2D000),
                 pairs = 0x2E000;
  const dim4* given = a.free ? &a.stride : nullptr;
  const auto& g = a.g;
  const int multiplier = static_cast<int>(a.constants.multiplier);
  const auto rshift = static_cast<char>(-a.constants.shift);
  const auto zero = static_cast<short>(a.constants.offset);
  switch (form) {
    case Form::kPc:
      return tpu_bdc_conv2d_requant_pc(to, from, by, start, table, &g.in, given, a.oc, &g.kernel, &g.pad, &g.stride,
                                       &g.dilation, a.out, a.in, a.weight, a.bias, a.has_bias, a.relu, a.has_requant,
                                       a.symmetric);
    case Form::kC:
      return tpu_bdc_conv2d_requant_C(to, from, by, start, &g.in, given, a.oc, &g.kernel, &g.pad, &g.stride,
                                      &g.dilation, a.out, a.in, a.weight, a.bias, multiplier, rshift, zero, a.has_bias,
                                      a.relu, a.has_requant, a.symmetric);
    case Form::kPcAsymPc:
      return tpu_bdc_conv2d_requant_pc_asym_pc(to, from, by, start, points, pairs, table, &g.in, given, a.oc, &g.kernel,
                                               &g.pad, &g.stride, &g.dilation, a.out, a.in, a.weight, a.bias,
                                               a.has_requant, a.has_bias, a.relu, a.add, a.symmetric, a.rounding);
    case Form::kCAsymPc:
      return tpu_bdc_conv2d_requant_C_asym_pc(to, from, by, start, points, pairs, &g.in, given, a.oc, &g.kernel, &g.pad,
                                              &g.stride, &g.dilation, a.out, a.in, a.weight, a.bias, multiplier, rshift,
                                              zero, a.has_requant, a.has_bias, a.relu, a.add, a.symmetric, a.rounding);
    case Form::kCAsymC:
      return tpu_bdc_conv2d_requant_C_asym_C(to, from, by, start, a.point, a.padding, &g.in, given, a.oc, &g.kernel,
                                             &g.pad, &g.stride, &g.dilation, a.out, a.in, a.weight, a.bias, multiplier,
                                             rshift, zero, a.has_requant, a.has_bias, a.relu, a.add, a.symmetric,
                                             a.rounding);
    case Form::kPcAsymC:
      return tpu_bdc_conv2d_requant_pc_asym_C(to, from, by, start, table, a.point, a.padding, &g.in, given, a.oc,
                                              &g.kernel, &g.pad, &g.stride, &g.dilation, a.out, a.in, a.weight, a.bias,
                                              a.has_requant, a.has_bias, a.relu, a.add, a.symmetric, a.rounding);
  }
}

TEST_P(RequantConvolutions, SumThenReluThenRequantise) {
  record_assumed({Op::tpu_bdc_conv2d_requant_pc, Op::tpu_bdc_conv2d_requant_C, Op::tpu_bdc_conv2d_requant_pc_asym_pc,
                  Op::tpu_bdc_conv2d_requant_C_asym_pc, Op::tpu_bdc_conv2d_requant_C_asym_C,
                  Op::tpu_bdc_conv2d_requant_pc_asym_C});
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    Call a = {};
    const bool many = random_.in(0, 4) == 0;  // more output channels than NPUs
    a.g = geometry(random_.in(1, many ? 3 : 140), Steps::kStrided);
    a.oc = many ? random_.in(60, 80) : random_.in(1, 9);
    a.npu = random_.in(0, 63);
    const bool in_signed = random_.flip(), weight_signed = random_.flip(), bias_signed = random_.flip();
    const int bias_bytes = random_.flip() ? 4 : 2;
    a.has_requant = random_.in(0, 3) != 0;
    a.has_bias = random_.flip();
    a.relu = random_.in(0, 2) == 0;
    a.symmetric = random_.flip();
    a.rounding = static_cast<rounding_mode_t>(random_.in(0, 6));
    const Rounding rounding = is_asymmetric() ? static_cast<Rounding>(a.rounding) : Rounding::kHalfUp;
    a.point = scalar_bits(random_.in(0, 2) == 0 ? 0 : random_.bits() & 0xFFU);
    a.padding = scalar_bits(random_.bits() & 0xFFU);
    const bool unsigned_sum = !in_signed && !weight_signed && !(a.has_bias && bias_signed) && !has_points() &&
                              (!is_asymmetric() || a.point.u32 == 0);
    const Dtype type = a.has_requant ? integer_type(random_.in(1, 2), random_.flip())
                                     : integer_type(1 << random_.in(0, 2), !unsigned_sum && !a.relu);
    a.add = is_asymmetric() && size_of(type) == 4 && random_.flip();
    a.constants = any_requantisation(random_, type);
    // The right shift and the zero point of the result are a char and a short.
    a.constants.offset = std::min<std::int64_t>(a.constants.offset, 0x7FFF);
    a.free = random_.flip();
    const LocalTensor in = input(a.g, kInput, 1, a.free);
    const LocalTensor weight = reference::weights(a.g, address(a.npu, kWeight), a.oc, 64, 1);
    const LocalTensor bias = compact(address(a.npu, kBias), 1, a.oc, 1, 1, bias_bytes);
    const LocalTensor points = compact(address(a.npu, kPoint), 1, a.oc, 1, 1, 1);
    const LocalTensor pairs = compact(kPairs, 1, a.g.in.c, 1, 2, 1);
    const LocalTensor table = aligned(address(a.npu, kTable), 1, a.oc, 1, 3, 4);
    const LocalTensor result = output(a.g, address(a.npu, kResult), a.oc, size_of(type));
    fill_bits({&in, &weight, &bias, &points, &pairs, &result});
    fill_table(random_, image_, table, type);
    Image wanted = image_;
    each_element(result, [&](int n, int c, int h, int w) {
      std::int64_t sum = a.has_bias ? integer(bias, bias_signed, 0, c, 0, 0) : 0;
      if (a.add) sum += take(result, n, c, h, w);
      std::int64_t zero = has_points() ? integer(points, weight_signed, 0, c, 0, 0)
                                       : RandomData::integer(a.point.u32, 1, weight_signed);
      if (!is_asymmetric()) zero = 0;
      for (int ic = 0; ic < a.g.in.c; ++ic) {
        for (int kh = 0; kh < a.g.kernel.h; ++kh) {
          for (int kw = 0; kw < a.g.kernel.w; ++kw) {
            const Geometry::Spot spot = a.g.spot(h, w, kh, kw);
            std::uint32_t seen = has_points() ? take(pairs, 0, ic, 0, 0) : is_asymmetric() ? a.padding.u32 : 0;
            if (spot.sees == Sees::kElement) seen = take(in, n, ic, spot.h, spot.w);
            const std::uint32_t factor = reference::weight_at(image_, weight, a.g, c, ic, kh, kw);
            sum += RandomData::integer(seen, 1, in_signed) * (RandomData::integer(factor, 1, weight_signed) - zero);
          }
        }
      }
      std::optional<Requantisation> requant;
      if (a.has_requant) requant = has_table() ? table_entry(image_, table, c, type) : a.constants;
      RandomData::put(
          wanted, result, n, c, h, w,
          reference::ended(sum, {type, unsigned_sum, a.relu, a.symmetric, rounding, !is_signed_int(type)}, requant));
    });
    a.stride = strides(in);
    a.out = code(type);
    a.in = code(integer_type(1, in_signed));
    a.weight = code(integer_type(1, weight_signed));
    a.bias = code(integer_type(bias_bytes, bias_signed));
    const Form form = GetParam();
    expect(
        wanted, [&] { call(form, a); },
        fmt::format("{} oc {} npu {} out {} requant {} ({} {} {}) bias {} relu {} add {} symmetric {} mode {}",
                    a.g.text(), a.oc, a.npu, to_text(type), a.has_requant, a.constants.multiplier, a.constants.shift,
                    a.constants.offset, a.has_bias, a.relu, a.add, a.symmetric, static_cast<int>(a.rounding)));
  }
}

std::string name_of(const testing::TestParamInfo<Form>& form) {
  constexpr std::array kNames = {"Pc", "C", "PcAsymPc", "CAsymPc", "CAsymC", "PcAsymC"};
  return kNames[static_cast<std::size_t>(form.param)];
}
INSTANTIATE_TEST_SUITE_P(Forms, RequantConvolutions,
                         testing::Values(Form::kPc, Form::kC, Form::kPcAsymPc, Form::kCAsymPc, Form::kCAsymC,
                                         Form::kPcAsymC),
                         name_of);

// ---- Depthwise ----

class RequantWindows : public WindowTest {
 protected:
  // One element: input 10, weight 3 or -3, bias 5 or -5, so that the sum is 35 or -35.
  std::int64_t one_element(Form form, Call a, bool negative) {
    a.g = {{1, 1, 1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0, 0, 0}};
    a.oc = 1;
    a.has_bias = true;
    a.in = a.weight = DT_INT8;
    a.bias = DT_INT32;
    *device_.local<std::int8_t>(0, kInput) = 10;
    *device_.local<std::int8_t>(0, kWeight) = negative ? -3 : 3;
    *device_.local<std::int32_t>(0, kBias) = negative ? -5 : 5;
    std::int32_t* table = device_.local<std::int32_t>(0, kTable);
    table[0] = static_cast<std::int32_t>(a.constants.multiplier);
    table[1] = a.constants.shift;
    table[2] = static_cast<std::int32_t>(a.constants.offset);
    const LaunchOutcome outcome = device_.run([&] { call(form, a); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return a.out == DT_INT8 ? *device_.local<std::int8_t>(0, kResult) : *device_.local<std::uint8_t>(0, kResult);
  }
};

TEST_F(RequantWindows, DepthwiseSumsAreRequantisedOrShifted) {
  record_assumed({Op::tpu_bdc_depthwise2d_requant_pc_asym_C, Op::tpu_bdc_depthwise2d_requant_C_sym_C});
  for (int i = 0; i < 3 * kCases && !HasFatalFailure(); ++i) {
    const bool by_table = i % 2 == 0;
    const Geometry g = geometry(random_.in(1, 130), Steps::kStrided);
    const bool in_signed = random_.flip(), weight_signed = random_.flip(), bias_signed = random_.flip();
    const bool has_bias = random_.flip(), relu = random_.in(0, 2) == 0, symmetric = random_.flip();
    const bool has_requant = by_table && random_.in(0, 3) != 0;
    const bool any_signed = in_signed || weight_signed || (has_bias && bias_signed);
    const Dtype type = has_requant ? integer_type(random_.in(1, 2), random_.flip())
                       : relu      ? Dtype::kUint8
                                   : integer_type(1 << random_.in(0, 2), any_signed);
    const int rshift = by_table ? 0 : random_.in(0, 32) / random_.in(1, 4);
    const auto rounding = static_cast<Rounding>(random_.in(0, 6));
    const int npu = random_.in(0, 63);
    const LocalTensor in = aligned(address(npu, kInput), g.in.n, g.in.c, g.in.h, g.in.w, 1);
    const LocalTensor out = output(g, address(npu, kResult), g.in.c, size_of(type));
    const LocalTensor weight = compact(address(npu, kWeight), 1, g.in.c, g.kernel.h, g.kernel.w, 1);
    const LocalTensor bias = compact(address(npu, kBias), 1, g.in.c, 1, 1, 4);
    const LocalTensor table = aligned(address(npu, kTable), 1, g.in.c, 1, 3, 4);
    fill_bits({&out, &in, &weight, &bias});
    fill_table(random_, image_, table, type);
    const scalar_t padding = scalar_bits(random_.bits() & 0xFFU);
    Image wanted = image_;
    each_element(out, [&](int n, int c, int h, int w) {
      std::int64_t sum = has_bias ? integer(bias, bias_signed, 0, c, 0, 0) : 0;
      for (int kh = 0; kh < g.kernel.h; ++kh) {
        for (int kw = 0; kw < g.kernel.w; ++kw) {
          const Geometry::Spot spot = g.spot(h, w, kh, kw);
          const std::uint32_t seen = spot.sees == Sees::kElement ? take(in, n, c, spot.h, spot.w) : padding.u32;
          sum += RandomData::integer(seen, 1, in_signed) * integer(weight, weight_signed, 0, c, kh, kw);
        }
      }
      // A shift is a requantisation by 1.
      std::uint32_t bits = 0;
      const reference::End end{type, !any_signed, relu, symmetric, rounding};
      if (has_requant) {
        bits = reference::ended(sum, end, table_entry(image_, table, c, type));
      } else {
        const auto low = static_cast<std::uint32_t>(sum);
        const reference::Wide read =
            any_signed ? reference::Wide{static_cast<std::int32_t>(low)} : reference::Wide{low};
        reference::Wide value = reference::shifted(read, -rshift, rounding);
        if (relu && value < 0) value = 0;
        value = reference::clamped(value, type);
        const reference::Wide lowest = -(reference::Wide{1} << (8 * size_of(type) - 1));
        if (symmetric && any_signed && value == lowest) value = lowest + 1;
        bits = reference::low_bits(value, type);
      }
      RandomData::put(wanted, out, n, c, h, w, bits);
    });
    const data_type_t ot = code(type), it = code(integer_type(1, in_signed)), wt = code(integer_type(1, weight_signed)),
                      bt = code(integer_type(4, bias_signed));
    const auto mode = static_cast<rounding_mode_t>(rounding);
    const auto shift = static_cast<unsigned char>(rshift);
    expect(
        wanted,
        [&] {
          if (by_table) {
            tpu_bdc_depthwise2d_requant_pc_asym_C(addr(out), addr(in), addr(weight), addr(bias), addr(table), padding,
                                                  &g.in, &g.kernel, &g.pad, &g.stride, &g.dilation, ot, it, wt, bt,
                                                  has_bias, has_requant, relu, symmetric, mode);
          } else {
            tpu_bdc_depthwise2d_requant_C_sym_C(addr(out), addr(in), addr(weight), addr(bias), padding, &g.in,
                                                &g.kernel, &g.pad, &g.stride, &g.dilation, ot, it, wt, bt, shift,
                                                has_bias, relu, symmetric, mode);
          }
        },
        fmt::format("{} out {} rshift {} mode {} requant {} bias {} relu {} symmetric {}", g.text(), to_text(type),
                    rshift, static_cast<int>(rounding), has_requant, has_bias, relu, symmetric));
  }
}

// ---- By hand ----

TEST_F(RequantWindows, OneSumByHand) {
  Call a = {};
  a.has_requant = true;
  a.out = DT_INT8;
  a.rounding = RM_HALF_TO_EVEN;
  a.constants = {3, -1, -60};                           // 35 * 3 / 2 = 52.5
  EXPECT_EQ(one_element(Form::kC, a, false), 53 - 60);  // ties up
  EXPECT_EQ(one_element(Form::kPc, a, false), 53 - 60);
  EXPECT_EQ(one_element(Form::kC, a, true), -52 - 60);
  EXPECT_EQ(one_element(Form::kCAsymC, a, false), 52 - 60);  // ties to even
  EXPECT_EQ(one_element(Form::kPcAsymC, a, true), -52 - 60);
  a.relu = true;  // relu takes the sum: what is below 0 becomes the zero point
  EXPECT_EQ(one_element(Form::kC, a, true), -60);
  EXPECT_EQ(one_element(Form::kPcAsymC, a, true), -60);
  a.relu = false;
  a.constants = {-1, 3, 0};  // -280 and 280
  EXPECT_EQ(one_element(Form::kPc, a, false), -128);
  EXPECT_EQ(one_element(Form::kPc, a, true), 127);
  a.symmetric = true;
  EXPECT_EQ(one_element(Form::kPc, a, false), -127);
  EXPECT_EQ(one_element(Form::kC, a, false), -127);
  a.out = DT_UINT8;
  a.constants = {1, 0, 7};
  EXPECT_EQ(one_element(Form::kC, a, true), 0);
  EXPECT_EQ(one_element(Form::kC, a, false), 42);
}

// ---- As two recorded steps ----

TEST_F(RequantWindows, EqualsAConvolutionAndARequantisation) {
  constexpr unsigned kSums = 0x20000, kWanted = 0x38000;
  for (int i = 0; i < kCases && !HasFatalFailure(); ++i) {
    const Geometry g = geometry(random_.in(1, 70), Steps::kStrided);
    const int oc = random_.in(1, 70);
    const Dtype type = integer_type(random_.in(1, 2), random_.flip());
    const LocalTensor in = input(g, kInput, 1, false), weight = reference::weights(g, kWeight, oc, 64, 1);
    const LocalTensor points = compact(kPoint, 1, oc, 1, 1, 1), pairs = compact(kPairs, 1, g.in.c, 1, 2, 1);
    const LocalTensor table = aligned(kTable, 1, oc, 1, 3, 4), result = output(g, kResult, oc, size_of(type));
    fill_bits({&in, &weight, &points, &pairs});
    fill_table(random_, image_, table, type);
    device_.local_image() = image_;
    const auto mode = static_cast<rounding_mode_t>(random_.in(0, 6));
    const LaunchOutcome outcome = device_.run([&] {
      tpu_bdc_conv2d_requant_pc_asym_pc(kResult, kInput, kWeight, 0, kPoint, kPairs, kTable, &g.in, nullptr, oc,
                                        &g.kernel, &g.pad, &g.stride, &g.dilation, code(type), DT_INT8, DT_UINT8,
                                        DT_INT32, true, false, false, false, false, mode);
      tpu_bdc_int8_asym_pc_quant_conv2d(kSums, kInput, kWeight, kPoint, kPairs, &g.in, nullptr, oc, &g.kernel, &g.pad,
                                        &g.stride, &g.dilation, DT_INT32, DT_INT8, DT_UINT8, DT_UINT8, false);
      const dim4 shape = {g.in.n, oc, g.oh(), g.ow()};
      tpu_bdc_int_pc_requant(kWanted, kSums, kTable, &shape, code(type), DT_INT32, mode);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    LocalTensor wanted = result;
    wanted.addr = kWanted;
    const Image& got = device_.local_image();
    each_element(result, [&](int n, int c, int h, int w) {
      ASSERT_EQ(RandomData::take(got, result, n, c, h, w), RandomData::take(got, wanted, n, c, h, w)) << g.text();
    });
  }
  device_.oracle().forget();
}

// ---- Refusals ----

TEST_F(RequantWindows, WrongArgumentsAreRefused) {
  Call good = {};
  good.g = {{1, 3, 6, 6}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0, 0, 0}};
  good.oc = 4;
  good.has_requant = good.has_bias = true;
  good.out = good.in = good.weight = DT_INT8;
  good.bias = DT_INT32;
  const auto refused = [&](Form form, const Call& a, const char* text) {
    device_.expect_fault([&] { call(form, a); }, text);
  };
  Call a = good;
  a.constants.shift = 32;
  refused(Form::kC, a, "tpu_bdc_conv2d_requant_C: rshift (-32) is outside -31..64");
  a.constants.shift = -65;
  refused(Form::kCAsymC, a, "rshift (65) is outside -31..64");
  a = good;
  a.out = DT_UINT8;
  a.constants.offset = -1;
  refused(Form::kCAsymPc, a, "output_zp (-1) is outside 0..65535");
  a = good;
  a.out = DT_INT32;
  refused(Form::kPc, a, "requantised output type is int32 (allowed: uint8, int8, uint16, int16)");
  a.add = true;
  refused(Form::kPcAsymPc, a, "requantised output type is int32");
  a.out = DT_INT8;
  refused(Form::kPcAsymC, a, "result_add needs a 32-bit output (output type is int8)");
  a = good;
  a.bias = DT_INT8;
  refused(Form::kC, a, "bias type is int8");
  a = good;
  a.has_requant = false;
  a.out = DT_UINT8;
  refused(Form::kC, a, "output type uint8 has to be signed: so is the sum of these operands");
  a.out = DT_INT8;
  a.relu = true;
  refused(Form::kC, a, "output type int8 has to be unsigned: result_relu is set");
  const Geometry& g = good.g;
  device_.expect_fault(
      [&] {
        tpu_bdc_conv2d_requant_pc(kResult, kInput, kWeight, kBias, address(1, kTable), &g.in, nullptr, 4, &g.kernel,
                                  &g.pad, &g.stride, &g.dilation, DT_INT8, DT_INT8, DT_INT8, DT_INT32, false, false,
                                  true, false);
      },
      "start NPU of requant (1) differs from start NPU of output (0)");
  device_.expect_fault(
      [&] {
        tpu_bdc_depthwise2d_requant_pc_asym_C(kResult, kInput, kWeight, kBias, kTable + 4, scalar_bits(0), &g.in,
                                              &g.kernel, &g.pad, &g.stride, &g.dilation, DT_INT8, DT_INT8, DT_INT8,
                                              DT_INT32, false, true, false, false, RM_DOWN);
      },
      "requant address (0x2f004) is not a multiple of 64");
  device_.expect_fault(
      [&] {
        tpu_bdc_depthwise2d_requant_C_sym_C(kResult, kInput, kWeight, kBias, scalar_bits(0), &g.in, &g.kernel, &g.pad,
                                            &g.stride, &g.dilation, DT_INT8, DT_INT8, DT_INT8, DT_INT32, 33, false,
                                            false, false, RM_DOWN);
      },
      "rshift (33) is outside 0..32");
}

}  // namespace
}  // namespace softtpu::requant_window_test
