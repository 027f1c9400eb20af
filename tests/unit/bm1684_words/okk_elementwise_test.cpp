// BM1684's functions on 32-bit elements against the reference: random shapes, start NPUs, strides, repeated and
// in-place operands, constants; refusals that change nothing.
#include "tests/reference/bm1684.hpp"
#include "tests/unit/okk_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::okk_elementwise_test {
namespace {

namespace ref = reference::bm1684;
using Word = std::uint32_t;

constexpr std::uint32_t kDst = 0x0000;
constexpr std::uint32_t kSrc0 = 0x10000;
constexpr std::uint32_t kSrc1 = 0x20000;
constexpr std::uint32_t kWork = 0x30000;
constexpr int kTrials = 12;  // of each function

// One call as the functions' arguments need it.
struct Arguments {
  local_addr_t dst, a, b;
  const dim4 *shape, *dst_stride, *a_stride, *b_stride;
  Word constant, selected;
  float real() const { return std::bit_cast<float>(constant); }
  int integer() const { return static_cast<int>(constant); }
  static x32 union_of(Word bits) {
    x32 value;
    value.u32 = bits;
    return value;
  }
};
// What one element is computed from.
struct Element {
  Word a, b, old, constant, selected;
};
struct Row {
  const char* name;
  int sources;
  void (*call)(const Arguments& k);
  Word (*want)(const Element& x);
};

#define BINARY(function, result)                                                                                      \
  {                                                                                                                   \
#function, 2, [](const Arguments& k) { function(k.dst, k.a, k.b, k.shape, k.dst_stride, k.a_stride, k.b_stride); }, \
        [](const Element& x) -> Word { return result; } \
  }
#define WITH_CONSTANT(function, constant, result)                                                                      \
  {                                                                                                                    \
#function, 1,                                                                                                      \
        [](const Arguments&                                                                                            \
               k) { function(k.dst, k.a, constant, k.shape, k.dst_stride, k.a_stride); },                              \
                                                                                       [](const Element& x)            \
                                                                                            -> Word { return result; } \
  }
#define UNARY(function, result)                                                                                 \
  {                                                                                                             \
#function, 1,                                                                                               \
        [](const Arguments&                                                                                     \
               k) { function(k.dst, k.a, k.shape, k.dst_stride, k.a_stride); }, [](const Element& x)            \
                                                                                     -> Word { return result; } \
  }
#define SELECT_VALUE_C(function, result)                                                                           \
  {                                                                                                                \
#function, 1,                                                                                                    \
        [](const Arguments& k) {                                                                                 \
          function(k.dst, k.a, k.real(), k.union_of(k.selected), k.shape, k.dst_stride, k.a_stride);             \
        },                                                                                                       \
        [](const Element& x) -> Word { return result; } \
  }
#define SELECT_VALUE(function, result)                                                                             \
  {                                                                                                                \
#function, 2,                                                                                                    \
        [](const Arguments& k) {                                                                                 \
          function(k.dst, k.a, k.b, k.union_of(k.selected), k.shape, k.dst_stride, k.a_stride, k.b_stride);      \
        },                                                                                                       \
        [](const Element& x) -> Word { return result; } \
  }

const Row kRows[] = {
    BINARY(okk_bdc_add, ref::add(x.a, x.b)),
    BINARY(okk_bdc_sub, ref::sub(x.a, x.b)),
    BINARY(okk_bdc_mul, ref::mul(x.a, x.b)),
    BINARY(okk_bdc_div, ref::div(x.a, x.b)),
    BINARY(okk_bdc_max, ref::max(x.a, x.b)),
    BINARY(okk_bdc_min, ref::min(x.a, x.b)),
    BINARY(okk_bdc_mac, ref::mac(x.a, x.b, x.old)),
    BINARY(okk_bdc_32bit_and, x.a& x.b),
    BINARY(okk_bdc_32bit_or, x.a | x.b),
    BINARY(okk_bdc_32bit_xor, x.a ^ x.b),
    BINARY(okk_bdc_32bit_arithmetic_shift, ref::shift(x.a, x.b, true)),
    BINARY(okk_bdc_32bit_logical_shift, ref::shift(x.a, x.b, false)),
    SELECT_VALUE(okk_bdc_greater_select_value, ref::greater(x.a, x.b) ? x.selected : 0),
    SELECT_VALUE(okk_bdc_equal_select_value, x.a == x.b ? x.selected : 0),
    WITH_CONSTANT(okk_bdc_add_C, k.real(), ref::add(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_sub_C, k.real(), ref::sub(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_C_sub, k.real(), ref::sub(x.constant, x.a)),
    WITH_CONSTANT(okk_bdc_mul_C, k.real(), ref::mul(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_div_C, k.real(), ref::div(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_C_div, k.real(), ref::div(x.constant, x.a)),
    WITH_CONSTANT(okk_bdc_max_C, k.real(), ref::max(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_min_C, k.real(), ref::min(x.a, x.constant)),
    WITH_CONSTANT(okk_bdc_mac_C, k.real(), ref::mac(x.a, x.constant, x.old)),
    WITH_CONSTANT(okk_bdc_32bit_and_C, k.union_of(k.constant), x.a& x.constant),
    WITH_CONSTANT(okk_bdc_32bit_or_C, k.union_of(k.constant), x.a | x.constant),
    WITH_CONSTANT(okk_bdc_32bit_xor_C, k.union_of(k.constant), x.a ^ x.constant),
    WITH_CONSTANT(okk_bdc_32bit_arithmetic_shift_C, k.integer(), ref::shift(x.a, x.constant, true)),
    WITH_CONSTANT(okk_bdc_32bit_logical_shift_C, k.integer(), ref::shift(x.a, x.constant, false)),
    WITH_CONSTANT(okk_bdc_32bit_C_arithmetic_shift, k.integer(), ref::shift(x.constant, x.a, true)),
    WITH_CONSTANT(okk_bdc_32bit_C_logical_shift, k.constant, ref::shift(x.constant, x.a, false)),
    SELECT_VALUE_C(okk_bdc_greater_C_select_value, ref::greater(x.a, x.constant) ? x.selected : 0),
    SELECT_VALUE_C(okk_bdc_C_greater_select_value, ref::greater(x.constant, x.a) ? x.selected : 0),
    SELECT_VALUE_C(okk_bdc_equal_C_select_value, x.a == x.constant ? x.selected : 0),
    UNARY(okk_bdc_32bit_cpy, x.a),
    UNARY(okk_bdc_relu, ref::relu(x.a)),
    UNARY(okk_bdc_neg, ref::neg(x.a)),
    UNARY(okk_bdc_reciprocal, ref::reciprocal(x.a)),
    {"okk_bdc_32bit_set_C", 0,
     [](const Arguments& k) { okk_bdc_32bit_set_C(k.dst, k.union_of(k.constant), k.shape, k.dst_stride); },
     [](const Element& x) { return x.constant; }},
};

class OkkElementwise : public OkkTest {
 protected:
  // A tensor with strides of its own or, where `given` stays false, in the layout of a NULL stride.
  DeviceTensor place(const Dim4& shape, int npu, std::uint32_t offset, bool is_source, bool& given) {
    const DeviceTensor natural = aligned(shape, npu, offset + 4U * static_cast<unsigned>(number(0, 9)));
    given = number(0, 2) != 0;
    if (!given) return natural;
    const DeviceTensor gaps = spread(natural);
    return is_source && flip() ? repeated(gaps) : gaps;
  }

  void check(const Row& row, bool in_place) {
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    bool given[3] = {};
    DeviceTensor dst = place(shape, npu, kDst, false, given[0]);
    const DeviceTensor b = place(shape, npu, kSrc1, true, given[2]);
    DeviceTensor a = place(shape, npu, kSrc0, true, given[1]);
    if (in_place) a = dst, given[1] = given[0];
    const Words old = put_random(dst);
    const Words y = put_random(b);
    const Words x = in_place ? old : put_random(a);
    const Word constant = random_word();
    const Word selected = random_word();
    Words result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = row.want({x[i], y[i], old[i], constant, selected});
    const dim4 dim = dst.c_shape();
    const dim4 strides[] = {dst.c_stride(), a.c_stride(), b.c_stride()};
    const auto stride = [&](std::size_t i) { return given[i] ? &strides[i] : nullptr; };
    expect_result(
        [&] {
          row.call({addr(dst), addr(a), addr(b), &dim, stride(0), stride(1), stride(2), constant, selected});
        },
        dst, result, row.name);
  }
};

TEST_F(OkkElementwise, FunctionsMatchTheReference) {
  for (const Row& row : kRows) {
    for (int trial = 0; trial < kTrials; ++trial) check(row, row.sources > 0 && trial % 4 == 0);
  }
}

// ---- 128-byte aligned layout only ----

struct AlignedRow {
  const char* name;
  void (*call)(local_addr_t dst, local_addr_t src, local_addr_t work, const dim4* shape, int terms);
  Word (*want)(Word x, int terms);
  // What the work tensor holds afterwards; null: there is none, or nothing is known about it.
  Word (*work)(Word x, int terms);
  bool has_work, tunable;
};

#define ALIGNED(function, result)                                                                                  \
  {                                                                                                                \
#function, [](local_addr_t dst, local_addr_t src, local_addr_t, const dim4* shape,                             \
                  int) { function(dst, src, shape); }, [](Word x, int) -> Word { return result; }, nullptr, false, \
                                                                                                false              \
  }
#define WITH_WORK(function, result, left_over)                                              \
  {                                                                                         \
#function, [](local_addr_t dst, local_addr_t src, local_addr_t work, const dim4* shape, \
                  int) { function(dst, src, work, shape); }, result, left_over, true, false \
  }
#define TUNABLE(function, result, left_over) \
  { #function, function, result, left_over, true, true }

const AlignedRow kAligned[] = {
    ALIGNED(okk_bdc_rsqrt, ref::rsqrt(x)),
    ALIGNED(okk_bdc_sqrt, ref::sqrt(x)),
    ALIGNED(okk_bdc_fp32_to_int32, ref::to_int32(x)),
    ALIGNED(okk_bdc_lookup_int32_to_fp32, ref::lookup_int32_to_fp32(x)),
    ALIGNED(okk_bdc_lookup_exp, ref::lookup_exp(x)),
    {"okk_bdc_taylor_exp",
     [](local_addr_t dst, local_addr_t src, local_addr_t, const dim4* shape, int terms) {
       okk_bdc_taylor_exp(dst, src, shape, terms);
     },
     ref::taylor_exp, nullptr, false, true},
    WITH_WORK(okk_bdc_exp, ref::exp, ref::exp_series),
    WITH_WORK(okk_bdc_sigmoid, ref::sigmoid, nullptr),
    WITH_WORK(okk_bdc_tanh, ref::tanh, nullptr),
    TUNABLE(okk_bdc_exp_tunable, ref::exp, ref::exp_series),
    TUNABLE(okk_bdc_sigmoid_tunable, ref::sigmoid, nullptr),
    TUNABLE(okk_bdc_tanh_tunable, ref::tanh, nullptr),
};

TEST_F(OkkElementwise, AlignedFunctionsMatchTheReference) {
  constexpr int kDefaultTerms = 32;
  for (const AlignedRow& row : kAligned) {
    for (int trial = 0; trial < kTrials; ++trial) {
      const DeviceTensor src = aligned(random_shape(), number(0, 63), kSrc0);
      DeviceTensor dst = src, work = src;
      work.offset = kWork;
      // exp and what is made of it lose the fraction when they work in place (a recorded property).
      if (row.has_work || trial % 3 != 0) dst.offset = kDst;
      const Words x = put_random(src);
      const Words before = put_random(work);
      const int terms = row.tunable ? number(1, 64) : kDefaultTerms;
      Words result(x.size());
      Words left(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        result[i] = row.want(x[i], terms);
        left[i] = row.work != nullptr ? row.work(x[i], terms) : before[i];
      }
      want(dst, result);
      want(work, left);
      const dim4 dim = src.c_shape();
      std::vector<DeviceTensor> scratch;
      if (row.has_work && row.work == nullptr) scratch.push_back(work);
      expect_image([&] { row.call(addr(dst), addr(src), addr(work), &dim, terms); }, row.name, scratch);
    }
  }
}

// ---- selects of tensors and constants ----

// A tensor or a constant as an operand of a select: its values, and the caller's union.
template <class Union>
struct SelectOperand {
  std::vector<Word> values;
  Union given;
};

class OkkSelect : public OkkElementwise {
 protected:
  template <class Union>
  SelectOperand<Union> operand(bool is_tensor, DeviceTensor tensor, std::uint32_t offset) {
    SelectOperand<Union> made;
    made.given.is_addr = is_tensor;
    tensor.offset = offset;
    if (is_tensor) {
      made.values = put_random(tensor);
      made.given.context.addr = addr(tensor);
    } else {
      const Word constant = random_word();
      made.values.assign(static_cast<std::size_t>(tensor.shape.elements()), constant);
      std::memcpy(&made.given.context.val, &constant, sizeof constant);
    }
    return made;
  }
};

TEST_F(OkkSelect, MatchesTheReference) {
  for (int trial = 0; trial < 4 * 16; ++trial) {
    const bool wants_greater = trial % 2 == 0;
    const int kinds = trial / 2 % 16;  // which of the four operands are tensors
    const DeviceTensor dst = aligned(random_shape(), number(0, 63), kDst);
    const auto a = operand<fp32_or_addr_t>((kinds & 1) != 0, dst, kSrc0);
    auto b = operand<fp32_or_addr_t>((kinds & 2) != 0, dst, kSrc1);
    const auto yes = operand<x32_or_addr_t>((kinds & 4) != 0, dst, kWork);
    const auto no = operand<x32_or_addr_t>((kinds & 8) != 0, dst, 0x40000);
    if (trial % 3 == 0) b = a;  // so that something is equal
    Words result;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      const bool holds = wants_greater ? ref::greater(a.values[i], b.values[i]) : ref::equal(a.values[i], b.values[i]);
      result.push_back(holds ? yes.values[i] : no.values[i]);
    }
    const dim4 dim = dst.c_shape();
    const auto function = wants_greater ? okk_bdc_greater_select : okk_bdc_equal_select;
    expect_result([&] { function(addr(dst), &a.given, &b.given, &yes.given, &no.given, &dim); }, dst, result,
                  wants_greater ? "greater_select" : "equal_select");
  }
}

// ---- one value per channel ----

TEST_F(OkkElementwise, ChannelFunctionsMatchTheReference) {
  enum { kBias, kScale, kScaleBias };
  for (int trial = 0; trial < 3 * kTrials; ++trial) {
    const int kind = trial % 3;
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    bool given[2] = {};
    const DeviceTensor dst = place(shape, npu, kDst, false, given[0]);
    DeviceTensor src = place(shape, npu, kSrc0, true, given[1]);
    if (trial % 5 == 0) src = dst, given[1] = given[0];
    const auto per_channel = [&](std::uint32_t offset) {
      return DeviceTensor{Dtype::kFp32, {1, shape.c, 1, 1}, npu, offset, {0, 1, 1, 1}};
    };
    const DeviceTensor scale = per_channel(kSrc1), bias = per_channel(kWork);
    const Words x = put_random(src), s = put_random(scale), b = put_random(bias);
    Words result;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / static_cast<std::size_t>(shape.h * shape.w) % static_cast<std::size_t>(shape.c);
      const Word product = ref::mul(x[i], s[c]);
      const bool adds_zero = !given[0] && !given[1];  // scale without strides
      result.push_back(kind == kBias        ? ref::add(x[i], b[c])
                       : kind == kScaleBias ? ref::add(product, b[c])
                       : adds_zero          ? ref::add(product, 0)
                                            : product);
    }
    const dim4 dim = dst.c_shape(), dst_stride = dst.c_stride(), src_stride = src.c_stride();
    const dim4* d = given[0] ? &dst_stride : nullptr;
    const dim4* r = given[1] ? &src_stride : nullptr;
    const auto kernel = [&] {
      if (kind == kBias) okk_bdc_bias(addr(dst), addr(src), addr(bias), &dim, d, r);
      if (kind == kScale) okk_bdc_scale(addr(dst), addr(src), addr(scale), &dim, d, r);
      if (kind == kScaleBias) okk_bdc_scale_bias(addr(dst), addr(src), addr(scale), addr(bias), &dim, d, r);
    };
    expect_result(kernel, dst, result, kind == kBias ? "bias" : kind == kScale ? "scale" : "scale_bias");
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
}  // namespace softtpu::okk_elementwise_test
