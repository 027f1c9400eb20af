// What the log calls a kernel module, whatever its sender calls it.
#pragma once

#include <string>

namespace softtpu {

// The SHA-256 of a file's bytes in hexadecimal digits; "unknown" when it cannot be read.
std::string module_hash(int fd);

}  // namespace softtpu
