// What a program does with a connection that it cannot serve.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// Waits for the peer's first request, answers it with the error, and closes: the peer learns why there is no
// device.
void refuse(UniqueFd socket, const Error& error);

}  // namespace softtpu
