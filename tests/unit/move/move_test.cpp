// Copies across NPUs, transposes, broadcasts, sequences and vector by vector functions.
#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/reference/sfu.hpp"
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu {
namespace {

constexpr Dtype kTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kInt8, Dtype::kUint16, Dtype::kInt32};

class Move : public ElementwiseTest {
 protected:
  LocalTensor made(Dtype type, const Dim4& shape, int npu, int slot) {
    const LocalTensor tensor = operand(type, shape, npu, slot, Layouts::kAligned, false).tensor;
    tensor.write(device_.chip(), memory(), random_values(type, shape.elements()));
    return tensor;
  }
  std::vector<std::uint32_t> read(const LocalTensor& tensor) { return tensor.read(device_.chip(), memory()); }
  local_addr_t at(const LocalTensor& tensor) { return tensor.addr(device_.chip()); }
};

std::size_t index_of(const Dim4& shape, int n, int c, int h, int w) {
  return static_cast<std::size_t>(((n * shape.c + c) * shape.h + h) * shape.w + w);
}

template <class Body>
void each(const Dim4& shape, Body body) {
  for (int n = 0; n < shape.n; ++n) {
    for (int c = 0; c < shape.c; ++c) {
      for (int h = 0; h < shape.h; ++h) {
        for (int w = 0; w < shape.w; ++w) body(n, c, h, w);
      }
    }
  }
}

TEST_F(Move, CopiesGoToOtherNpus) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype type = pick(kTypes);
    const Dim4 shape = random_shape();
    const LocalTensor src = made(type, shape, number(0, 63), 1);
    // Every third time the two overlap on other NPUs: the source is read completely before dst is written.
    const LocalTensor dst = made(type, shape, number(0, 63), trial % 3 == 0 ? 1 : 0);
    const auto values = read(src);
    const dim4 c_shape = src.c_shape();
    expect_memory("cpy_cross_npu", [&] { tpu_bdc_cpy_cross_npu(at(dst), at(src), &c_shape, code(type)); },
                  {{dst, values}});
  }
}

TEST_F(Move, BroadcastsAndTransposes) {
  for (int trial = 0; trial < 30; ++trial) {
    const Dtype type = pick(kTypes);
    const Dim4 shape = {number(1, 3), number(1, 40), number(1, 4), number(1, 70)};
    const dim4 c_shape = {shape.n, shape.c, shape.h, shape.w};
    const LocalTensor one = made(type, {shape.n, 1, shape.h, shape.w}, number(0, 63), 1);
    const LocalTensor all = made(type, shape, number(0, 64 - shape.c), 0);
    const auto source = read(one);
    std::vector<std::uint32_t> want(static_cast<std::size_t>(shape.elements()));
    each(shape, [&](int n, int c, int h, int w) {
      want[index_of(shape, n, c, h, w)] = source[index_of(one.shape, n, 0, h, w)];
    });
    expect_memory("npu_bcast", [&] { tpu_bdc_npu_bcast(at(all), at(one), &c_shape, code(type)); }, {{all, want}});

    const Dim4 turned = {shape.n, shape.w, shape.h, shape.c};
    const bool cw = trial % 2 == 0;
    const LocalTensor src = made(type, turned, cw ? 0 : number(0, 63), 1);
    LocalTensor dst = made(type, shape, cw ? number(0, 63) : 0, 0);
    if (cw) {
      const std::int64_t row = 64 / size_of(type);
      dst.stride.h = (shape.w + row - 1) / row * row;
      dst.stride.c = shape.h * dst.stride.h;
      dst.stride.n = (dst.npu + shape.c + 63) / 64 * dst.stride.c;
    }
    const auto values = read(src);
    each(shape,
         [&](int n, int c, int h, int w) { want[index_of(shape, n, c, h, w)] = values[index_of(turned, n, w, h, c)]; });
    const auto function = cw ? tpu_bdc_cw_trans : tpu_bdc_wc_trans;
    expect_memory(cw ? "cw_trans" : "wc_trans", [&] { function(at(dst), at(src), &c_shape, code(type)); },
                  {{dst, want}});
  }
}

TEST_F(Move, StaticMemoryAndSequences) {
  const int length = 50;
  const LocalTensor rows = made(Dtype::kInt32, {1, 7, 1, length}, 3, 0);
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const auto repeated = [&](const std::vector<std::uint32_t>& row) {
    std::vector<std::uint32_t> all;
    for (int c = 0; c < 7; ++c) all.insert(all.end(), row.begin(), row.end());
    return all;
  };
  // Static memory holds the integers from 0 at 0x5C0.
  expect_memory("bcast_from_static", [&] { tpu_bdc_npu_bcast_from_static(at(rows), 0x5C0, 7, length, DT_INT32); },
                {{rows, repeated(numbers)}});
  expect_memory("the same by system address",
                [&] { tpu_bdc_npu_bcast_from_static(at(rows), 0x090005C0, 7, length, DT_INT32); },
                {{rows, repeated(numbers)}});
  LocalTensor spread = LocalTensor::aligned(device_.chip(), Dtype::kInt32, {1, length, 1, 1}, 0, 0x4004);
  spread.stride = {1, 1, 1, 1};
  expect_memory("distribute_from_static",
                [&] { tpu_bdc_npu_distribute_from_static(at(spread), 0x5C0, length, DT_INT32); }, {{spread, numbers}});
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 2147483640U + 3 * static_cast<std::uint32_t>(i);
  expect_memory("sequence_bcast", [&] { tpu_bdc_arithmetic_sequence_bcast(at(rows), 7, 2147483640, 3, length); },
                {{rows, repeated(numbers)}});
  const LocalTensor apart = made(Dtype::kInt32, {1, length, 1, 1}, 0, 2);
  expect_memory("sequence_distribute_aligned",
                [&] { tpu_bdc_arithmetic_sequence_distribute_aligned(at(apart), 2147483640, 3, length); },
                {{apart, numbers}});
  std::vector<std::uint32_t> going_on;
  for (std::uint32_t i = 0; i < 7 * numbers.size(); ++i) going_on.push_back(2147483640U + 3 * i);
  expect_memory("sequence_general",
                [&] { tpu_bdc_arithmetic_sequence_general(at(rows), 0x8000, 7, 2147483640, 3, length); },
                {{rows, going_on}});
  expect_memory("sequence_distribute",
                [&] { tpu_bdc_arithmetic_sequence_distribute(at(spread), 2147483640, 3, length); },
                {{spread, numbers}});
}

// A vector by vector function: what it computes of two elements, and which types it takes.
struct VectorRow {
  using Call = void (*)(local_addr_t, local_addr_t, local_addr_t, int, int, int, int, data_type_t);
  using CompareCall = void (*)(local_addr_t, local_addr_t, local_addr_t, scalar_t, int, int, int, int, data_type_t,
                               data_type_t);
  using IntCall = void (*)(local_addr_t, local_addr_t, local_addr_t, int, int, int, int, data_type_t, data_type_t,
                           data_type_t, bool);
  const char* name;
  Call call = nullptr;
  CompareCall compare = nullptr;
  IntCall integers = nullptr;
  decltype(&tpu_bdc_fp32_vc_div) f32 = nullptr;
  std::uint32_t (*element)(std::uint32_t, std::uint32_t, Dtype) = nullptr;
};

constexpr std::uint32_t kYes = 0x34;  // of a comparison that holds

std::uint32_t float_step(float (*step)(float, float), std::uint32_t a, std::uint32_t b, Dtype type) {
  return reference::stored(step(reference::loaded(a, type), reference::loaded(b, type)), type);
}
std::uint32_t wide_step(reference::Wide value, Dtype type) {
  return reference::low_bits(reference::clamped(value, type), type);
}
template <bool Holds(int)>
std::uint32_t yes_if(std::uint32_t a, std::uint32_t b, Dtype type) {
  return Holds(reference::compare(a, b, type)) ? kYes : 0;
}
bool is_greater(int order) { return order > 0; }
bool is_less(int order) { return order < 0; }
bool is_equal(int order) { return order == 0; }
bool is_greater_equal(int order) { return order >= 0; }
bool is_less_equal(int order) { return order <= 0; }
bool is_not_equal(int order) { return order != 0; }

const VectorRow kVectorRows[] = {
    {.name = "fp_vc_add",
     .call = tpu_bdc_fp_vc_add,
     .element = [](auto a, auto b, Dtype t) { return float_step(reference::add, a, b, t); }},
    {.name = "fp_vc_sub",
     .call = tpu_bdc_fp_vc_sub,
     .element = [](auto a, auto b, Dtype t) { return float_step(reference::sub, a, b, t); }},
    {.name = "fp_vc_mul",
     .call = tpu_bdc_fp_vc_mul,
     .element = [](auto a, auto b, Dtype t) { return float_step(reference::mul, a, b, t); }},
    {.name = "fp32_vc_div",
     .f32 = tpu_bdc_fp32_vc_div,
     .element = [](auto a, auto b, Dtype t) { return reference::divide(a, b, 3, t); }},
    {.name = "vc_max", .call = tpu_bdc_vc_max, .element = reference::max},
    {.name = "vc_min", .call = tpu_bdc_vc_min, .element = reference::min},
    {.name = "vc_and", .call = tpu_bdc_vc_and, .element = [](auto a, auto b, Dtype) { return a & b; }},
    {.name = "vc_or", .call = tpu_bdc_vc_or, .element = [](auto a, auto b, Dtype) { return a | b; }},
    {.name = "vc_xor", .call = tpu_bdc_vc_xor, .element = [](auto a, auto b, Dtype) { return a ^ b; }},
    {.name = "vc_greater", .compare = tpu_bdc_vc_greater, .element = yes_if<is_greater>},
    {.name = "vc_less", .compare = tpu_bdc_vc_less, .element = yes_if<is_less>},
    {.name = "vc_equal", .compare = tpu_bdc_vc_equal, .element = yes_if<is_equal>},
    {.name = "vc_greater_equal", .compare = tpu_bdc_vc_greater_equal, .element = yes_if<is_greater_equal>},
    {.name = "vc_less_equal", .compare = tpu_bdc_vc_less_equal, .element = yes_if<is_less_equal>},
    {.name = "vc_not_equal", .compare = tpu_bdc_vc_not_equal, .element = yes_if<is_not_equal>},
    {.name = "int_vc_add",
     .integers = tpu_bdc_int_vc_add,
     .element =
         [](auto a, auto b, Dtype t) {
           return wide_step(reference::Wide{reference::int_value(a, t)} + reference::int_value(b, t), t);
         }},
    {.name = "int_vc_sub",
     .integers = tpu_bdc_int_vc_sub,
     .element =
         [](auto a, auto b, Dtype t) {
           return wide_step(reference::Wide{reference::int_value(a, t)} - reference::int_value(b, t), t);
         }},
    {.name = "int_vc_mul",
     .integers = tpu_bdc_int_vc_mul,
     .element =
         [](auto a, auto b, Dtype t) {
           return wide_step(reference::Wide{reference::int_value(a, t)} * reference::int_value(b, t), t);
         }},
};

TEST_F(Move, VectorByVectorMatchesTheReference) {
  constexpr Dtype kFloatTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16};
  constexpr Dtype kSignedTypes[] = {Dtype::kInt8, Dtype::kInt16, Dtype::kInt32};
  for (int trial = 0; trial < 108; ++trial) {
    const VectorRow& row = kVectorRows[static_cast<std::size_t>(trial) % std::size(kVectorRows)];
    const int len0 = number(1, 40);
    const int len1 = number(1, 90);
    const int per0 = number(1, len0);
    const int per1 = number(1, len1);
    const int channels = (len1 + per1 - 1) / per1;
    const int npu = number(0, 63);
    const bool floats = std::string_view(row.name).starts_with("fp_");
    const Dtype type = row.f32 != nullptr        ? Dtype::kFp32
                       : floats                  ? pick(kFloatTypes)
                       : row.integers != nullptr ? pick(kSignedTypes)
                                                 : pick(kTypes);
    const LocalTensor a = made(type, {1, (len0 + per0 - 1) / per0, 1, per0}, npu, 1);
    const LocalTensor b = made(type, {1, channels, 1, per1}, npu, 2);
    const LocalTensor dst = made(type, {len0, channels, 1, per1}, npu, 0);
    const auto x = read(a);
    const auto y = read(b);
    std::vector<std::uint32_t> want;
    // Columns past the length belong to the last channel and are computed too.
    for (int i = 0; i < len0; ++i) {
      for (const std::uint32_t value : y) want.push_back(row.element(x[static_cast<std::size_t>(i)], value, type));
    }
    scalar_t yes = {};
    yes.u32 = kYes;
    const data_type_t dtype = code(type);
    expect_memory(std::string(row.name) + " " + std::string(to_text(type)),
                  [&, to = at(dst), first = at(a), second = at(b)] {
                    if (row.call) row.call(to, first, second, len0, len1, per0, per1, dtype);
                    if (row.compare) row.compare(to, first, second, yes, len0, len1, per0, per1, dtype, dtype);
                    if (row.f32) row.f32(to, first, second, len0, len1, per0, per1);
                    if (row.integers)
                      row.integers(to, first, second, len0, len1, per0, per1, dtype, dtype, dtype, true);
                  },
                  {{dst, want}});
  }
}

TEST_F(Move, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 5, 2, 7};
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  refused([&] { tpu_bdc_npu_bcast(60 * 0x40000, 0x400, &shape, DT_FP32); }, "starts on NPU 60 and needs 5 NPUs");
  refused([&] { tpu_bdc_cw_trans(0, 0x40000, &shape, DT_FP32); }, "src starts on NPU 1");
  refused([&] { tpu_bdc_wc_trans(0x40000, 0, &shape, DT_FP32); }, "dst starts on NPU 1");
  refused([&] { tpu_bdc_arithmetic_sequence_distribute(0xC0404, 306, 33, 33); }, "dst starts on NPU 3");
  refused([&] { tpu_bdc_arithmetic_sequence_distribute_aligned(0x40000, 1, 1, 5); }, "dst starts on NPU 1");
  refused([&] { tpu_bdc_arithmetic_sequence_general(60 * 0x40000, 0x400, 5, 1, 1, 5); },
          "starts on NPU 60 and needs 5");
  refused([&] { tpu_bdc_npu_bcast_from_static(0, 4, 3, 5, DT_FP32); }, "is not a multiple of 64");
  refused([&] { tpu_bdc_npu_bcast_from_static(0, 65472, 3, 16, DT_FP32); }, "end below the end of static memory");
  refused([&] { tpu_bdc_arithmetic_sequence_bcast(0, 0, 1, 1, 5); }, "npu_num (0) is outside");
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 0, 4, 4, 4, DT_FP32); }, "src0_len (0) is outside 1..65535");
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 4, 4, 4, -1, DT_FP32); }, "src1_len_per_channel (-1)");
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 4, 4, 4, 4, DT_INT8); }, "dst type is int8");
  refused([&] { tpu_bdc_vc_max(0, 0x404, 0x800, 4, 4, 4, 4, DT_INT8); }, "src0 address (0x404)");
}

}  // namespace
}  // namespace softtpu
