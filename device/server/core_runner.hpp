// The core's side of the connection to the server: takes items in order, loads modules, runs kernels, reports.
// Runs in a core process of its own, or in a thread of a program that has its kernels linked in.
#pragma once

#include "device/server/core_status.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class Memories;
struct Tools;

// What a core works with; owned by the server.
struct CoreSetup {
  Memories& memories;
  int index;
  CoreStatus& status;
  const Tools& tools;
  bool in_program = false;  // a thread of the program that launches
};

// Returns when the server closes the connection.
void run_core(const CoreSetup& setup, UniqueFd socket);

}  // namespace softtpu
