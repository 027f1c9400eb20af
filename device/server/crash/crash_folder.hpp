// SOFTTPU_DUMP: a folder with copies of a device's shared files, for "softtpu dump --from" when the device itself has
// ended. Each has the name that it has among the device process's files, as the first of its kind; the last crash wins.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu {

// The folder and those above it, where they are missing; other users cannot read it.
Result<void> make_crash_folder(const std::string& folder);

// Whole or not at all. Holes stay holes.
Result<void> keep_file(int fd, const std::string& folder);
// Those of the memories on the chip that kernels write: local memory, L2, DTCM.
Result<void> keep_memories(const std::vector<int>& fds, const std::string& folder);

}  // namespace softtpu
