// The text of a file that a user has named, which may be anything: a FIFO without a writer, a device, a file that the
// system makes up and does not give.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/base/result.hpp"

namespace softtpu {

// All of a regular file; more than `most` bytes are an error. Errors begin with the path. Never waits.
Result<std::string> read_text_file(const std::string& path, std::size_t most);

}  // namespace softtpu
