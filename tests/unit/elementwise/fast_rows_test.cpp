// Element-wise commands and windows give the same memory with plain loops and with SIMD rows, for every instruction set
// of this machine and the rules of several chips: random shapes, strides and constants, special values, operands in
// place and side by side.
#include "device/engines/bdc/rows/fast_rows.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/command.hpp"
#include "device/numeric/float_unit.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace softtpu::fast_rows_test {
namespace {

constexpr Dtype kTypes[] = {Dtype::kFp32,  Dtype::kFp16,   Dtype::kBfp16, Dtype::kInt8,  Dtype::kUint8,
                            Dtype::kInt16, Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};
constexpr Dtype kFloatTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16};
constexpr std::uint32_t kSlotBytes = 1536;  // of one operand on each NPU
constexpr int kRounds = 12;

// With the rules of another chip.
Chip small_chip(const char* rules) {
  Chip chip = *load_chip("demo4");
  chip.rules = load_chip(rules)->rules;
  chip.local_bytes = 8192;
  chip.local_mem.bytes = std::uint64_t{chip.local_bytes} * static_cast<unsigned>(chip.npu_num);
  return chip;
}

// An instruction set ("" is the best one), and the chip whose rules hold.
using Variant = std::tuple<const char*, const char*>;

class FastRows : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    const auto [instructions, rules] = GetParam();
    const bool has_avx2 = std::string_view(rules) == "demo4" || std::string_view(rules) == "bm1684x";
    if (*instructions == '\0' && has_avx2 && best_is_avx2()) GTEST_SKIP() << "avx2 is the best";
    if (!set_simd_limit(instructions)) GTEST_SKIP() << "this machine has no " << instructions;
    memories_ = std::move(*Memories::create(small_chip(rules)));
    image_.resize(memories_->chip().local_mem.bytes);
  }
  void TearDown() override {
    set_plain_kernels(false);
    set_simd_limit("");
  }

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int of) { return number(1, of) == 1; }
  Rounding any_rounding() { return static_cast<Rounding>(number(0, 6)); }
  Rounding integral_rounding() { return static_cast<Rounding>(number(0, 4)); }

  // A third of the values are special ones of some type; or all are positive, and nothing special in any float type.
  void fill_image() {
    static const std::uint32_t kSpecial[] = {
        0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x007FFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
        0x7F800001, 0xFFABCDEF, 0x7FC00000, 0x40200000, 0xBFC00000, 0x477FF000, 0x477FEFFF, 0x33000001, 0x33000000,
        0x38FFFFFF, 0x387FF000, 0x4F000000, 0x4EFFFFFF, 0xCF000000, 0x4F800000, 0x4B000001, 0xCAFFFFFF, 0x7BFF7C00,
        0xFC007C01, 0x03FF0400, 0x83FF8001, 0x7F80FF80, 0x7F7F0080, 0x807F7FFF, 0x3C003F80, 0xBE00FFFF,
        // Their product is the least normal number only when it is rounded.
        0x1FFFF800, 0x20000400};
    auto* words = reinterpret_cast<std::uint32_t*>(image_.data());
    for (std::size_t i = 0; i < image_.size() / 4; ++i) {
      const auto any = static_cast<std::uint32_t>(random_());
      if (ordinary_) {
        words[i] = (0x3000U + any % 0x1C00U) * 0x10001U;
        continue;
      }
      const float moderate = std::uniform_real_distribution<float>(-300, 300)(random_);
      words[i] = any % 3 == 0   ? kSpecial[any / 3 % std::size(kSpecial)]
                 : any % 3 == 1 ? std::bit_cast<std::uint32_t>(moderate)
                                : any;
    }
  }

  void new_shape() {
    shape_ = {number(1, 2), number(1, 9), number(1, 3), number(1, 40)};
    if (chance(3)) shape_ = {1, number(1, 4), 1, number(1, 350)};
    if (chance(6)) shape_.w = 1;
    // Lanes of few elements, which are brought together in one row.
    if (chance(4)) shape_ = {number(1, 2), number(3, memories_->chip().npu_num), number(1, 2), number(1, 5)};
    npu_ = number(0, memories_->chip().npu_num - 1);
  }
  Tensor tensor(Dtype type, int slot, bool may_repeat) {
    const Chip& chip = memories_->chip();
    const int size = size_of(type);
    const int groups = (npu_ + shape_.c - 1) / chip.npu_num + 1;
    Tensor made{Space::kLocal, 0, shape_, {}, type, false};
    while (true) {
      Stride4& stride = made.stride;
      stride.w = chance(4) ? 2 : 1;
      stride.h = shape_.w * stride.w + (chance(3) ? number(0, 5) : 0);
      stride.c = shape_.h * stride.h + (chance(3) ? number(0, 5) : 0);
      stride.n = groups * stride.c;
      if (shape_.n * stride.n * size + 64 <= static_cast<int>(kSlotBytes)) break;
      shape_.w = std::max(1, shape_.w / 2);
      made.shape = shape_;
    }
    if (may_repeat && chance(3)) made.stride = {0, made.stride.c, 0, 0};
    if (may_repeat && chance(8)) made.stride.h = 0;
    const auto offset = static_cast<std::uint32_t>(slot) * kSlotBytes + static_cast<std::uint32_t>(number(0, 8) * size);
    made.addr = static_cast<std::uint32_t>(npu_) * chip.local_bytes + offset;
    return made;
  }
  Tensor target(Dtype type) { return tensor(type, 0, false); }
  Operand source(Dtype type, int slot) {
    if (chance(5)) return Scalar{static_cast<std::uint32_t>(random_()), type};
    return tensor(type, slot, true);
  }
  // dst itself, a part of it, or a tensor of its own.
  Operand source_near(const Tensor& dst, Dtype type, int slot) {
    if (type != dst.dtype || !chance(4)) return source(type, slot);
    Tensor same = dst;
    if (chance(3)) same.addr += static_cast<unsigned>(size_of(type) * number(1, 3));
    return same;
  }

  template <class Cmd>
  void compare(const Cmd& cmd, const std::string& what) {
    fill_image();
    std::uint8_t* memory = memories_->local(0);
    const auto run = [&](bool plain) {
      std::memcpy(memory, image_.data(), image_.size());
      set_plain_kernels(plain);
      const FpuScope modes;
      execute(*memories_, cmd);
      return std::vector<std::uint8_t>(memory, memory + image_.size());
    };
    const std::vector<std::uint8_t> plain = run(true);
    const std::vector<std::uint8_t> fast = run(false);
    if (plain == fast) return;
    const auto at = std::mismatch(plain.begin(), plain.end(), fast.begin()).first - plain.begin();
    std::string operands;
    for_each_operand(cmd, [&](Access, const char* name, const Operand& operand) {
      operands += std::string("\n  ") + name + " " + to_text(operand);
    });
    FAIL() << what << ": byte " << at << " differs" << operands;
  }
  // Random shapes for one kind of command. A shape that is too large for a slot shrinks while the operands are made;
  // then they are made again.
  template <class Make>
  void check(const std::string& what, Make make, int count = kRounds) {
    for (int i = 0; i < count; ++i) {
      new_shape();
      auto cmd = make();
      while (!(cmd.dst.shape == shape_)) cmd = make();
      ASSERT_NO_FATAL_FAILURE(compare(cmd, what));
    }
  }

  std::mt19937 random_{11};
  std::unique_ptr<Memories> memories_;
  std::vector<std::uint8_t> image_;
  bool ordinary_ = false;
  Dim4 shape_;
  int npu_ = 0;
};

TEST_P(FastRows, Arithmetic) {
  for (int mode = 0; mode <= static_cast<int>(ArithMode::kXor); ++mode) {
    const auto arith = static_cast<ArithMode>(mode);
    const bool any = arith == ArithMode::kMax || arith == ArithMode::kMin;
    const bool bits = arith >= ArithMode::kAnd;
    for (const Dtype type : kTypes) {
      if (is_float(type) ? bits : !any && !bits) continue;
      check("arith mode " + std::to_string(mode) + " " + std::string(to_text(type)), [&] {
        const Tensor dst = target(type);
        return ArithCmd{arith, dst, source_near(dst, type, 1), source_near(dst, type, 2)};
      });
    }
  }
}

TEST_P(FastRows, OneOperand) {
  for (int mode = 0; mode <= static_cast<int>(UnaryMode::kRound); ++mode) {
    const auto unary = static_cast<UnaryMode>(mode);
    for (const Dtype type : kTypes) {
      if (is_float(type) ? unary == UnaryMode::kNot : unary == UnaryMode::kRound) continue;
      check("unary mode " + std::to_string(mode) + " " + std::string(to_text(type)), [&] {
        return UnaryCmd{unary, integral_rounding(), target(type), tensor(type, 1, true)};
      });
    }
  }
}

TEST_P(FastRows, Conversions) {
  for (const Dtype to : kTypes) {
    for (const Dtype from : kTypes) {
      const bool halves = is_float(to) && is_float(from) && size_of(to) == 2 && size_of(from) == 2;
      if (to == from || halves) continue;
      for (int mode = 0; mode <= 6; ++mode) {
        const auto rounding = static_cast<Rounding>(mode);
        if (is_integer(to) && mode > 4) continue;
        check(
            std::string(to_text(from)) + " to " + std::string(to_text(to)) + " " + std::string(to_text(rounding)),
            [&] {
              return CastCmd{target(to), tensor(from, 1, true), rounding};
            },
            4);
      }
    }
  }
}

TEST_P(FastRows, Selection) {
  for (int compare = 1; compare <= 6; ++compare) {
    for (const Dtype compared : kTypes) {
      for (const Dtype selected : {Dtype::kUint8, Dtype::kUint16, Dtype::kUint32}) {
        check(
            "select " + std::to_string(compare) + " " + std::string(to_text(compared)),
            [&] {
              const Tensor dst = target(selected);
              return SelectCmd{static_cast<Compare>(compare),
                               dst,
                               std::nullopt,
                               source(compared, 1),
                               source(compared, 2),
                               source_near(dst, selected, 3),
                               source(selected, 4)};
            },
            6);
      }
    }
  }
}

TEST_P(FastRows, ProductsWithASum) {
  for (const Dtype type : kFloatTypes) {
    check("scale and bias", [&] {
      return ScaleBiasCmd{target(type), tensor(type, 1, true), source(type, 2), source(type, 3)};
    });
  }
  check("mac", [&] {
    MacCmd cmd;
    cmd.dst = target(Dtype::kFp32);
    cmd.a = source(Dtype::kFp32, 1);
    cmd.b = source(Dtype::kFp32, 2);
    return cmd;
  });
}

TEST_P(FastRows, Integers) {
  for (int mode = 0; mode <= static_cast<int>(IntMode::kMin); ++mode) {
    for (const Dtype type : kTypes) {
      if (is_float(type)) continue;
      for (const bool saturate : {false, true}) {
        check("integers mode " + std::to_string(mode) + " " + std::string(to_text(type)), [&] {
          const Tensor dst = target(type);
          return IntArithCmd{static_cast<IntMode>(mode),
                             dst,
                             source_near(dst, type, 1),
                             source(type, 2),
                             Scalar{0, Dtype::kInt8},
                             any_rounding(),
                             saturate};
        });
      }
    }
  }
}

// Operands of one size, signed or not, and of others.
TEST_P(FastRows, ShiftedIntegers) {
  constexpr Dtype kIntegers[] = {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16, Dtype::kInt32};
  const auto any = [&](Dtype near) {
    if (chance(4)) return kIntegers[number(0, 4)];
    const int first = size_of(near) == 1 ? 0 : size_of(near) == 2 ? 2 : 4;
    return kIntegers[first == 4 ? 4 : first + number(0, 1)];
  };
  for (int mode = 0; mode <= static_cast<int>(IntMode::kMin); ++mode) {
    for (const Dtype type : kIntegers) {
      check(
          "shifted integers mode " + std::to_string(mode) + " " + std::string(to_text(type)),
          [&] {
            const Tensor dst = target(type);
            const int places = chance(4) ? number(-40, 40) : number(-9, 3);
            return IntArithCmd{static_cast<IntMode>(mode),
                               dst,
                               source_near(dst, any(type), 1),
                               source(any(type), 2),
                               Scalar{static_cast<std::uint8_t>(places), Dtype::kInt8},
                               any_rounding(),
                               chance(2)};
          },
          4 * kRounds);
    }
  }
}

TEST_P(FastRows, Shifts) {
  for (const Dtype type : kTypes) {
    if (is_float(type)) continue;
    for (const bool same_type : {true, false}) {
      check(
          "shift " + std::string(to_text(type)),
          [&] {
            const Dtype from = same_type ? type : kTypes[number(3, 8)];
            const Tensor dst = target(type);
            const Tensor src = from == type && chance(4) ? dst : tensor(from, 1, true);
            const auto places = static_cast<std::uint8_t>(number(-40, 40));
            return ShiftCmd{dst, src, Scalar{places, Dtype::kInt8}, any_rounding()};
          },
          6 * kRounds);
    }
  }
}

// Parameters for each channel, for each element and constant; shifts that 64 bits hold and that they do not.
TEST_P(FastRows, Quantisation) {
  constexpr Dtype kNarrow[] = {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16};
  constexpr Dtype kBroad[] = {Dtype::kInt16, Dtype::kUint16, Dtype::kInt32};
  for (const Quant direction : {Quant::kRequant, Quant::kDequant}) {
    for (const Dtype narrow : kNarrow) {
      for (const Dtype broad : kBroad) {
        const bool requant = direction == Quant::kRequant;
        const Dtype offset_type = is_signed_int(narrow) ? Dtype::kInt16 : Dtype::kUint16;
        check(
            "quantisation " + std::string(to_text(narrow)) + " " + std::string(to_text(broad)),
            [&] {
              const auto parameter = [&](Dtype type, int slot, std::uint32_t constant) -> Operand {
                if (chance(3)) return Scalar{constant, type};
                Tensor made = tensor(type, slot, false);
                if (!chance(4)) made.stride = {0, made.stride.c, 0, 0};
                return made;
              };
              IntQuantCmd cmd;
              cmd.direction = direction;
              cmd.dst = target(requant ? narrow : broad);
              cmd.src = tensor(requant ? broad : narrow, 1, true);
              if (cmd.src.dtype == cmd.dst.dtype && chance(4)) cmd.src = cmd.dst;
              cmd.multiplier =
                  parameter(Dtype::kInt32, 2, static_cast<std::uint32_t>(random_()) >> (chance(2) ? 0 : number(1, 31)));
              cmd.shift = parameter(Dtype::kInt8, 3, static_cast<std::uint8_t>(-number(chance(3) ? -64 : 0, 64)));
              cmd.offset = parameter(offset_type, 4, static_cast<std::uint16_t>(random_()));
              cmd.rounding = any_rounding();
              return cmd;
            },
            3 * kRounds);
      }
    }
  }
}

TEST_P(FastRows, SeriesRootsAndQuotients) {
  for (const Dtype type : kFloatTypes) {
    check("taylor", [&] {
      TaylorCmd cmd{target(type), tensor(type, 1, true), {}};
      cmd.coeff.addr = 4 * kSlotBytes;
      cmd.coeff.shape = {1, memories_->chip().npu_num, 1, number(1, 16)};
      cmd.coeff.dtype = type;
      return cmd;
    });
    check("quotient", [&] {
      const Tensor dst = target(type);
      return DivideCmd{dst, source_near(dst, type, 1), source_near(dst, type, 2), number(1, 4)};
    });
    // Loops that take several vectors at once go on without the rules of NaNs until one comes.
    for (const bool ordinary : {false, true}) {
      ordinary_ = ordinary;
      for (const RootMode mode : {RootMode::kRsqrt, RootMode::kSqrt})
        check("root", [&] { return RootCmd{mode, target(type), tensor(type, 1, true), number(1, 4)}; });
    }
    ordinary_ = false;
  }
}

// Windows of every kind over small feature maps, with padding and inserted values.
class FastWindows : public FastRows {
 protected:
  static constexpr std::uint32_t kInput = 0, kOutput = 3072, kWeights = 6144, kBias = 7168;

  Tensor local(std::uint32_t offset, const Dim4& shape, Dtype type) {
    const Chip& chip = memories_->chip();
    Tensor made{Space::kLocal, 0, shape, {}, type, false};
    made.stride.w = 1;
    made.stride.h = shape.w;
    made.stride.c = std::int64_t{shape.h} * shape.w;
    made.stride.n = ((npu_ + shape.c - 1) / chip.npu_num + 1) * made.stride.c;
    made.addr = static_cast<std::uint32_t>(npu_) * chip.local_bytes + offset;
    return made;
  }
  static bool fits(const Tensor& tensor, std::uint32_t bytes) {
    return tensor.shape.n * tensor.stride.n * size_of(tensor.dtype) <= static_cast<std::int64_t>(bytes);
  }

  PoolCmd window(PoolMode mode, Dtype type, Dtype dst_type) {
    while (true) {
      PoolCmd cmd;
      npu_ = number(0, memories_->chip().npu_num - 1);
      cmd.mode = mode;
      cmd.window.kernel = {number(1, 4), number(1, 4)};
      cmd.window.stride = {number(1, 3), number(1, 3)};
      cmd.window.dilation = {number(1, 2), number(1, 2)};
      if (chance(3)) cmd.window.insert = {number(0, 2), number(0, 2)};
      cmd.window.padding = {number(0, 3), number(0, 3), number(0, 3), number(0, 3)};
      cmd.src = local(kInput, {number(1, 2), number(1, 6), number(1, 9), number(1, 40)}, type);
      const Dim2 output = output_size(cmd.src.shape, cmd.window);
      cmd.dst = local(kOutput, {cmd.src.shape.n, cmd.src.shape.c, output.h, output.w}, dst_type);
      if (chance(4)) cmd.src.stride.w = 2, cmd.src.stride.h *= 2, cmd.src.stride.c *= 2, cmd.src.stride.n *= 2;
      if (output.h == 0 || output.w == 0 || !fits(cmd.src, kOutput) || !fits(cmd.dst, kWeights - kOutput)) continue;
      cmd.padding = Scalar{static_cast<std::uint32_t>(random_()), type};
      cmd.insertion = Scalar{static_cast<std::uint32_t>(random_()), type};
      return cmd;
    }
  }
  void add_weights(PoolCmd& cmd, Dtype type, Dtype bias_type) {
    const Dim2& kernel = cmd.window.kernel;
    cmd.weight = local(kWeights, {1, cmd.src.shape.c, kernel.h, kernel.w}, type);
    cmd.window.rotated_180 = chance(3);
    if (chance(2)) cmd.bias = local(kBias, {1, cmd.src.shape.c, 1, 1}, bias_type);
  }
};

TEST_P(FastWindows, MaximumAndMinimum) {
  for (const Dtype type : kTypes) {
    for (const PoolMode mode : {PoolMode::kMax, PoolMode::kMin}) {
      for (int i = 0; i < kRounds; ++i) ASSERT_NO_FATAL_FAILURE(compare(window(mode, type, type), "extreme"));
    }
  }
}

TEST_P(FastWindows, SumsOfFloats) {
  for (const Dtype type : kFloatTypes) {
    for (int i = 0; i < 3 * kRounds; ++i) {
      PoolCmd average = window(PoolMode::kAverage, type, type);
      average.weight = Scalar{static_cast<std::uint32_t>(random_()), type};
      ASSERT_NO_FATAL_FAILURE(compare(average, "average"));
      PoolCmd depthwise = window(PoolMode::kDepthwise, type, type);
      add_weights(depthwise, type, type);
      ASSERT_NO_FATAL_FAILURE(compare(depthwise, "depthwise"));
    }
  }
}

TEST_P(FastWindows, SumsOfBytes) {
  for (int i = 0; i < 8 * kRounds; ++i) {
    PoolCmd cmd = window(PoolMode::kDepthwise, chance(2) ? Dtype::kInt8 : Dtype::kUint8,
                         chance(2) ? Dtype::kInt16 : Dtype::kUint32);
    cmd.bias_type = Dtype::kInt32;
    cmd.rshift = number(0, 8);
    cmd.rounding = Rounding::kHalfUp;
    add_weights(cmd, chance(2) ? Dtype::kInt8 : Dtype::kUint8, Dtype::kInt32);
    ASSERT_NO_FATAL_FAILURE(compare(cmd, "depthwise of bytes"));
  }
}

std::string name_of(const testing::TestParamInfo<Variant>& variant) {
  const std::string instructions = std::get<0>(variant.param);
  return (instructions.empty() ? "best" : instructions) + "_" + std::get<1>(variant.param);
}
const auto kVariants = testing::Values(Variant{"sse4", "demo4"}, Variant{"avx2", "demo4"}, Variant{"avx512", "demo4"},
                                       Variant{"", "demo4"}, Variant{"sse4", "bm1684x"}, Variant{"avx2", "bm1684x"},
                                       Variant{"", "bm1684x"}, Variant{"", "bm1688"}, Variant{"", "bm1690"});
INSTANTIATE_TEST_SUITE_P(InstructionSets, FastWindows, kVariants, name_of);
INSTANTIATE_TEST_SUITE_P(InstructionSets, FastRows, kVariants, name_of);

}  // namespace
}  // namespace softtpu::fast_rows_test
