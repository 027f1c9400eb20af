// BM1684's element-wise and fixed-point functions against the reference: random shapes, start NPUs, strides, operands
// in place; refusals that change nothing.
#include <bit>

#include "device/memory/parallel.hpp"
#include "tests/reference/bm1684.hpp"
#include "tests/unit/okk_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

namespace ref = reference::bm1684;

constexpr std::uint32_t kDst = 0x0000;
constexpr std::uint32_t kSrc0 = 0x10000;
constexpr std::uint32_t kSrc1 = 0x20000;

using BinaryFunction = void (*)(local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*,
                                const dim4*);
struct BinaryRow {
  const char* name;
  BinaryFunction function;
  std::uint32_t (*want)(std::uint32_t a, std::uint32_t b);
};
const BinaryRow kBinary[] = {
    {"add", okk_bdc_add, ref::add},
    {"sub", okk_bdc_sub, ref::sub},
    {"mul", okk_bdc_mul, ref::mul},
    {"div", okk_bdc_div, ref::div},
    {"max", okk_bdc_max, ref::max},
    {"min", okk_bdc_min, ref::min},
    {"and", okk_bdc_32bit_and, [](std::uint32_t a, std::uint32_t b) { return a & b; }},
    {"or", okk_bdc_32bit_or, [](std::uint32_t a, std::uint32_t b) { return a | b; }},
    {"xor", okk_bdc_32bit_xor, [](std::uint32_t a, std::uint32_t b) { return a ^ b; }},
    {"arithmetic shift", okk_bdc_32bit_arithmetic_shift,
     [](std::uint32_t a, std::uint32_t b) { return ref::shift(a, b, true); }},
    {"logical shift", okk_bdc_32bit_logical_shift,
     [](std::uint32_t a, std::uint32_t b) { return ref::shift(a, b, false); }},
};

TEST_F(OkkTest, BinaryFunctionsMatchTheReference) {
  for (int trial = 0; trial < 44; ++trial) {
    const BinaryRow& row = kBinary[static_cast<std::size_t>(trial) % std::size(kBinary)];
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    LocalTensor a = aligned(shape, npu, kSrc0);
    LocalTensor b = aligned(shape, npu, kSrc1 + 4U * static_cast<unsigned>(number(0, 9)));
    LocalTensor dst = aligned(shape, npu, trial % 5 == 0 ? kSrc0 : kDst);
    const bool strides = trial % 3 == 0 && dst.offset != kSrc0;
    if (strides) dst = spread(dst), b = spread(b);
    const Words x = put_random(a);
    const Words y = put_random(b);
    Words want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = row.want(x[i], y[i]);
    const dim4 dim = dst.c_shape();
    const dim4 dst_stride = dst.c_stride();
    const dim4 b_stride = b.c_stride();
    expect_result(
        [&] {
          row.function(addr(dst), addr(a), addr(b), &dim, strides ? &dst_stride : nullptr, nullptr,
                       strides ? &b_stride : nullptr);
        },
        dst, want, row.name);
  }
}

using UnaryFunction = void (*)(local_addr_t, local_addr_t, const dim4*);
struct UnaryRow {
  const char* name;
  UnaryFunction function;
  std::uint32_t (*want)(std::uint32_t x);
};
const UnaryRow kUnary[] = {{"rsqrt", okk_bdc_rsqrt, ref::rsqrt},
                           {"sqrt", okk_bdc_sqrt, ref::sqrt},
                           {"fp32_to_int32", okk_bdc_fp32_to_int32, ref::to_int32}};

TEST_F(OkkTest, UnaryFunctionsMatchTheReference) {
  for (int trial = 0; trial < 12; ++trial) {
    const UnaryRow& row = kUnary[static_cast<std::size_t>(trial) % std::size(kUnary)];
    const Dim4 shape = random_shape();
    const LocalTensor src = aligned(shape, number(0, 63), kSrc0);
    LocalTensor dst = src;
    if (trial % 2 == 0) dst.offset = kDst;
    const Words x = put_random(src);
    Words want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = row.want(x[i]);
    const dim4 dim = src.c_shape();
    expect_result([&] { row.function(addr(dst), addr(src), &dim); }, dst, want, row.name);
  }
}

TEST_F(OkkTest, ExpMatchesTheReference) {
  const Dim4 shape{2, 70, 3, 11};
  const LocalTensor src = aligned(shape, 5, kSrc0);
  const LocalTensor dst = aligned(shape, 5, kDst);
  const LocalTensor work = aligned(shape, 5, kSrc1);
  const dim4 dim = src.c_shape();
  for (const int terms : {1, 2, 7, 32, 40, 64}) {
    const Words x = put_random(src);
    ASSERT_TRUE(device_.run([&] { okk_bdc_exp_tunable(addr(dst), addr(src), addr(work), &dim, terms); }).ok);
    const Words got = dst.read(device_.chip(), memory());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(got[i], ref::exp(x[i], terms)) << "terms " << terms << ", x " << std::bit_cast<float>(x[i]);
    }
  }
}

// ---- fixed point ----

struct FixedRow {
  const char* name;
  op_type_t type;
  int a_bytes, dst_bytes;
  bool a_signed, b_signed, dst_signed;
};
const FixedRow kFixed[] = {{"S8_OP_U8_TO_S8", S8_OP_U8_TO_S8, 1, 1, true, false, true},
                           {"S8_OP_S8_TO_S16", S8_OP_S8_TO_S16, 1, 2, true, true, true},
                           {"U16_OP_S16_TO_S8", U16_OP_S16_TO_S8, 2, 1, false, true, true},
                           {"U16_OP_U16_TO_U16", U16_OP_U16_TO_U16, 2, 2, false, false, false}};

// Where element n of a packed tensor lies, in bytes from NPU 0.
std::uint64_t packed_at(const Chip& chip, const LocalTensor& words, int bytes, int n, int c, int h, int w) {
  const int pack = 4 / bytes;
  const std::int64_t word = n / pack * words.stride.n + (words.npu + c) / chip.npu_num * words.stride.c +
                            h * words.stride.h + w * words.stride.w;
  return static_cast<std::uint64_t>((words.npu + c) % chip.npu_num) * chip.local_bytes + words.offset +
         static_cast<std::uint64_t>(word) * 4 + static_cast<std::uint64_t>(n % pack * bytes);
}
std::int64_t packed_value(const std::uint8_t* at, int bytes, bool is_signed) {
  std::int64_t value = 0;
  std::memcpy(&value, at, static_cast<std::size_t>(bytes));
  const std::int64_t span = std::int64_t{1} << 8 * bytes;
  return is_signed && value >= span / 2 ? value - span : value;
}

TEST_F(OkkTest, FixedPointSumsMatchTheReference) {
  const Chip& chip = device_.chip();
  for (int trial = 0; trial < 16; ++trial) {
    const FixedRow& row = kFixed[static_cast<std::size_t>(trial) % std::size(kFixed)];
    const dim4 dim = {number(1, 9), number(1, 70), number(1, 3), number(1, 9)};
    const int npu = number(0, 63);
    const int rshift = number(0, 9);
    const auto words = [&](int bytes, std::uint32_t offset) {
      const int pack = 4 / bytes;
      return aligned({(dim.n + pack - 1) / pack, dim.c, dim.h, dim.w}, npu, offset);
    };
    const LocalTensor a = words(row.a_bytes, kSrc0);
    const LocalTensor b = words(row.a_bytes, kSrc1);
    const LocalTensor dst = words(row.dst_bytes, kDst);
    put_random(a), put_random(b), put_random(dst);
    image_.assign(memory(), memory() + chip.local_mem.bytes);
    for (int n = 0; n < dim.n; ++n) {
      for (int c = 0; c < dim.c; ++c) {
        for (int h = 0; h < dim.h; ++h) {
          for (int w = 0; w < dim.w; ++w) {
            const auto x =
                packed_value(memory() + packed_at(chip, a, row.a_bytes, n, c, h, w), row.a_bytes, row.a_signed);
            const auto y =
                packed_value(memory() + packed_at(chip, b, row.a_bytes, n, c, h, w), row.a_bytes, row.b_signed);
            const std::int64_t sum = ref::finish(x + y, rshift, 8 * row.dst_bytes, row.dst_signed);
            std::memcpy(image_.data() + packed_at(chip, dst, row.dst_bytes, n, c, h, w), &sum,
                        static_cast<std::size_t>(row.dst_bytes));
          }
        }
      }
    }
    const LaunchOutcome outcome = device_.run([&] {
      okk_bdc_fixed_point_packed_add(addr(dst), addr(a), addr(b), &dim, nullptr, nullptr, nullptr, row.type, rshift);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    ASSERT_EQ(std::memcmp(image_.data(), memory(), image_.size()), 0) << row.name << ", rshift " << rshift;
  }
}

// ---- refusals ----

const dim4 kShape = {2, 3, 4, 5};

TEST_F(OkkTest, RefusesWhatTheChipCannotDo) {
  const dim4 wide = {1, 4096, 1, 1};
  const dim4 none = {1, 1, 0, 1};
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0, kSrc1, &wide, nullptr, nullptr, nullptr); },
                       "shape.c (4096) is outside 1..4095");
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0, kSrc1, &none, nullptr, nullptr, nullptr); }, "shape.h (0)");
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0, kSrc1, nullptr, nullptr, nullptr, nullptr); }, "shape is NULL");
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0 + 2, kSrc1, &kShape, nullptr, nullptr, nullptr); },
                       "not a multiple of the element size (4)");
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0, 0x2000000, &kShape, nullptr, nullptr, nullptr); },
                       "lies beyond local memory");
  device_.expect_fault([&] { okk_bdc_add(kDst, kSrc0, 0x80000, &kShape, nullptr, nullptr, nullptr); },
                       "start NPU of src1 (1) differs");
  device_.expect_fault([&] { okk_bdc_rsqrt(kDst, kSrc0 + 4, &kShape); },
                       "src address (0x10004) is not a multiple of 128");
  device_.expect_fault([&] { okk_bdc_taylor_exp(kDst, kSrc0, &kShape, 0); }, "number of series terms (0)");
  device_.expect_fault([&] { okk_bdc_exp(kDst, kSrc0, kSrc0, &kShape); }, "work and src have the same address");
  device_.expect_fault([&] { okk_bdc_sigmoid_tunable(kDst, kSrc0, kSrc1, &kShape, 65); },
                       "number of series terms (65)");
  device_.expect_fault([&] { okk_bdc_greater_select(kDst, nullptr, nullptr, nullptr, nullptr, &kShape); },
                       "src0 is NULL");
}

TEST_F(OkkTest, RefusesFixedPointTypesAndShifts) {
  const auto add = [](op_type_t type, int rshift) {
    okk_bdc_fixed_point_packed_add(kDst, kSrc0, kSrc1, &kShape, nullptr, nullptr, nullptr, type, rshift);
  };
  device_.expect_fault([&] { add(U8_OP_U8_TO_S8, 0); }, "the result must be unsigned");
  device_.expect_fault([&] { add(S8_OP_S8_TO_S8, 32); }, "rshift (32) is outside 0..31");
  device_.expect_fault(
      [&] { okk_bdc_fixed_point_packed_add_C(kDst, kSrc0, 200, &kShape, nullptr, nullptr, S8_OP_S8_TO_S8, 0); },
      "C (200) is outside -128..127");
  device_.expect_fault(
      [&] {
        okk_bdc_fixed_point_packed_mac(kDst, kSrc0, kSrc1, &kShape, nullptr, nullptr, nullptr, true, S8_OP_S8_TO_S16,
                                       16, 0);
      },
      "lshift (16) is outside 0..15");
}

TEST_F(OkkTest, OneThreadGivesTheSameBits) {
  const Dim4 shape{4, 70, 40, 33};
  const LocalTensor a = aligned(shape, 3, kSrc0);
  const LocalTensor b = aligned(shape, 3, 0x40000);
  const LocalTensor dst = aligned(shape, 3, 0x60000 - 0x8000);
  put_random(a), put_random(b);
  const dim4 dim = a.c_shape();
  const auto run = [&] {
    EXPECT_TRUE(device_.run([&] { okk_bdc_div(addr(dst), addr(a), addr(b), &dim, nullptr, nullptr, nullptr); }).ok);
    return dst.read(device_.chip(), memory());
  };
  const Words many = run();
  set_thread_limit(1);
  const Words one = run();
  set_thread_limit(0);
  EXPECT_EQ(many, one);
}

// ---- which chip has which functions ----

TEST(OkkFamily, ATpuKernelChipRefusesOkkFunctions) {
  TestDevice device("bm1684x");
  device.expect_fault([] { okk_bdc_add(kDst, 0x4000, 0x8000, &kShape, nullptr, nullptr, nullptr); },
                      "okk_bdc_add: BM1684X has no OKKernel functions; it runs tpu_*.");
}

TEST(OkkFamily, Bm1684RefusesTpuFunctions) {
  TestDevice device("bm1684");
  device.expect_fault([] { tpu_bdc_fp_add(kDst, kSrc0, kSrc1, &kShape, nullptr, nullptr, nullptr, DT_FP32); },
                      "tpu_bdc_fp_add: BM1684 has no TPUKernel functions; it runs okk_*.");
}

}  // namespace
}  // namespace softtpu
