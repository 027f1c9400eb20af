// What one client can do to take a shared device from the others, and how long another client's empty launch takes
// meanwhile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace softtpu::stress {

struct AttackOptions {
  double seconds = 3;  // beside each attack
  std::string only;    // attacks whose names contain it; empty: all
  bool judge = true;   // else a launch may wait as long as it likes: figures only
};

// Prints one row for each attack. False: a launch waited longer than the goal allows, or failed.
bool run_attacks(const AttackOptions& options);

}  // namespace softtpu::stress
