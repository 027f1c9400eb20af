// What is known about each function's correctness: made by scripts/update_ledger.py from test results, never by hand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

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

// The recorded cases of one chip, or revision, that call a function.
struct RecordedCases {
  int exact = 0, different = 0, deviating = 0;
};
// nullopt: none was recorded on this chip. `chip` is its full name ("bm1684x-23.05").
std::optional<RecordedCases> recorded_on(Op op, std::string_view chip);

struct ChipCases {
  std::string_view chip;  // its full name
  RecordedCases cases;
};
// All chips and revisions on which a function was recorded, sorted by name.
std::vector<ChipCases> recorded_anywhere(Op op);

}  // namespace softtpu
