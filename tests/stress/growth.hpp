// What a program and its devices hold after many launches and many devices: nothing more than after few.
#pragma once

namespace softtpu::stress {

struct GrowthOptions {
  int launches = 0;  // on one device
  int devices = 0;   // opened, used and given back, one after the other
};

// Prints memory and descriptors before and after. False when descriptors, processes or a MiB of memory have come to
// stay.
bool run_growth(const GrowthOptions& options);

}  // namespace softtpu::stress
