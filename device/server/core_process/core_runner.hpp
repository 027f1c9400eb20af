// The core's side of the connection to the server: takes items in order, loads modules, runs kernels, reports.
// Runs in a core process of its own, or in a thread of a program that has its kernels linked in.
#pragma once

#include "device/server/core_process/core_status.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class LaunchPage;
class CoreRings;
class Memories;
struct DeviceObservers;

// In memory that all cores of a device share. More launches on several cores than this are not under way at once.
inline constexpr std::size_t kLaunchPages = 64;

// What a core works with; owned by the server.
struct CoreSetup {
  Memories& memories;
  int index;
  CoreStatus& status;
  CoreProgress& spare;  // the second copy of status.progress
  const DeviceObservers& observers;
  bool in_program = false;           // a thread of the program that launches
  bool sandbox = false;              // from the first launch on
  bool explains = false;             // it runs no kernel, and prints nothing
  bool own_namespace = true;         // where the system allows it (core_process.hpp)
  LaunchPage* launches = nullptr;    // of launches on several cores; null: the chip has one
  const CoreRings* rings = nullptr;  // a second way of short items; null: all come through the socket
  int report_file = -1;              // gets what sanitizers report; -1: it is not read
};

// The exit status of a core process that asks for another one in its place: it has answered everything that it has
// begun.
inline constexpr int kReplaceStatus = 86;

// Returns when the server closes the connection, or with true when the server shall start another core in this one's
// place.
bool run_core(const CoreSetup& setup, UniqueFd socket);

}  // namespace softtpu
