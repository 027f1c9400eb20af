// Element-wise functions of one data type against the reference.
#include "tests/reference/elementwise.hpp"
#include "device/memory/parallel.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu::elementwise_test {
namespace {

constexpr Dtype kFloatTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16};
constexpr Dtype kIntTypes[] = {Dtype::kInt8,   Dtype::kUint8, Dtype::kInt16,
                               Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};
constexpr Dtype kTypes[] = {Dtype::kFp32,  Dtype::kFp16,   Dtype::kBfp16, Dtype::kInt8,  Dtype::kUint8,
                            Dtype::kInt16, Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};
constexpr Dtype kSignedTypes[] = {Dtype::kFp32, Dtype::kFp16,  Dtype::kBfp16,
                                  Dtype::kInt8, Dtype::kInt16, Dtype::kInt32};

scalar_t scalar_of(std::uint32_t bits) {
  scalar_t value = {};
  value.u32 = bits;
  return value;
}

// One f32 operation on stored values.
using FloatStep = float (*)(float, float);
std::uint32_t step(FloatStep operation, std::uint32_t a, std::uint32_t b, Dtype type) {
  return reference::stored(operation(reference::loaded(a, type), reference::loaded(b, type)), type);
}
std::uint32_t add(std::uint32_t a, std::uint32_t b, Dtype type) { return step(reference::add, a, b, type); }
std::uint32_t sub(std::uint32_t a, std::uint32_t b, Dtype type) { return step(reference::sub, a, b, type); }
std::uint32_t mul(std::uint32_t a, std::uint32_t b, Dtype type) { return step(reference::mul, a, b, type); }
std::uint32_t diff_abs(std::uint32_t a, std::uint32_t b, Dtype type) {
  return reference::loaded(a, type) > reference::loaded(b, type) ? sub(a, b, type) : sub(b, a, type);
}
std::uint32_t bit_and(std::uint32_t a, std::uint32_t b, Dtype) { return a & b; }
std::uint32_t bit_or(std::uint32_t a, std::uint32_t b, Dtype) { return a | b; }
std::uint32_t bit_xor(std::uint32_t a, std::uint32_t b, Dtype) { return a ^ b; }

struct BinaryRow {
  const char* name;
  decltype(&tpu_bdc_fp_add) tensor;
  decltype(&tpu_bdc_fp_add_C) constant;
  std::uint32_t (*reference)(std::uint32_t, std::uint32_t, Dtype);
  bool floats_only;
  bool exchanges;
};
constexpr BinaryRow kBinary[] = {
    {"fp_add", tpu_bdc_fp_add, tpu_bdc_fp_add_C, add, true, true},
    {"fp_sub", tpu_bdc_fp_sub, tpu_bdc_fp_sub_C, sub, true, false},
    {"fp_mul", tpu_bdc_fp_mul, tpu_bdc_fp_mul_C, mul, true, true},
    {"fp_diff_abs", tpu_bdc_fp_diff_abs, tpu_bdc_fp_diff_abs_C, diff_abs, true, true},
    {"max", tpu_bdc_max, tpu_bdc_max_C, reference::max, false, true},
    {"min", tpu_bdc_min, tpu_bdc_min_C, reference::min, false, true},
    {"and", tpu_bdc_and, tpu_bdc_and_C, bit_and, false, false},
    {"or", tpu_bdc_or, tpu_bdc_or_C, bit_or, false, false},
    {"xor", tpu_bdc_xor, tpu_bdc_xor_C, bit_xor, false, false},
};

class Elementwise : public ElementwiseTest {};

TEST_F(Elementwise, BinaryFunctionsMatchTheReference) {
  for (int trial = 0; trial < 180; ++trial) {
    const BinaryRow& row = kBinary[static_cast<std::size_t>(trial) % std::size(kBinary)];
    const Dtype type = row.floats_only ? pick(kFloatTypes) : pick(kTypes);
    check(
        std::string(row.name) + " " + std::string(to_text(type)), type, {type, type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          row.tensor(dst.addr, src[0].addr, src[1].addr, shape, dst.strides(), src[0].strides(), src[1].strides(),
                     code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const std::vector<CallOperand>& src) {
          const bool exchanged = row.exchanges && src[0].natural && !src[1].natural;
          return exchanged ? row.reference(v[1], v[0], type) : row.reference(v[0], v[1], type);
        });
  }
}

TEST_F(Elementwise, BinaryFunctionsWithAConstantMatchTheReference) {
  for (int trial = 0; trial < 90; ++trial) {
    const BinaryRow& row = kBinary[static_cast<std::size_t>(trial) % std::size(kBinary)];
    const Dtype type = row.floats_only ? pick(kFloatTypes) : pick(kTypes);
    const std::uint32_t constant = random_bits(type);
    check(
        std::string(row.name) + "_C " + std::string(to_text(type)), type, {type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          row.constant(dst.addr, src[0].addr, scalar_of(constant), shape, dst.strides(), src[0].strides(), code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return row.reference(v[0], constant, type); });
  }
}

TEST_F(Elementwise, ConstantsFirstAndFillsMatchTheReference) {
  for (int trial = 0; trial < 20; ++trial) {
    const Dtype type = pick(kFloatTypes);
    const std::uint32_t constant = random_bits(type);
    check(
        "fp_C_sub " + std::string(to_text(type)), type, {type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp_C_sub(dst.addr, src[0].addr, scalar_of(constant), shape, dst.strides(), src[0].strides(),
                           code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return sub(constant, v[0], type); });
    const Dtype any = pick(kTypes);
    const std::uint32_t filling = random_bits(any);
    check(
        "set_C " + std::string(to_text(any)), any, {}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>&, const dim4* shape) {
          tpu_bdc_set_C(dst.addr, scalar_of(filling), shape, dst.strides(), code(any));
        },
        [&](const std::vector<std::uint32_t>&, const auto&) { return filling; });
  }
}

TEST_F(Elementwise, UnaryFunctionsMatchTheReference) {
  struct Row {
    const char* name;
    decltype(&tpu_bdc_abs) function;
    std::uint32_t (*reference)(std::uint32_t, Dtype);
    bool floats_only;
  };
  static const auto sign_bit = [](Dtype type) { return 1U << (8 * size_of(type) - 1); };
  const Row rows[] = {
      {"abs", tpu_bdc_abs,
       [](std::uint32_t x, Dtype type) {
         if (is_float(type)) return x & ~sign_bit(type);
         const std::int64_t value = reference::int_value(x, type);
         return reference::low_bits(value < 0 ? -value : value, type);
       },
       false},
      {"neg", tpu_bdc_neg,
       [](std::uint32_t x, Dtype type) {
         return is_float(type) ? sub(0, x, type) : reference::low_bits(-reference::int_value(x, type), type);
       },
       false},
      {"relu", tpu_bdc_relu, [](std::uint32_t x, Dtype type) { return reference::max(x, 0, type); }, false},
      {"floor", tpu_bdc_fp_floor,
       [](std::uint32_t x, Dtype type) { return reference::round_float(x, type, Rounding::kDown); }, true},
      {"ceil", tpu_bdc_fp_ceil,
       [](std::uint32_t x, Dtype type) { return reference::round_float(x, type, Rounding::kUp); }, true},
      {"square", tpu_bdc_fp_square, [](std::uint32_t x, Dtype type) { return mul(x, x, type); }, true},
      {"cpy", tpu_bdc_cpy, [](std::uint32_t x, Dtype) { return x; }, false},
  };
  for (int trial = 0; trial < 105; ++trial) {
    const Row& row = rows[static_cast<std::size_t>(trial) % std::size(rows)];
    const Dtype type = row.floats_only ? pick(kFloatTypes) : pick(kSignedTypes);
    check(
        std::string(row.name) + " " + std::string(to_text(type)), type, {type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          row.function(dst.addr, src[0].addr, shape, dst.strides(), src[0].strides(), code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return row.reference(v[0], type); });
  }
}

TEST_F(Elementwise, NotSignAndRoundMatchTheReference) {
  for (int trial = 0; trial < 20; ++trial) {
    const Dtype type = pick(kIntTypes);
    check(
        "not", type, {type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_not(dst.addr, src[0].addr, shape, dst.strides(), src[0].strides(), code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return reference::low_bits(~v[0], type); });
    const Dtype signed_type = pick(kSignedTypes);
    check(
        "sign " + std::string(to_text(signed_type)), signed_type, {signed_type}, Layouts::kAlignedApart,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_sign(dst.addr, src[0].addr, shape, code(signed_type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const int order = reference::compare(v[0], 0, signed_type);
          if (is_integer(signed_type)) return reference::low_bits(order, signed_type);
          return order == 0 ? 0U : reference::stored(static_cast<float>(order), signed_type);
        });
    const Dtype float_type = pick(kFloatTypes);
    const Rounding mode = integral_rounding();
    check(
        "round " + std::string(to_text(mode)), float_type, {float_type}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp_round(dst.addr, src[0].addr, shape, dst.strides(), src[0].strides(), code(float_type),
                           static_cast<rounding_mode_t>(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          return reference::round_float(v[0], float_type, mode);
        });
  }
}

TEST_F(Elementwise, MacAndParametersMatchTheReference) {
  for (int trial = 0; trial < 20; ++trial) {
    const Dtype f32 = Dtype::kFp32;
    // dst is read too: it is the third source here, and the kernel writes there.
    check(
        "fp32_mac", f32, {f32, f32, f32}, Layouts::kAlignedApart,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_cpy(dst.addr, src[2].addr, shape, nullptr, nullptr, DT_FP32);
          tpu_bdc_fp32_mac(dst.addr, src[0].addr, src[1].addr, shape, nullptr, nullptr, nullptr);
        },
        [&](const std::vector<std::uint32_t>& v, const std::vector<CallOperand>&) {
          return add(mul(v[0], v[1], f32), v[2], f32);
        });
    const float factor = std::bit_cast<float>(random_bits(f32));
    check(
        "fp32_mac_C", f32, {f32, f32}, Layouts::kAlignedApart,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_cpy(dst.addr, src[1].addr, shape, nullptr, nullptr, DT_FP32);
          tpu_bdc_fp32_mac_C(dst.addr, src[0].addr, factor, shape, nullptr, nullptr);
        },
        [&](const std::vector<std::uint32_t>& v, const std::vector<CallOperand>&) {
          return add(mul(v[0], std::bit_cast<std::uint32_t>(factor), f32), v[1], f32);
        });
    const Dtype type = pick(kFloatTypes);
    const std::uint32_t p = random_bits(type);
    const std::uint32_t q = random_bits(type);
    check(
        "add_C_sqr", type, {type}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp_add_C_sqr(dst.addr, src[0].addr, scalar_of(p), shape, code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const std::uint32_t sum = add(v[0], p, type);
          return mul(sum, sum, type);
        });
    check(
        "prelu", type, {type}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_prelu(dst.addr, src[0].addr, scalar_of(p), shape, code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          return reference::compare(v[0], 0, type) > 0 ? v[0] : mul(v[0], p, type);
        });
    check(
        "scale_bias_C", type, {type}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp_scale_bias_C(dst.addr, src[0].addr, scalar_of(p), scalar_of(q), shape, code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return add(q, mul(p, v[0], type), type); });
    check(
        "sub_C_sqr", type, {type}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp_sub_C_sqr(dst.addr, src[0].addr, scalar_of(p), shape, code(type));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const std::uint32_t difference = sub(v[0], p, type);
          return mul(difference, difference, type);
        });
  }
}

TEST_F(Elementwise, ChannelParametersMatchTheReference) {
  for (int trial = 0; trial < 20; ++trial) {
    const Dtype type = pick(kFloatTypes);
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const DeviceTensor src = operand(type, shape, npu, 1, Layouts::kAligned, false).tensor;
    DeviceTensor scale = src;
    scale.offset = 2 * kOperandStep;
    scale.stride = {0, 1, 0, 0};
    DeviceTensor bias = scale;
    bias.offset = 3 * kOperandStep;
    for (const DeviceTensor& tensor : {src, scale, bias})
      tensor.write(device_.chip(), memory(), random_values(type, shape.elements()));
    const auto x = src.read(device_.chip(), memory());
    const auto s = scale.read(device_.chip(), memory());
    const auto b = bias.read(device_.chip(), memory());
    DeviceTensor dst = src;
    dst.offset = 0;
    std::vector<std::uint32_t> want(x.size());
    const int function = trial % 5;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint32_t sum = add(x[i], b[i], type);
      const std::uint32_t difference = sub(x[i], b[i], type);
      const std::uint32_t product = mul(s[i], x[i], type);
      want[i] = function == 0   ? add(b[i], x[i], type)
                : function == 1 ? add(product, 0, type)
                : function == 2 ? add(b[i], product, type)
                : function == 3 ? mul(sum, sum, type)
                                : mul(difference, difference, type);
    }
    const dim4 c_shape = src.c_shape();
    const auto at = [&](const DeviceTensor& tensor) { return tensor.addr(device_.chip()); };
    expect_memory("channel parameters " + std::to_string(function),
                  [&] {
                    if (function == 0) tpu_bdc_fp_bias(at(dst), at(src), at(bias), &c_shape, code(type));
                    if (function == 1) tpu_bdc_fp_scale(at(dst), at(src), at(scale), &c_shape, code(type));
                    if (function == 2)
                      tpu_bdc_fp_scale_bias(at(dst), at(src), at(scale), at(bias), &c_shape, code(type));
                    if (function == 3) tpu_bdc_fp_add_bias_sqr(at(dst), at(src), at(bias), &c_shape, code(type));
                    if (function == 4) tpu_bdc_fp_sub_bias_sqr(at(dst), at(src), at(bias), &c_shape, code(type));
                  },
                  {{dst, want}});
  }
}

// The same bits from one thread and from many, for a tensor large enough to be spread over threads.
TEST_F(Elementwise, ThreadsDoNotShow) {
  const Dim4 shape{2, 128, 16, 33};
  const CallOperand src = operand(Dtype::kFp32, shape, 5, 1, Layouts::kAligned, false);
  const CallOperand dst = operand(Dtype::kFp32, shape, 5, 0, Layouts::kAligned, false);
  src.tensor.write(device_.chip(), memory(), random_values(Dtype::kFp32, shape.elements()));
  const dim4 c_shape = src.tensor.c_shape();
  const auto results = [&](int threads) {
    set_thread_limit(threads);
    EXPECT_TRUE(device_
                    .run([&] {
                      tpu_bdc_fp_mul(dst.addr, src.addr, src.addr, &c_shape, nullptr, nullptr, nullptr, DT_FP32);
                      tpu_bdc_fp_round(dst.addr, dst.addr, &c_shape, nullptr, nullptr, DT_FP32, RM_HALF_TO_EVEN);
                    })
                    .ok);
    set_thread_limit(0);
    return dst.tensor.read(device_.chip(), memory());
  };
  EXPECT_EQ(results(1), results(0));
}

TEST_F(Elementwise, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 2, 3, 4};
  const dim4 stride = {24, 12, 4, 1};
  const dim4 far = {24, 12, 70000, 1};
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  refused([&] { tpu_bdc_not(0, 0x400, &shape, nullptr, nullptr, DT_FP32); }, "dst type is fp32");
  refused([&] { tpu_bdc_abs(0, 0x400, &shape, nullptr, nullptr, DT_UINT8); }, "dst type is uint8");
  refused([&] { tpu_bdc_fp_round(0, 0x400, &shape, nullptr, nullptr, DT_FP32, RM_HALF_UP); },
          "does not round to integers");
  refused([&] { tpu_bdc_relu(0, 0x402, &shape, &stride, &stride, DT_FP32); }, "not a multiple of the element size");
  refused([&] { tpu_bdc_relu(0, 0x400, &shape, &stride, &far, DT_FP32); }, "stride above 65535");
  refused([&] { tpu_bdc_sign(0x400, 0x400, &shape, DT_FP32); }, "src (0x400) overlaps dst (0x400)");
  refused([&] { tpu_bdc_cpy(0, 0x40000, &shape, nullptr, nullptr, DT_FP32); }, "differs from start NPU of dst");
  refused([&] { tpu_bdc_fp_bias(0, 0x400, 0x40800, &shape, DT_FP32); }, "start NPU of src");
}

}  // namespace
}  // namespace softtpu::elementwise_test
