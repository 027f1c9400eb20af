// Rules that convolutions, depthwise convolutions and poolings share.
#pragma once

#include "device/command/checks.hpp"
#include "device/engines/bdc/window/command.hpp"

namespace softtpu {

// The window fits into its padded input, and the output that results.
void check_window(Checks& check, const Window& window, const Dim4& input, const Dim4& output);

}  // namespace softtpu
