// unreachable(value): what stands after a switch over all enumerators. Aborts with the value: it can only be a defect
// of softtpu.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace softtpu {

template <class Enum>
[[noreturn]] void unreachable(Enum value, std::source_location where = std::source_location::current()) {
  std::fprintf(stderr, "softtpu: internal error: unexpected value %lld at %s:%u\n", static_cast<long long>(value),
               where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace softtpu
