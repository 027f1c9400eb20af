// Every function of one chip family is refused by name on the other one: none is silently ignored.
#include "device/isa/op_names.hpp"
#include "okk.h"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::chip_family_test {
namespace {

template <class R, class... P>
void call_with_zeros(R (*function)(P...)) {
  (void)function(P()...);
}

struct Row {
  Op op;
  void (*call)();
};
const Row kRows[] = {
#define OP(family, name, ...) {Op::name, [] { call_with_zeros(&name); }},
#include "device/isa/ops.def"
};

// Questions that concern no chip: registration, assertion macros, the code of a data type.
bool answers_everywhere(Op op) {
  const Op free[] = {Op::tpu_register_kernel_func,
                     Op::tpu_dump_registered_kernel_funcs,
                     Op::okk_register_kernel_func,
                     Op::okk_dump_registered_kernel_funcs,
                     Op::__print_trace,
                     Op::get_atomic_cmodel_assert_enable,
                     Op::tpu_is_data_type_fp8};
  return std::find(std::begin(free), std::end(free), op) != std::end(free);
}

class ChipFamily : public testing::TestWithParam<const char*> {};

TEST_P(ChipFamily, RefusesTheFunctionsOfTheOther) {
  TestDevice device(GetParam());
  const std::vector<std::uint8_t> before = device.local_bytes();
  int refused = 0;
  for (const Row& row : kRows) {
    const std::string name(info(row.op).name);
    if (info(row.op).api == device.chip().api || answers_everywhere(row.op)) continue;
    const LaunchOutcome outcome = device.run(row.call);
    EXPECT_FALSE(outcome.ok) << name;
    EXPECT_EQ(outcome.kind, ErrorKind::kUnsupported) << name;
    EXPECT_EQ(outcome.text.find(name + ": BM1684"), 0U) << outcome.text;
    ++refused;
  }
  EXPECT_TRUE(before == device.local_bytes()) << "a refused call changed local memory";
  RecordProperty("functions", refused);
}

INSTANTIATE_TEST_SUITE_P(Chips, ChipFamily, testing::Values("bm1684x", "bm1684"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace softtpu::chip_family_test
