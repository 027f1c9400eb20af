// Integer arithmetic with shifts, conversions and quantisation against the reference.
#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu::integer_test {
namespace {

using reference::Wide;

constexpr Dtype kIntTypes[] = {Dtype::kInt8,   Dtype::kUint8, Dtype::kInt16,
                               Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};
constexpr Dtype kSignedTypes[] = {Dtype::kInt8, Dtype::kInt16, Dtype::kInt32};
constexpr Dtype kUnsignedTypes[] = {Dtype::kUint8, Dtype::kUint16, Dtype::kUint32};
constexpr Dtype kAllTypesList[] = {Dtype::kFp32,  Dtype::kFp16,   Dtype::kBfp16, Dtype::kInt8,  Dtype::kUint8,
                                   Dtype::kInt16, Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};

scalar_t scalar_of(std::uint32_t bits) {
  scalar_t value = {};
  value.u32 = bits;
  return value;
}
struct IntRow {
  const char* name;
  decltype(&tpu_bdc_int_add) tensor;
  decltype(&tpu_bdc_int_add_C) constant;
  decltype(&tpu_bdc_int_pcs_add) tensor_pcs;
  decltype(&tpu_bdc_int_pcs_add_C) constant_pcs;
  Wide (*reference)(Wide, Wide);
};
const IntRow kRows[] = {
    {"add", tpu_bdc_int_add, tpu_bdc_int_add_C, tpu_bdc_int_pcs_add, tpu_bdc_int_pcs_add_C,
     [](Wide a, Wide b) { return a + b; }},
    {"sub", tpu_bdc_int_sub, tpu_bdc_int_sub_C, tpu_bdc_int_pcs_sub, tpu_bdc_int_pcs_sub_C,
     [](Wide a, Wide b) { return a - b; }},
    {"mul", tpu_bdc_int_mul, tpu_bdc_int_mul_C, tpu_bdc_int_pcs_mul, tpu_bdc_int_pcs_mul_C,
     [](Wide a, Wide b) { return a * b; }},
    {"C_sub", nullptr, tpu_bdc_int_C_sub, nullptr, tpu_bdc_int_pcs_C_sub, [](Wide a, Wide b) { return b - a; }},
};

class Integer : public ElementwiseTest {
 protected:
  Dtype result_type(const IntRow& row, Dtype a, Dtype b) {
    const bool difference = row.reference(0, 1) != row.reference(1, 0);
    return difference || is_signed_int(a) || is_signed_int(b) ? pick(kSignedTypes) : pick(kUnsignedTypes);
  }
  // Now and then an infinity or no number.
  float any_factor(float most) {
    if (chance(6)) return std::numeric_limits<float>::quiet_NaN();
    if (chance(6)) return -std::numeric_limits<float>::infinity();
    return std::uniform_real_distribution<float>(-most, most)(random_);
  }
  // What a requantisation through f32 stores: no number is 0, also of a signed type.
  static std::uint32_t requantised(float sum, Dtype to, Rounding mode) {
    return std::isnan(sum) ? 0 : reference::convert(std::bit_cast<std::uint32_t>(sum), to, Dtype::kFp32, mode);
  }
};

TEST_F(Integer, ArithmeticMatchesTheReference) {
  for (int trial = 0; trial < 160; ++trial) {
    const IntRow& row = kRows[static_cast<std::size_t>(trial) % std::size(kRows)];
    const Dtype a = pick(kIntTypes);
    const Dtype b = pick(kIntTypes);
    const Dtype to = result_type(row, a, b);
    const int shift = number(-32, 31);
    const Rounding mode = any_rounding();
    const bool saturate = chance(2);
    const bool with_constant = row.tensor == nullptr || chance(2);
    const std::uint32_t constant = random_bits(b);
    std::vector<Dtype> sources = {a};
    if (!with_constant) sources.push_back(b);
    check(
        std::string(row.name) + " shift " + std::to_string(shift), to, sources, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          if (with_constant) {
            row.constant(dst.addr, src[0].addr, scalar_of(constant), shape, dst.strides(), src[0].strides(), code(to),
                         code(a), code(b), static_cast<char>(shift), code(mode), saturate);
          } else {
            row.tensor(dst.addr, src[0].addr, src[1].addr, shape, dst.strides(), src[0].strides(), src[1].strides(),
                       code(to), code(a), code(b), static_cast<char>(shift), code(mode), saturate);
          }
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide x = reference::int_value(v[0], a);
          const Wide y = reference::int_value(with_constant ? constant : v[1], b);
          return reference::finished(reference::shifted(row.reference(x, y), shift, mode), saturate, to);
        });
  }
}

TEST_F(Integer, ShiftsPerChannelMatchTheReference) {
  for (int trial = 0; trial < 320; ++trial) {
    const IntRow& row = kRows[static_cast<std::size_t>(trial) % std::size(kRows)];
    const Dtype a = pick(kIntTypes);
    const Dtype b = pick(kIntTypes);
    const Dtype to = result_type(row, a, b);
    const Rounding mode = any_rounding();
    const bool saturate = chance(2);
    const bool with_constant = row.tensor_pcs == nullptr || chance(2);
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const CallOperand first = operand(a, shape, npu, 1, Layouts::kAny, true);
    const CallOperand second = operand(b, shape, npu, 2, Layouts::kAny, true);
    const CallOperand dst = operand(to, shape, npu, 0, Layouts::kAny, false);
    DeviceTensor shift = DeviceTensor::aligned(device_.chip(), Dtype::kInt8, shape, npu, 3 * kOperandStep);
    shift.stride = {0, 1, 0, 0};
    first.tensor.write(device_.chip(), memory(), random_values(a, shape.elements()));
    second.tensor.write(device_.chip(), memory(), random_values(b, shape.elements()));
    std::vector<std::uint32_t> shifts(static_cast<std::size_t>(shape.elements()));
    for (std::uint32_t& value : shifts) value = static_cast<std::uint8_t>(number(chance(3) ? -128 : -32, 31));
    shift.write(device_.chip(), memory(), shifts);
    shifts = shift.read(device_.chip(), memory());
    const auto x = first.tensor.read(device_.chip(), memory());
    const auto y = second.tensor.read(device_.chip(), memory());
    const std::uint32_t constant = random_bits(b);
    std::vector<std::uint32_t> want(x.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const Wide value =
          row.reference(reference::int_value(x[i], a), reference::int_value(with_constant ? constant : y[i], b));
      // To the right up to 63 places.
      const int count = std::max(static_cast<int>(reference::int_value(shifts[i], Dtype::kInt8)), -63);
      want[i] = reference::finished(reference::shifted(value, count, mode), saturate, to);
    }
    const dim4 c_shape = dst.tensor.c_shape();
    const local_addr_t shift_addr = shift.addr(device_.chip());
    expect_memory(std::string("pcs ") + row.name,
                  [&] {
                    if (with_constant) {
                      row.constant_pcs(dst.addr, first.addr, shift_addr, scalar_of(constant), &c_shape, dst.strides(),
                                       first.strides(), code(to), code(a), code(b), code(mode), saturate);
                    } else {
                      row.tensor_pcs(dst.addr, first.addr, second.addr, shift_addr, &c_shape, dst.strides(),
                                     first.strides(), second.strides(), code(to), code(a), code(b), code(mode),
                                     saturate);
                    }
                  },
                  {{dst.tensor, want}});
  }
}

TEST_F(Integer, ShiftsMatchTheReference) {
  for (int trial = 0; trial < 60; ++trial) {
    const bool logical = chance(2);
    const Dtype from = logical || chance(2) ? pick(kUnsignedTypes) : pick(kSignedTypes);
    const Dtype to = is_signed_int(from) ? pick(kSignedTypes) : pick(kUnsignedTypes);
    const Rounding mode = any_rounding();
    const int bits = 8 * size_of(from);
    const int count = number(-bits, bits - 1);
    Dtype shift_type = pick(kSignedTypes);
    if (size_of(shift_type) > size_of(from)) shift_type = Dtype::kInt8;
    const bool with_constant = chance(2);
    std::vector<Dtype> sources = {from};
    if (!with_constant) sources.push_back(shift_type);
    check(
        std::string(logical ? "logical" : "arithmetic") + " shift", to, sources, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          const auto constant = logical ? tpu_bdc_logical_shift_C : tpu_bdc_arithmetic_shift_C;
          const auto tensor = logical ? tpu_bdc_logical_shift : tpu_bdc_arithmetic_shift;
          if (with_constant) {
            constant(dst.addr, src[0].addr, static_cast<char>(count), shape, dst.strides(), src[0].strides(), code(to),
                     code(from), code(mode));
          } else {
            tensor(dst.addr, src[0].addr, src[1].addr, shape, dst.strides(), src[0].strides(), src[1].strides(),
                   code(to), code(from), code(shift_type), code(mode));
          }
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          // Of a shift in memory the low byte counts, to the left modulo 32.
          int places = with_constant ? count : static_cast<std::int8_t>(reference::int_value(v[1], shift_type));
          if (!with_constant && places > 0) places %= 32;
          places = std::max(places, -100);
          return reference::finished(reference::shifted(reference::int_value(v[0], from), places, mode), false, to);
        });
  }
}

TEST_F(Integer, ByteMacMatchesTheReference) {
  constexpr Dtype kBytes[] = {Dtype::kInt8, Dtype::kUint8};
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype a = pick(kBytes);
    const Dtype b = pick(kBytes);
    const bool is_signed = is_signed_int(a) || is_signed_int(b);
    const Dtype to = is_signed ? Dtype::kInt16 : Dtype::kUint16;
    const int left = number(0, 15);
    const int right = number(0, 20);
    const Rounding mode = any_rounding();
    check(
        "int8_mac", to, {a, b, to}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_cpy(dst.addr, src[2].addr, shape, nullptr, nullptr, code(to));
          tpu_bdc_int8_mac(dst.addr, src[0].addr, src[1].addr, shape, nullptr, nullptr, nullptr, code(a), code(b),
                           static_cast<unsigned char>(left), static_cast<unsigned char>(right), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide product = Wide{reference::int_value(v[0], a)} * reference::int_value(v[1], b);
          const Wide sum = reference::int_value(v[2], to) * (Wide{1} << left) + product;
          return reference::finished(reference::shifted(sum, -right, mode), true, to);
        });
  }
}

TEST_F(Integer, ByteMacWithAConstantMatchesTheReference) {
  constexpr Dtype kBytes[] = {Dtype::kInt8, Dtype::kUint8};
  for (int trial = 0; trial < 20; ++trial) {
    const Dtype a = pick(kBytes);
    const Dtype b = pick(kBytes);
    const Dtype to = is_signed_int(a) || is_signed_int(b) ? Dtype::kInt16 : Dtype::kUint16;
    const std::uint32_t constant = random_bits(b);
    const int left = number(0, 15);
    const int right = number(0, 20);
    const Rounding mode = any_rounding();
    check(
        "int8_mac_C", to, {a, to}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_cpy(dst.addr, src[1].addr, shape, nullptr, nullptr, code(to));
          tpu_bdc_int8_mac_C(dst.addr, src[0].addr, scalar_of(constant), shape, nullptr, nullptr, code(a), code(b),
                             static_cast<unsigned char>(left), static_cast<unsigned char>(right), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide product = Wide{reference::int_value(v[0], a)} * reference::int_value(constant, b);
          const Wide sum = reference::int_value(v[1], to) * (Wide{1} << left) + product;
          return reference::finished(reference::shifted(sum, -right, mode), true, to);
        });
  }
}

TEST_F(Integer, ConversionsMatchTheReference) {
  for (int trial = 0; trial < 200; ++trial) {
    const Dtype from = kAllTypesList[trial % 9];
    const Dtype to = kAllTypesList[trial / 9 % 9];
    const bool halves = is_float(from) && is_float(to) && size_of(from) == 2 && size_of(to) == 2 && from != to;
    if (halves) continue;
    const Rounding mode = is_float(from) && is_integer(to) ? integral_rounding() : any_rounding();
    const std::string what =
        std::string(to_text(from)) + " to " + std::string(to_text(to)) + ", " + std::string(to_text(mode));
    check(
        what, to, {from}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_cast(dst.addr, src[0].addr, shape, dst.strides(), src[0].strides(), code(to), code(from), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) { return reference::convert(v[0], to, from, mode); });
    // The conversion of single values follows the same rules.
    EXPECT_TRUE(device_
                    .run([&] {
                      for (int i = 0; i < 50; ++i) {
                        const std::uint32_t bits = random_bits(from);
                        const std::uint32_t got = tpu_cast(scalar_of(bits), code(to), code(from), code(mode)).u32;
                        const Dtype width = size_of(to) == 4   ? Dtype::kUint32
                                            : size_of(to) == 2 ? Dtype::kUint16
                                                               : Dtype::kUint8;
                        EXPECT_EQ(reference::low_bits(got, width), reference::convert(bits, to, from, mode)) << what;
                      }
                    })
                    .ok);
  }
}

TEST_F(Integer, QuantisationMatchesTheReference) {
  constexpr Dtype kNarrow[] = {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16};
  constexpr Dtype kBroad[] = {Dtype::kInt16, Dtype::kUint16, Dtype::kInt32};
  for (int trial = 0; trial < 60; ++trial) {
    const Dtype narrow = pick(kNarrow);
    const Dtype broad = pick(kBroad);
    const Dtype offset_type = is_signed_int(narrow) ? Dtype::kInt16 : Dtype::kUint16;
    const auto multiplier = static_cast<int>(random_());
    const int shift = number(-64, 0);
    const std::uint32_t offset = random_bits(offset_type);
    const Wide addend = reference::int_value(offset, offset_type);
    const Rounding mode = any_rounding();
    check(
        "int_requant", narrow, {broad}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_int_requant(dst.addr, src[0].addr, shape, multiplier, static_cast<char>(shift), scalar_of(offset),
                              code(narrow), code(broad), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide product = Wide{reference::int_value(v[0], broad)} * multiplier;
          return reference::finished(reference::shifted(product, shift, mode) + addend, true, narrow);
        });
    check(
        "int_dequant", broad, {narrow}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_int_dequant(dst.addr, src[0].addr, shape, scalar_of(offset), multiplier, static_cast<char>(shift),
                              code(broad), code(narrow), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide product = (Wide{reference::int_value(v[0], narrow)} - addend) * multiplier;
          return reference::finished(reference::shifted(product, shift, mode), true, broad);
        });
    const Rounding to_int = integral_rounding();
    const float scale = any_factor(3), base = any_factor(99);
    // Conversions that are exact in f32 leave the rounding of the product and of the sum.
    const Dtype exact = broad == Dtype::kInt32 ? Dtype::kInt16 : broad;
    check(
        "fp32_requant", narrow, {exact}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp32_requant(dst.addr, src[0].addr, shape, scale, base, code(narrow), code(exact), code(to_int),
                               code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const auto value = static_cast<float>(reference::int_value(v[0], exact));
          return requantised(reference::add(reference::mul(value, scale), base), narrow, to_int);
        });
    check(
        "fp32_dequant", Dtype::kFp32, {narrow}, Layouts::kAligned,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_fp32_dequant(dst.addr, src[0].addr, shape, scalar_of(offset), scale, code(narrow), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          // At most 17 bits: exact in f32.
          const auto difference =
              static_cast<float>(reference::int_value(v[0], narrow) - static_cast<std::int64_t>(addend));
          return reference::stored(reference::mul(difference, scale), Dtype::kFp32);
        });
  }
}

// One multiplier, shift, scale and offset for each channel.
TEST_F(Integer, ChannelQuantisationMatchesTheReference) {
  constexpr Dtype kNarrow[] = {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16};
  constexpr Dtype kBroad[] = {Dtype::kInt16, Dtype::kUint16, Dtype::kInt32};
  for (int trial = 0; trial < 48; ++trial) {
    const int function = trial % 4;  // int_pc_requant, int_pc_dequant, fp32_pc_requant, fp32_pc_dequant
    const bool requant = function % 2 == 0, floats = function >= 2;
    const Dtype narrow = pick(kNarrow), broad = floats && !requant ? Dtype::kFp32
                                                : floats           ? Dtype::kInt16
                                                                   : pick(kBroad);
    const Dtype from = requant ? broad : narrow, to = requant ? narrow : broad;
    const Dtype offset_type = is_signed_int(narrow) ? Dtype::kInt16 : Dtype::kUint16;
    const Rounding mode = any_rounding(), to_int = integral_rounding();
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const DeviceTensor src = operand(from, shape, npu, 1, Layouts::kAligned, false).tensor;
    const DeviceTensor dst = operand(to, shape, npu, 0, Layouts::kAligned, false).tensor;
    const int members = floats ? 2 : 3;
    const DeviceTensor quant = DeviceTensor::aligned(device_.chip(), Dtype::kInt32, {1, shape.c, 1, members}, npu,
                                                     static_cast<std::uint32_t>(2 * kOperandStep));
    src.write(device_.chip(), memory(), random_values(from, shape.elements()));
    std::vector<std::uint32_t> words;
    for (int c = 0; c < shape.c; ++c) {
      const auto scale = std::bit_cast<std::uint32_t>(any_factor(3));
      const auto base = std::bit_cast<std::uint32_t>(any_factor(99));
      const auto multiplier = static_cast<std::uint32_t>(random_());
      const auto shift = static_cast<std::uint32_t>(number(-64, 0)) & 0xFFU;
      const std::uint32_t offset = random_bits(offset_type);
      switch (function) {
        case 0: words.insert(words.end(), {multiplier, shift, offset}); break;
        case 1: words.insert(words.end(), {offset, multiplier, shift}); break;
        case 2: words.insert(words.end(), {scale, base}); break;
        default: words.insert(words.end(), {offset, scale}); break;
      }
    }
    quant.write(device_.chip(), memory(), words);
    std::vector<std::uint32_t> want = src.read(device_.chip(), memory());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const auto plane = static_cast<std::size_t>(shape.h) * static_cast<std::size_t>(shape.w);
      const std::uint32_t* word =
          words.data() + i / plane % static_cast<std::size_t>(shape.c) * static_cast<unsigned>(members);
      const Wide value = reference::int_value(want[i], from);
      const auto offset_of = [&](std::uint32_t bits) {
        return Wide{reference::int_value(reference::low_bits(bits, offset_type), offset_type)};
      };
      const auto shift_of = [](std::uint32_t bits) { return static_cast<int>(static_cast<std::int8_t>(bits)); };
      if (function == 0) {
        const Wide product = value * static_cast<std::int32_t>(word[0]);
        want[i] =
            reference::finished(reference::shifted(product, shift_of(word[1]), mode) + offset_of(word[2]), true, to);
      } else if (function == 1) {
        const Wide product = (value - offset_of(word[0])) * static_cast<std::int32_t>(word[1]);
        want[i] = reference::finished(reference::shifted(product, shift_of(word[2]), mode), true, to);
      } else if (function == 2) {
        const float product = reference::mul(static_cast<float>(value), std::bit_cast<float>(word[0]));
        want[i] = requantised(reference::add(product, std::bit_cast<float>(word[1])), to, to_int);
      } else {
        // At most 17 bits: exact in f32.
        const auto difference = static_cast<float>(value - offset_of(word[0]));
        want[i] = reference::stored(reference::mul(difference, std::bit_cast<float>(word[1])), Dtype::kFp32);
      }
    }
    const dim4 c_shape = src.c_shape();
    const auto at = [&](const DeviceTensor& tensor) { return tensor.addr(device_.chip()); };
    expect_memory("channel quantisation " + std::to_string(function),
                  [&] {
                    if (function == 0)
                      tpu_bdc_int_pc_requant(at(dst), at(src), at(quant), &c_shape, code(to), code(from), code(mode));
                    if (function == 1)
                      tpu_bdc_int_pc_dequant(at(dst), at(src), at(quant), &c_shape, code(to), code(from), code(mode));
                    if (function == 2)
                      tpu_bdc_fp32_pc_requant(at(dst), at(src), at(quant), &c_shape, code(to), code(from), code(to_int),
                                              code(mode));
                    if (function == 3)
                      tpu_bdc_fp32_pc_dequant(at(dst), at(src), at(quant), &c_shape, code(from), code(mode));
                  },
                  {{dst, want}});
  }
}

// Not in the recordings: written from their relatives' rules.
TEST_F(Integer, SquareAndLimitsMatchTheReference) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype from = pick(kIntTypes);
    const Dtype to = is_signed_int(from) ? pick(kSignedTypes) : pick(kUnsignedTypes);
    const int shift = number(-32, 31);
    const Rounding mode = any_rounding();
    const bool saturate = chance(2);
    check(
        "int_square", to, {from}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          tpu_bdc_int_square(dst.addr, src[0].addr, shape, dst.strides(), src[0].strides(), code(to), code(from),
                             static_cast<char>(shift), code(mode), saturate);
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const Wide value = reference::int_value(v[0], from);
          return reference::finished(reference::shifted(value * value, shift, mode), saturate, to);
        });
    const std::uint32_t limit = random_bits(from);
    const bool least = chance(2);
    check(
        least ? "int_min_C" : "int_max_C", from, {from}, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          const auto function = least ? tpu_bdc_int_min_C : tpu_bdc_int_max_C;
          function(dst.addr, src[0].addr, scalar_of(limit), shape, dst.strides(), src[0].strides(), code(from),
                   static_cast<char>(shift), code(mode));
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          const bool above = reference::compare(v[0], limit, from) > 0;
          // The chip ignores the shift.
          return reference::finished(reference::int_value(above == least ? limit : v[0], from), true, from);
        });
  }
}

TEST_F(Integer, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 2, 3, 4};
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  const auto int_add = [&](data_type_t to, data_type_t from, int shift, int mode) {
    tpu_bdc_int_add(0, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, to, from, from, static_cast<char>(shift),
                    static_cast<rounding_mode_t>(mode), true);
  };
  refused([&] { int_add(DT_UINT8, DT_INT8, 0, 0); }, "has to be signed because a source is signed");
  refused([&] { int_add(DT_INT8, DT_UINT8, 0, 0); }, "has to be unsigned because both sources are unsigned");
  refused([&] { int_add(DT_INT8, DT_FP32, 0, 0); }, "src0 type is fp32");
  refused([&] { int_add(DT_INT32, DT_INT32, 32, 0); }, "shift (32) is outside -32..31");
  refused([&] { int_add(DT_INT32, DT_INT32, 0, 7); }, "rounding mode (7) is outside 0..6");
  refused(
      [&] {
        tpu_bdc_int_sub(0, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, DT_UINT8, DT_UINT8, DT_UINT8, 0,
                        RM_HALF_TO_EVEN, true);
      },
      "has to be signed for a difference");
  refused([&] { tpu_bdc_logical_shift_C(0, 0x400, 1, &shape, nullptr, nullptr, DT_INT8, DT_INT8, RM_DOWN); },
          "dst type is int8");
  refused([&] { tpu_bdc_arithmetic_shift_C(0, 0x400, 33, &shape, nullptr, nullptr, DT_INT8, DT_INT8, RM_DOWN); },
          "shift (33) is outside -32..32");
  refused([&] { tpu_bdc_cast(0, 0x400, &shape, nullptr, nullptr, DT_BFP16, DT_FP16, RM_DOWN); },
          "fp16 to bfp16 is not a conversion of the chip");
  refused([&] { tpu_bdc_cast(0, 0x400, &shape, nullptr, nullptr, DT_INT8, DT_FP32, RM_HALF_DOWN); },
          "does not round to integers");
  refused([&] { tpu_bdc_cast(0, 0x400, &shape, nullptr, nullptr, DT_INT4, DT_FP32, RM_DOWN); }, "dst type is int4");
  refused([&] { tpu_cast(scalar_t(), DT_BFP16, DT_FP16, RM_DOWN); }, "not converted into each other");
  refused([&] { tpu_data_type_size(DT_INT4); }, "4-bit types have no size in bytes");
  refused([&] { tpu_bdc_int_requant(0, 0x400, &shape, 3, 32, scalar_t(), DT_INT8, DT_INT32, RM_DOWN); },
          "shift (32) is outside -64..31");
}

// The first result lies where the second element is.
TEST_F(Integer, WidensNothingInPlace) {
  const dim4 shape = {1, 2, 3, 4};
  const auto refused = [&](const std::function<void()>& kernel) {
    device_.expect_fault(kernel, "is at dst's address (0x400)");
  };
  refused([&] { tpu_bdc_cast(0x400, 0x400, &shape, nullptr, nullptr, DT_FP32, DT_FP16, RM_HALF_TO_EVEN); });
  refused([&] { tpu_bdc_cast(0x400, 0x400, &shape, nullptr, nullptr, DT_INT16, DT_UINT8, RM_HALF_TO_EVEN); });
  refused([&] { tpu_bdc_fp32_dequant(0x400, 0x400, &shape, scalar_t{}, 2.0F, DT_INT8, RM_HALF_TO_EVEN); });
  refused([&] {
    tpu_bdc_int_add(0x400, 0x800, 0x400, &shape, nullptr, nullptr, nullptr, DT_INT32, DT_INT32, DT_INT8, 0,
                    RM_HALF_TO_EVEN, true);
  });
  refused([&] { tpu_bdc_table_lookup(0x400, 0x400, 0x1000, &shape, 16, DT_FP32, DT_UINT8); });
  const LaunchOutcome narrowed =
      device_.run([&] { tpu_bdc_cast(0x400, 0x400, &shape, nullptr, nullptr, DT_FP16, DT_FP32, RM_HALF_TO_EVEN); });
  EXPECT_TRUE(narrowed.ok) << narrowed.text;
}

TEST_F(Integer, DataTypesAnswer) {
  EXPECT_TRUE(device_
                  .run([] {
                    EXPECT_EQ(tpu_data_type_bits(DT_INT4), 4);
                    EXPECT_EQ(tpu_data_type_bits(DT_FP16), 16);
                    EXPECT_EQ(tpu_data_type_size(DT_FP32), 4);
                    EXPECT_TRUE(tpu_is_data_type_signed(DT_BFP16));
                    EXPECT_TRUE(tpu_is_data_type_int4(DT_UINT4));
                    EXPECT_FALSE(tpu_is_data_type_signed_int(DT_UINT4));
                    EXPECT_TRUE(tpu_is_data_type_int16(DT_UINT16));
                    EXPECT_FALSE(tpu_is_data_type_fp8(DT_FP16));
                  })
                  .ok);
}

}  // namespace
}  // namespace softtpu::integer_test
