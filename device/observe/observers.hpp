// The observers that the settings ask for: the one place where switches become tools.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/core/observer.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

struct ObserverSettings {
  std::string trace_path;  // SOFTTPU_TRACE; empty: no trace
  std::string checks;      // SOFTTPU_CHECK: names separated by commas, or "all"; empty: none
  int max_findings = 100;
};

// Errors name the setting and what is wrong with it.
Result<std::vector<std::shared_ptr<Observer>>> make_observers(const ObserverSettings& settings);

}  // namespace softtpu
