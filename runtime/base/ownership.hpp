// Whether this process owns what its objects stand for outside of it: processes, names in the file system. A fork that
// goes on with the objects of its parent (a core, its supervisor) owns none of it, whatever runs their destructors
// there.
#pragma once

namespace softtpu {

// For the calling process, from now on. Called in a fork with one thread.
void give_up_ownership();
bool has_ownership();

}  // namespace softtpu
