// SOFTTPU_TIMELINE=file.json: the estimated time of every command as Chrome trace JSON that Perfetto opens. Times are
// the chip's; launches follow each other without a gap. One track per engine and core, counters for the bandwidth of
// global memory and for the local memory in use.
#pragma once

#include <string>

#include "device/timing/launch_time.hpp"
#include "device/trace/trace_tracks.hpp"

namespace softtpu {

// The events of a launch that begins at `base_us`, separated by commas.
std::string to_timeline(const LaunchTime& launch, const TraceTracks& tracks, double base_us);

}  // namespace softtpu
