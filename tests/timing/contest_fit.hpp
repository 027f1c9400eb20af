// Fitting the parameters of BM1684's timing model to measured times, so that predictions of cases that were not fitted
// can be judged.
#pragma once

#include <vector>

#include "tests/timing/contest_trace.hpp"

namespace softtpu::timing {

// One measured case and the programs that may have set its time; the fastest of them is the prediction.
struct FitCase {
  double measured_us = 0;
  std::vector<const Sections*> programs;
};

double predict(const FitCase& one, const TimeModel& model);

// Starts from neutral values (every overhead one cycle, every rate 30 GB/s), which hold nothing of the measured times,
// and is held near them where the cases do not say otherwise. With `small_pieces` that cost is fitted too, else 0.
Chip fit(const Chip& chip, const std::vector<FitCase>& cases, bool small_pieces);

}  // namespace softtpu::timing
