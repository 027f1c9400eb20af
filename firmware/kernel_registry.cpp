// What the registration macros of tpu_kernel.h and okk.h call. The registry itself is shared with the device.
#include "runtime/module/kernel_registry.hpp"

#include <cstdio>

#include "okk.h"
#include "tpu_kernel.h"

namespace {

void add(const char* caller, const char* name, softtpu::KernelFunction function) {
  if (name == nullptr || *name == '\0' || function == nullptr) {
    std::fprintf(stderr, "%s: the %s is NULL%s; nothing is registered.\n", caller,
                 function == nullptr ? "function" : "name", name != nullptr && *name == '\0' ? " (empty)" : "");
    return;
  }
  softtpu::kernel_registry().add(name, function);
}

}  // namespace

extern "C" {

// Objects of either generation call it: with two arguments, or with a third that names the form.
void(tpu_register_kernel_func)(const char* name, tpu_kernel_func_t func) {
  add("tpu_register_kernel_func", name, func);
}
void okk_register_kernel_func(const char* name, okk_kernel_func_t func) { add("okk_register_kernel_func", name, func); }
void tpu_dump_registered_kernel_funcs(void) { softtpu::kernel_registry().dump(); }
void okk_dump_registered_kernel_funcs(void) { softtpu::kernel_registry().dump(); }

}  // extern "C"
