// A replay target that is a real device: everything goes through libbmlib, as in any host program.
#pragma once

#include <memory>
#include <string>

#include "tools/golden/case_runner.hpp"

namespace softtpu::golden {

// Starts an embedded device of a chip and loads the replay kernel's module. Each call takes the next device id.
Result<std::unique_ptr<Target>> make_bmlib_target(const std::string& chip, const std::string& kernel_path);

}  // namespace softtpu::golden
