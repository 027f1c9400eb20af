// This process's number as /proc and people know it. getpid() says another one inside a PID namespace.
#pragma once

#include <sys/types.h>

namespace softtpu {

pid_t own_process_number();

}  // namespace softtpu
