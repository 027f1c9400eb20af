// The timing model against hardware: replays the recorded call sequences of five programs on 45 cases and compares with
// the best published times. Prints the table and its errors with and without exclusions. Exit status: 0; 1 when a
// prediction is not the expected one (regression) or a file cannot be read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/timing/contest_trace.hpp"

namespace softtpu::timing {
namespace {

constexpr int kPrograms = 5;
constexpr double kRounding = 0.051;  // the expected values have one decimal

struct Case {
  std::string op;
  int number = 0;
  double measured = 0;
  std::vector<double> expected;  // per program; 0: none
  std::vector<bool> excluded;    // the program fails the host's precision check on this case
  std::vector<double> predicted;
};

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> list;
  std::istringstream text(line + ",");
  for (std::string field; std::getline(text, field, ',');) list.push_back(field);
  return list;
}

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto f = fields(line);
    if (f.size() < 4 + kPrograms + 1) continue;
    Case one{f[0], std::stoi(f[1]), std::stod(f[2]), {}, {}, {}};
    for (int i = 0; i < kPrograms; ++i) {
      one.expected.push_back(
          f[4 + static_cast<std::size_t>(i)].empty() ? 0 : std::stod(f[4 + static_cast<std::size_t>(i)]));
      one.excluded.push_back(f[4 + kPrograms].find("c" + std::to_string(i + 1)) != std::string::npos);
    }
    cases.push_back(one);
  }
  return cases;
}

double fastest(const Case& one, bool with_exclusions) {
  double best = 0;
  for (std::size_t i = 0; i < one.predicted.size(); ++i) {
    if (one.predicted[i] == 0 || (with_exclusions && one.excluded[i])) continue;
    if (best == 0 || one.predicted[i] < best) best = one.predicted[i];
  }
  return best;
}

void print_errors(const std::vector<Case>& cases, bool with_exclusions) {
  double sum = 0;
  double bias = 0;
  int within10 = 0;
  int within25 = 0;
  for (const Case& one : cases) {
    const double ratio = std::log(fastest(one, with_exclusions) / one.measured);
    sum += std::abs(ratio);
    bias += ratio;
    within10 += std::abs(ratio) < std::log(1.10) ? 1 : 0;
    within25 += std::abs(ratio) < std::log(1.25) ? 1 : 0;
  }
  const auto count = static_cast<double>(cases.size());
  fmt::print("{:<46} geometric-mean error {:5.1f} %, bias {:+5.1f} %, {} of {} within 10 %, {} within 25 %\n",
             with_exclusions ? "in sample, ten verified exclusions:" : "in sample, nothing excluded:",
             100 * (std::exp(sum / count) - 1), 100 * (std::exp(bias / count) - 1), within10, cases.size(), within25);
}

void print_order(const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const Case*>> by_op;
  for (const Case& one : cases) by_op[one.op].push_back(&one);
  for (const auto& [op, list] : by_op) {
    int agree = 0;
    int differ = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double product =
            (list[i]->measured - list[j]->measured) * (fastest(*list[i], true) - fastest(*list[j], true));
        agree += product > 0 ? 1 : 0;
        differ += product < 0 ? 1 : 0;
      }
    }
    fmt::print("{:<12} Kendall tau {:.3f}\n", op, static_cast<double>(agree - differ) / std::max(1, agree + differ));
  }
}

int run(const std::string& traces, const std::string& table) {
  const auto chip = load_chip("bm1684");
  const auto model = chip ? TimeModel::make(*chip) : Result<TimeModel>(chip.error());
  if (!model) return fmt::print(stderr, "{}\n", model.error().text), 1;
  std::vector<Case> cases = read_cases(table);
  if (cases.empty()) return fmt::print(stderr, "{}: no cases\n", table), 1;
  int wrong = 0;
  for (Case& one : cases) {
    for (int i = 0; i < kPrograms; ++i) {
      const auto time = replay_trace(*model, *chip, fmt::format("{}/c{}/{}-{}.txt", traces, i + 1, one.op, one.number));
      if (!time) return fmt::print(stderr, "{}\n", time.error().text), 1;
      one.predicted.push_back(time->value_or(0));
      const double expected = one.expected[static_cast<std::size_t>(i)];
      if (expected != 0 && std::abs(one.predicted.back() - expected) > kRounding) {
        fmt::print("{} {} program c{}: {:.2f} us, expected {:.1f} us\n", one.op, one.number, i + 1,
                   one.predicted.back(), expected);
        ++wrong;
      }
    }
    fmt::print("{:<12} {:>2}  measured {:>9.0f} us  predicted {:>9.0f} us  ratio {:.2f}\n", one.op, one.number,
               one.measured, fastest(one, true), fastest(one, true) / one.measured);
  }
  print_errors(cases, true);
  print_errors(cases, false);
  fmt::print("{:<46} 13 to 22 % when the parameters are fitted on four fifths of the cases (not recomputed here)\n",
             "cross-validated:");
  print_order(cases);
  fmt::print("{} predictions differ from the expected ones\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace softtpu::timing

int main(int argc, char** argv) {
  std::string traces;
  std::string table;
  CLI::App app("Compares the timing model of BM1684 with published hardware times.");
  app.add_option("traces", traces, "Folder with the unpacked call sequences (c1..c5)")->required();
  app.add_option("table", table, "contest.csv")->required();
  CLI11_PARSE(app, argc, argv);
  return softtpu::timing::run(traces, table);
}
