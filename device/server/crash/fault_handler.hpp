// What a core process does at its end: notes signal, address and calls in its status page, and what an exception says
// that nothing has caught. Signal handlers format and resolve nothing, since the process may be in any state.
#pragma once

#include <csignal>
#include <string_view>

#include "device/server/core_process/core_status.hpp"

namespace softtpu {

// A server ends a hanging core with this signal first, so that the report can say where it was.
inline constexpr int kLookSignal = SIGQUIT;

// For the calling process, from now on.
void install_fault_handlers(CoreStatus& status);

// Notes where the process is that ends itself now, without a signal.
void note_end();
// The same in words, where the calls are no longer there.
void note_end(std::string_view reason);

}  // namespace softtpu
