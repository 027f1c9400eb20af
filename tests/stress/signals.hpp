// Random signals at the cores, the supervisors and the clients of a shared device, from a seed.
#pragma once

namespace softtpu::stress {

struct SignalOptions {
  unsigned seed = 1;  // of the first run; the next ones count on
  int runs = 1;
  int signals = 300;  // in each run
};

// False: a result was wrong, a process did not go on afterwards, or the server did not end. Where each process waits is
// then printed.
bool run_signals(const SignalOptions& options);

}  // namespace softtpu::stress
