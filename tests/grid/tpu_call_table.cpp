#include "tests/grid/call_table.hpp"
#include "tpu_kernel.h"

namespace softtpu::grid {

const std::vector<Function>& tpu_functions() {
  static const std::vector<Function> all = {
#define FUNCTION(name, ...) {#name, {__VA_ARGS__}, caller(&name)},
#include "tpu_signatures.inc"
#undef FUNCTION
  };
  return all;
}

}  // namespace softtpu::grid
