// Closing the last descriptor of a file in memory gives back all of its pages in one call, which nothing interrupts: 30
// milliseconds for a module of 400 MiB. Another client's launch must not wait for that, in the server or in a core.
#pragma once

#include <memory>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// Closes the file; a large one lives on for a moment in a process that does nothing but close files, which the first of
// them starts. Other holders should close it soon. Not for a program that is more than a device.
void close_deferred(UniqueFd file);
// The same when the last copy of this goes.
std::shared_ptr<UniqueFd> deferred_close(UniqueFd file);

}  // namespace softtpu
