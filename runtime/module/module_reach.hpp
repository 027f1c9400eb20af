// What a loaded module can reach besides the device: whether its code can change the process that it is in.
#pragma once

struct link_map;

namespace softtpu {

// False when the module imports nothing but functions that compute, print, allocate or issue commands, has no
// instruction that calls the system, and needs no library of its own. A module that means harm can still get at the
// rest, through the C library that is mapped beside it.
bool may_change_process(const link_map& module);

}  // namespace softtpu
