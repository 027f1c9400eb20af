#include "tests/timing/contest_fit.hpp"

#include <algorithm>
#include <cmath>

namespace softtpu::timing {
namespace {

struct Start {
  const char* name;
  double value;
};

constexpr Start kNeutral[] = {
    {"launch_us", 10},       {"section_us", 0.1},   {"issue_conv_us", 1},
    {"issue_matmul_us", 1},  {"issue_other_us", 1}, {"issue_gdma_us", 1},
    {"bdc_start_us", 0.1},   {"gdma_start_us", 1},  {"read_gbps", 30},
    {"write_gbps", 30},      {"local_gbps", 30},    {"small_piece_ns", 1},
    {"conv_per_tap", 1},     {"conv_per_tile", 1},  {"conv_per_tap_per_extra_stride", 1},
    {"dw_per_tap", 1},       {"dw_per_tile", 1},    {"dw_per_tap_strided", 1},
    {"mm_per_mac", 1},       {"mm_per_row", 1},     {"mm_per_left_segment", 1},
    {"eltwise_per_tile", 1}, {"div_per_tile", 1},   {"exp_per_tile_term", 1},
};

// What a parameter may move by the factor e for, in the sum of the cases' |log ratio|.
constexpr double kPullToStart = 0.02;

// The sum that the fit makes small.
double loss(const Chip& chip, const std::vector<FitCase>& cases) {
  const auto model = TimeModel::make(chip);
  if (!model) return INFINITY;
  double sum = 0;
  for (const FitCase& one : cases) sum += std::abs(std::log(predict(one, *model) / one.measured_us));
  for (const Start& start : kNeutral) {
    const double value = chip.timing.at(start.name).value;
    if (value > 0) sum += kPullToStart * std::pow(std::log(value / start.value), 2);
  }
  return sum;
}

}  // namespace

double predict(const FitCase& one, const TimeModel& model) {
  double best = INFINITY;
  for (const Sections* program : one.programs) best = std::min(best, program->time_us(model));
  return best;
}

// A pattern search: every parameter in turn is tried a step larger and smaller, the steps shrink when nothing helps.
Chip fit(const Chip& chip, const std::vector<FitCase>& cases, bool small_pieces) {
  Chip best = chip;
  for (const Start& start : kNeutral) best.timing[start.name].value = start.value;
  if (!small_pieces) best.timing["small_piece_ns"].value = 0;
  double best_loss = loss(best, cases);
  for (double step = 1.0; step > 0.015;) {
    const double before = best_loss;
    for (const Start& start : kNeutral) {
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        Chip trial = best;
        trial.timing[start.name].value *= factor;
        const double trial_loss = loss(trial, cases);
        if (trial_loss >= best_loss) continue;
        best_loss = trial_loss;
        best = std::move(trial);
        break;
      }
    }
    if (before - best_loss < 1e-3) step /= 2;
  }
  return best;
}

}  // namespace softtpu::timing
