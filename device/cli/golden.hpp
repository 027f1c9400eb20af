// softtpu golden: replays recorded cases through the real path (host library, server, core process, kernel module), and
// recorded instructions on a core in this process.
#pragma once

#include <string>

#include "device/golden/session.hpp"

namespace softtpu::cli {

struct GoldenOptions {
  replay::SessionOptions session;
  std::string cases;    // folder of the recorded cases behind recorded instructions; empty: beside them
  std::string ledger;   // write the counts per function to this JSON file
  std::string kernel;   // path of the replay kernel's module; empty: beside this program
  std::string cluster;  // address of a Dask scheduler, whose workers replay; empty: this program does
  std::string results;  // file that keeps what a cluster has replayed
};

// Exit status: 0 no case failed, 1 a case failed or a file could not be read, 3 the ledger cannot be written; of a
// cluster's, what python/softtpu/golden.py ends with.
int run_golden(const GoldenOptions& options);

}  // namespace softtpu::cli
