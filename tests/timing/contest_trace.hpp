// Recorded OKKernel call sequences (one call per line) as features, and their time under both forms of the model.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cost/time_model.hpp"

namespace softtpu::timing {

// A call sequence: `steps` are indices into `commands`, or one of the marks.
struct Trace {
  static constexpr int kBegin = -1, kEnd = -2, kPoll = -3;
  struct Command {
    bool gdma = false;
    Features features;
  };
  std::vector<Command> commands;  // each different one once
  std::vector<int> steps;
};

// nullopt for a trace without commands worth a launch.
// Format of a line: the function without "okk_", then its arguments in the prototype's order: `c` for a constant, `-`
// for a null pointer, n,c,h,w for a dim4, h,w for a dim2, top,bottom,left,right for padding; `[` and `]` bound parallel
// sections.
Result<std::optional<Trace>> read_trace(const TimeModel& model, const Chip& chip, const std::string& path);

// A trace by its parallel sections; a command outside one is a section of its own.
class Sections {
 public:
  explicit Sections(const Trace& trace);
  // launch + max(sum of the sections' busiest engines, sum of the issue costs)
  double time_us(const TimeModel& model) const;

 private:
  using Sparse = std::vector<std::pair<Feature, double>>;
  struct Section {
    Sparse bdc, gdma;
    double count = 1;
  };
  std::vector<Section> sections_;
  Sparse total_;  // of all commands, for issue
};

// The same through the engine times that estimate launches: a command starts no earlier than it was issued.
double event_time_us(const Trace& trace, const TimeModel& model);

}  // namespace softtpu::timing
