// What is known about each function's correctness: ledger.json, made by scripts/update_ledger.py from test results,
// never by hand.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/isa/op.hpp"

namespace softtpu::cli {

struct Verification {
  int exact = 0;          // recorded cases reproduced bit for bit
  int deviating = 0;      // recorded cases that show a defect of the recorded emulator
  std::string reference;  // tolerance of the comparison with an independent reference; empty: none
  int oracle = 0;         // random calls that an independent oracle confirmed bit for bit
  bool assumed = false;   // what the oracle computes is assumed in part (firmware/README.md)
};

// The recorded cases of one chip, or revision, that call a function.
struct RecordedCases {
  int exact = 0, different = 0, deviating = 0;
};

struct ChipCases {
  std::string_view chip;  // its full name
  RecordedCases cases;
};

// ledger.json, compiled in.
std::string_view embedded_ledger(std::string_view file);

class Ledger {
 public:
  static const Ledger& get();

  // Zeros for a function that no test covers.
  Verification verification(Op op) const;
  // nullopt: none was recorded on this chip. `chip` is its full name ("bm1684x-23.05").
  std::optional<RecordedCases> recorded_on(Op op, const std::string& chip) const;
  // All chips and revisions on which a function was recorded, sorted by name.
  std::vector<ChipCases> recorded_anywhere(Op op) const;

 private:
  explicit Ledger(std::string_view json);

  template <class Row>
  using ByName = std::map<std::string, Row, std::less<>>;
  ByName<Verification> verified_;
  ByName<ByName<RecordedCases>> recorded_;  // by chip
};

}  // namespace softtpu::cli
