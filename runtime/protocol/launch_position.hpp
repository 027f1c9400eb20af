// A core's part in a launch: what the queue decides, the core gets and the kernel's functions return.
#pragma once

namespace softtpu {

struct LaunchPosition {
  int page_number = 0;  // of the page that the launch's cores share, counted from 1; 0: it has one core
  int workitem = 0, workitems = 1;
  int groups = 1;      // how often the core runs the call, one after the other
  int first_core = 0;  // of the chip's
};

}  // namespace softtpu
