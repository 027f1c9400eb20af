// Some lanes of every walk: commands that only work inside their lanes can be carried out slice by slice.
#pragma once

namespace softtpu {

struct LaneSlice {
  int first = 0, last = 0;  // lanes, counted from the destination's start NPU
};

// While it is set, walks of this thread visit these lanes only, on this thread.
inline constinit thread_local const LaneSlice* lane_slice = nullptr;

}  // namespace softtpu
