// Commands over many shapes, to find those that are slow for what they compute: scripts/bench --sweep.
#pragma once

#include <string>

namespace softtpu::bench {

// Prints, for each kind of convolution, element-wise command and move whose name contains `filter`, its row of the
// table, how many shapes fall below a tenth of that row's rate, and the `worst` ones. On one thread, in processor time.
void sweep_shapes(const std::string& filter, int worst);

}  // namespace softtpu::bench
