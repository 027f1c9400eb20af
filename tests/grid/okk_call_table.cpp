#include "okk.h"
#include "tests/grid/call_table.hpp"

namespace softtpu::grid {

const std::vector<Function>& okk_functions() {
  static const std::vector<Function> all = {
#define FUNCTION(name, ...) {#name, {__VA_ARGS__}, caller(&name)},
#include "okk_signatures.inc"
#undef FUNCTION
  };
  return all;
}

}  // namespace softtpu::grid
