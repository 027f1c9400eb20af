// The observers that the settings ask for: the one place where switches become tools.
#pragma once

#include <memory>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/core/observer.hpp"
#include "device/observe/findings.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// The tools of one device. The findings belong to all of its checks; null without checks.
struct Tools {
  std::vector<std::shared_ptr<Observer>> observers;
  std::shared_ptr<Findings> findings;
  std::shared_ptr<Journal> journal;  // of `softtpu run`; null without
};

// One trace for all devices of a server; null without SOFTTPU_TRACE. Errors name the setting and what is wrong with it.
Result<std::shared_ptr<Observer>> open_trace(const Settings& settings);
// The tools of one device, the trace among them.
Result<Tools> make_tools(const Settings& settings, const Chip& chip, const std::shared_ptr<Observer>& trace);

}  // namespace softtpu
