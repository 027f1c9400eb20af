// What the assertion macros of kernels end in.
#include <fmt/format.h>

#include <boost/stacktrace.hpp>
#include <cstdio>
#include <cstdlib>

#include "device/core/core.hpp"
#include "tpu_kernel.h"

extern "C" {

void softtpu_kernel_assert_fail(const char* expression, const char* file, int line, const char* function) {
  const std::string text = fmt::format("{}:{}: {}: Assertion \"{}\" failed.", file, line, function, expression);
  if (softtpu::Core* core = softtpu::Core::current()) core->fail_assertion(text);
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

// Kernels call it in their own assertion macros; the trace goes to stdout as the SDK's does.
void __print_trace(void) { std::fputs(boost::stacktrace::to_string(boost::stacktrace::stacktrace()).c_str(), stdout); }

// Non-zero: assertion macros are active.
int get_atomic_cmodel_assert_enable(void) { return 1; }
}
