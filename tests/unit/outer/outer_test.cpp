// Vector by vector functions against the reference.
#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/reference/sfu.hpp"
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu::outer_test {
namespace {

constexpr Dtype kTypes[] = {Dtype::kFp32, Dtype::kFp16, Dtype::kInt8, Dtype::kUint16, Dtype::kInt32};

class Outer : public TensorTest {};

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

TEST_F(Outer, VectorByVectorMatchesTheReference) {
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
    const DeviceTensor a = made(type, {1, (len0 + per0 - 1) / per0, 1, per0}, npu, 1);
    const DeviceTensor b = made(type, {1, channels, 1, per1}, npu, 2);
    const DeviceTensor dst = made(type, {len0, channels, 1, per1}, npu, 0);
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

TEST_F(Outer, RefusesWhatTheChipCannotDo) {
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 0, 4, 4, 4, DT_FP32); }, "src0_len (0) is outside 1..65535");
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 4, 4, 4, -1, DT_FP32); }, "src1_len_per_channel (-1)");
  refused([&] { tpu_bdc_fp_vc_add(0, 0x400, 0x800, 4, 4, 4, 4, DT_INT8); }, "dst type is int8");
  refused([&] { tpu_bdc_vc_max(0, 0x404, 0x800, 4, 4, 4, 4, DT_INT8); }, "src0 address (0x404)");
}

}  // namespace
}  // namespace softtpu::outer_test
