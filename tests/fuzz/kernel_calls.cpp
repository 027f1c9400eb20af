#include "tests/fuzz/kernel_calls.hpp"

#include <algorithm>
#include <array>

#include "okk.h"
#include "tpu_kernel.h"

namespace softtpu::fuzz {
namespace {

// They read and write through host pointers with a length beside them, register functions, or write files: what their
// arguments may be is the C language's rule, which nothing can check.
constexpr std::string_view kExcluded[] = {
    "tpu_kernel_memcpy",
    "tpu_kernel_memset",
    "tpu_register_kernel_func",
    "okk_register_kernel_func",
    "tpu_dump_global_layer_data",
    "tpu_print_local_mem_data",
    "__print_trace",
    "tpu_dump_registered_kernel_funcs",
    "okk_dump_registered_kernel_funcs",
    "tpu_any_range_overlapped",
};

std::vector<KernelCall> make_calls() {
  std::vector<KernelCall> calls = {
#define OP(name, ...) {#name, Op::name, [](Arguments& arguments) { call(&::name, arguments); }},
#include "device/isa/ops.def"
  };
  std::erase_if(calls, [](const KernelCall& row) {
    return std::find(std::begin(kExcluded), std::end(kExcluded), row.name) != std::end(kExcluded);
  });
  return calls;
}

}  // namespace

std::span<const KernelCall> kernel_calls() {
  static const std::vector<KernelCall> calls = make_calls();
  return calls;
}

}  // namespace softtpu::fuzz
