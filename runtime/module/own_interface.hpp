// Libraries that bring functions of tpu_kernel.h themselves: a chip's firmware, as compilers install it, is one with
// the layers of networks and an emulator below them.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// A copy of a module in which its own functions of the interface are imports, so that softtpu's answer its calls; all
// its other functions stay its own. `has` says whether softtpu has a function. A module that does not bring the whole
// interface (`tpu_initialize` is the mark) is given back as it is: what a kernel defines is the kernel's.
Result<UniqueFd> import_interface(UniqueFd image, bool (*has)(const char* name));

// Whether a module is such a library.
bool brings_interface(int image);

}  // namespace softtpu
