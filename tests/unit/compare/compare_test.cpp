// Comparison and selection against the reference.
#include "tests/reference/elementwise.hpp"
#include "tests/unit/elementwise_fixture.hpp"

namespace softtpu::compare_test {
namespace {

constexpr Dtype kTypes[] = {Dtype::kFp32,  Dtype::kFp16,   Dtype::kBfp16, Dtype::kInt8,  Dtype::kUint8,
                            Dtype::kInt16, Dtype::kUint16, Dtype::kInt32, Dtype::kUint32};

scalar_t scalar_of(std::uint32_t bits) {
  scalar_t value = {};
  value.u32 = bits;
  return value;
}

class Comparison : public ElementwiseTest {};

TEST_F(Comparison, ComparisonsMatchTheReference) {
  struct Row {
    const char* name;
    decltype(&tpu_bdc_greater) tensor;
    decltype(&tpu_bdc_greater_C) constant;
    bool (*holds)(int);
  };
  const Row rows[] = {
      {"greater", tpu_bdc_greater, tpu_bdc_greater_C, [](int order) { return order > 0; }},
      {"less", tpu_bdc_less, tpu_bdc_less_C, [](int order) { return order < 0; }},
      {"equal", tpu_bdc_equal, tpu_bdc_equal_C, [](int order) { return order == 0; }},
      {"greater_equal", tpu_bdc_greater_equal, tpu_bdc_greater_equal_C, [](int order) { return order >= 0; }},
      {"less_equal", tpu_bdc_less_equal, tpu_bdc_less_equal_C, [](int order) { return order <= 0; }},
      {"not_equal", tpu_bdc_not_equal, tpu_bdc_not_equal_C, [](int order) { return order != 0; }},
  };
  for (int trial = 0; trial < 120; ++trial) {
    const Row& row = rows[static_cast<std::size_t>(trial) % std::size(rows)];
    const Dtype type = pick(kTypes);
    Dtype result = pick(kTypes);
    if (size_of(result) > size_of(type)) result = Dtype::kUint8;
    const std::uint32_t yes = random_bits(result);
    const std::uint32_t constant = random_bits(type);
    const bool with_constant = chance(2);
    std::vector<Dtype> sources = {type};
    if (!with_constant) sources.push_back(type);
    check(
        std::string(row.name) + " " + std::string(to_text(type)), result, sources, Layouts::kAny,
        [&](const CallOperand& dst, const std::vector<CallOperand>& src, const dim4* shape) {
          if (with_constant) {
            row.constant(dst.addr, src[0].addr, scalar_of(constant), scalar_of(yes), shape, dst.strides(),
                         src[0].strides(), code(result), code(type));
          } else {
            row.tensor(dst.addr, src[0].addr, src[1].addr, scalar_of(yes), shape, dst.strides(), src[0].strides(),
                       src[1].strides(), code(result), code(type));
          }
        },
        [&](const std::vector<std::uint32_t>& v, const auto&) {
          return row.holds(reference::compare(v[0], with_constant ? constant : v[1], type)) ? yes : 0U;
        });
  }
}

// Tensor, constant and one-value-per-NPU operands of the selections.
class Selection : public ElementwiseTest {
 protected:
  struct Variable {
    variable_t argument = {};
    std::vector<std::uint32_t> values;  // for each element of the shape
  };
  Variable variable(Dtype type, const Dim4& shape, int npu, int slot) {
    Variable made;
    const auto count = static_cast<std::size_t>(shape.elements());
    if (chance(3)) {
      const std::uint32_t bits = random_bits(type);
      made.argument.type = SCALAR;
      made.argument.context.scalar = scalar_of(bits);
      made.values.assign(count, bits);
      return made;
    }
    DeviceTensor tensor = operand(type, shape, npu, slot, Layouts::kAligned, false).tensor;
    made.argument.type = chance(3) ? VECTOR : TENSOR;
    if (made.argument.type == VECTOR) tensor.stride = {0, 0, 0, 0};
    made.argument.context.addr = tensor.addr(device_.chip());
    tensor.write(device_.chip(), memory(), random_values(type, shape.elements()));
    made.values = tensor.read(device_.chip(), memory());
    return made;
  }
};

TEST_F(Selection, MatchesTheReference) {
  for (int trial = 0; trial < 60; ++trial) {
    const Dim4 shape = random_shape();
    const int npu = number(0, 63);
    const Dtype compared = pick(kTypes);
    Dtype selected = pick(kTypes);
    const bool pair = trial % 2 == 0;
    if (size_of(selected) < size_of(compared) ||
        ((is_float(compared) || pair) && size_of(selected) != size_of(compared)))
      selected = compared;
    Variable v[4];
    for (int i = 0; i < 4; ++i) v[i] = variable(i < 2 ? compared : selected, shape, npu, i + 2);
    const DeviceTensor dst = operand(selected, shape, npu, 0, Layouts::kAligned, false).tensor;
    const DeviceTensor winner = operand(compared, shape, npu, 1, Layouts::kAligned, false).tensor;
    std::vector<std::uint32_t> want(v[0].values.size());
    std::vector<std::uint32_t> won(want.size());
    const int function = number(0, pair ? 1 : 2);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const int order = reference::compare(v[0].values[i], v[1].values[i], compared);
      const bool first = function == 0 ? order > 0 : function == 1 ? order < 0 : order == 0;
      want[i] = first ? v[2].values[i] : v[3].values[i];
      won[i] = reference::passed(first ? v[0].values[i] : v[1].values[i], compared);
    }
    const dim4 c_shape = dst.c_shape();
    const auto arguments = [&](auto call) { call(&v[0].argument, &v[1].argument, &v[2].argument, &v[3].argument); };
    const local_addr_t to = dst.addr(device_.chip());
    const local_addr_t to_winner = winner.addr(device_.chip());
    std::vector<Written> written = {{dst, want}};
    if (pair) written.push_back({winner, won});
    expect_memory(
        "select " + std::to_string(function),
        [&] {
          arguments([&](const variable_t* a, const variable_t* b, const variable_t* c, const variable_t* d) {
            const data_type_t ct = code(compared);
            const data_type_t st = code(selected);
            if (pair && function == 0) tpu_bdc_maximum_greater_select(to_winner, to, a, b, c, d, &c_shape, ct, st);
            if (pair && function == 1) tpu_bdc_minimum_less_select(to_winner, to, a, b, c, d, &c_shape, ct, st);
            if (!pair && function == 0) tpu_bdc_greater_select(to, a, b, c, d, &c_shape, ct, st);
            if (!pair && function == 1) tpu_bdc_less_select(to, a, b, c, d, &c_shape, ct, st);
            if (!pair && function == 2) tpu_bdc_equal_select(to, a, b, c, d, &c_shape, ct, st);
          });
        },
        written);
  }
}

TEST_F(Comparison, RefusesWhatTheChipCannotDo) {
  const dim4 shape = {1, 2, 3, 4};
  const auto refused = [&](const std::function<void()>& kernel, const std::string& text) {
    device_.expect_fault(kernel, text);
  };
  refused([&] { tpu_bdc_greater(0, 0x400, 0x800, scalar_of(1), &shape, nullptr, nullptr, nullptr, DT_FP32, DT_INT8); },
          "wider than the type of the sources");
  variable_t one = {};
  one.type = SCALAR;
  variable_t odd = one;
  const int unknown = 7;
  std::memcpy(&odd.type, &unknown, sizeof(odd.type));
  refused([&] { tpu_bdc_greater_select(0, &one, &one, &one, nullptr, &shape, DT_FP32, DT_FP32); }, "src3 is NULL");
  refused([&] { tpu_bdc_greater_select(0, &one, &odd, &one, &one, &shape, DT_FP32, DT_FP32); }, "src1 has type 7");
  refused([&] { tpu_bdc_greater_select(0, &one, &one, &one, &one, &shape, DT_FP16, DT_FP32); }, "as wide as");
  refused([&] { tpu_bdc_less_select(0, &one, &one, &one, &one, &shape, DT_INT16, DT_INT8); }, "at least as wide as");
}

}  // namespace
}  // namespace softtpu::compare_test
