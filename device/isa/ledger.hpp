// What is known about each function's correctness: made by scripts/update_ledger.py from test results, never by hand.
#pragma once

#include <optional>
#include <string_view>

#include "device/isa/op.hpp"

namespace softtpu {

struct Verification {
  int exact = 0;                    // recorded cases reproduced bit for bit
  int deviating = 0;                // recorded cases that show a defect of the recorded emulator
  std::string_view reference = {};  // tolerance of the comparison with an independent reference; empty: none
  int oracle = 0;                   // random calls that an independent oracle confirmed bit for bit
  bool assumed = false;             // what the oracle computes is assumed in part (firmware/README.md)
};

Verification verification(Op op);

}  // namespace softtpu
