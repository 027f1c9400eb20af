// What okk_* functions need besides the defaults.
#include "okk.h"
#include "tests/grid/recipes.hpp"

namespace softtpu::grid {
namespace {

const std::vector<Rule> kRules = {
    {"*", "rshift=3 lshift=2 kernel_h=2 kernel_w=2 output_c=66 using_bias=1"},
    {"okk_bdc_fixed_point_packed_*", "shape=9,66,3,4"},
    {"okk_bdc_fixed_point_packed_*", "op_type=31"},     // S8_OP_S8_TO_S8
    {"okk_bdc_fixed_point_packed_mac*", "op_type=23"},  // S8_OP_S8_TO_S16
};

const std::vector<Preparation> kPreparations = {
    {"okk_parallel_end", [](std::span<const Value>) { okk_parallel_start(); }, true},
};

}  // namespace

const Recipes& okk_recipes() {
  static const Recipes all = {okk_functions(), kRules, kPreparations};
  return all;
}

}  // namespace softtpu::grid
