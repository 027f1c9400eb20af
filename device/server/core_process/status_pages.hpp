// Both pages in which a core reports to its server (core_status.hpp), with the memory that they lie in.
#pragma once

#include "device/memory/memories.hpp"
#include "device/server/core_process/core_status.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

struct StatusPages {
  Mapping status_memory, spare_memory;  // two, so that one wild write does not reach both
  CoreStatus* status = nullptr;         // in the first
  CoreProgress* spare = nullptr;        // in the second

  static Result<StatusPages> create();
};

}  // namespace softtpu
