// unreachable(value): what stands after a switch over all enumerators. Aborts with the value: it can only be a defect
// of softtpu.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace softtpu {

// The builtins stand for std::source_location, which Clang 14 lacks.
template <class Enum>
[[noreturn]] void unreachable(Enum value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  std::fprintf(stderr, "softtpu: internal error: unexpected value %lld at %s:%d\n", static_cast<long long>(value), file,
               line);
  std::abort();
}

}  // namespace softtpu
