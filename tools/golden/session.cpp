#include "tools/golden/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "runtime/base/text.hpp"
#include "tools/golden/lists.hpp"

namespace softtpu::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOldSource = "libsophon 23.05";
constexpr std::string_view kOldChip = "bm1684x-23.05";

// The chip and revision that a file was recorded with.
std::string recorded_with(const Origin& origin) {
  return origin.source.find(kOldSource) == std::string::npos ? origin.chip : std::string(kOldChip);
}

const std::set<std::string>& superseded_ids() {
  static const std::set<std::string> ids = [] {
    std::set<std::string> lines;
    std::istringstream text{std::string(embedded_list("superseded.txt"))};
    for (std::string line; std::getline(text, line);)
      if (!line.empty() && line[0] != '#') lines.insert(line);
    return lines;
  }();
  return ids;
}

// Cases that are known to differ, "CHIP ID", with the reason.
const std::map<std::string, std::string>& known_cases() {
  static const std::map<std::string, std::string> cases = [] {
    std::map<std::string, std::string> reasons;
    std::istringstream text{std::string(embedded_list("known_cases.txt"))};
    for (std::string line; std::getline(text, line);) {
      const std::size_t bar = line.find(" | ");
      if (!line.starts_with('#') && bar != std::string::npos) reasons[line.substr(0, bar)] = line.substr(bar + 3);
    }
    return reasons;
  }();
  return cases;
}

std::string to_text(const Counts& counts) {
  std::string text = fmt::format("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
  if (counts.other_npu != 0) text += fmt::format(", {} refused for operands on different start NPUs", counts.other_npu);
  if (counts.known != 0) text += fmt::format(", {} known to differ", counts.known);
  if (counts.superseded != 0) text += fmt::format(", {} superseded by a newer recording", counts.superseded);
  return text;
}

class Session {
 public:
  Session(const SessionOptions& options, SessionResult& result) : options_(options), result_(result) {}

  // `old` says that the cases come from an older revision of the target's chip.
  void run_family(const std::string& file, Target& target, bool old) {
    const auto family = read_family(file, target.bases());
    if (!family) return complain(family.error().text);
    CaseRunner runner(target);
    Counts counts;
    for (const Case& recorded : family->cases) {
      if (!wanted(recorded)) continue;
      if (old && superseded_ids().contains(recorded.id)) {
        ++counts.superseded;
        continue;
      }
      const Counts one = judge(family->chip, recorded, runner.run(recorded));
      counts.add(one);
      std::set<std::string> names;
      for (const Call& call : recorded.calls) names.insert(call.function);
      // A deviation is one of the last call but for copies of its result: those before it only prepare its operands.
      if (one.skipped + one.other_npu != 0 && !recorded.calls.empty()) {
        const auto last = std::find_if(recorded.calls.rbegin(), recorded.calls.rend(),
                                       [](const Call& call) { return !call.function.starts_with("tpu_gdma_"); });
        names = {(last == recorded.calls.rend() ? recorded.calls.back() : *last).function};
      }
      for (const std::string& name : names) result_.functions[name].add(one);
    }
    fmt::print("{:<8} {:<24} {}\n", escape_controls(family->chip), escape_controls(family->name), to_text(counts));
    std::fflush(stdout);
    result_.total.add(counts);
  }

  void complain(const std::string& text) {
    fmt::print(stderr, "{}\n", escape_controls(text));
    result_.unreadable = true;
    ++result_.total.failed;
  }

 private:
  bool wanted(const Case& recorded) const {
    if (recorded.id.find(options_.filter) == std::string::npos) return false;
    const auto calls_it = [&](const Call& call) { return call.function == options_.function; };
    return options_.function.empty() || std::any_of(recorded.calls.begin(), recorded.calls.end(), calls_it);
  }

  Counts judge(const std::string& chip, const Case& recorded, const CaseResult& verdict) {
    switch (verdict.verdict) {
      case Verdict::kPassed: return {1, 0, 0, 0};
      case Verdict::kSkipped:
        if (options_.list_skipped)
          fmt::print("{}", escape_controls(fmt::format("  skipped {}: {}\n", recorded.id, verdict.text)));
        return {0, 0, 1, 0};
      case Verdict::kOtherNpu:
        if (options_.list_skipped)
          fmt::print("{}", escape_controls(fmt::format("  refused {}: {}\n", recorded.id, verdict.text)));
        return {0, 0, 0, 0, 1};
      case Verdict::kFailed: break;
    }
    if (const auto known = known_cases().find(chip + " " + recorded.id); known != known_cases().end()) {
      if (options_.list_skipped)
        fmt::print("{}", escape_controls(fmt::format("  known {}: {}\n", recorded.id, known->second)));
      Counts one;
      one.known = 1;
      return one;
    }
    const std::string& function = recorded.calls.back().function;
    if (shown_[function]++ < options_.shown_failures) {
      const std::string text = options_.details ? verdict.text : verdict.text.substr(0, verdict.text.find('\n'));
      const std::string note = recorded.note.empty() ? "" : " (" + recorded.note + ")";
      fmt::print("{}", escape_controls(fmt::format("  failed {}{} {}: {}\n", recorded.id, note, function, text)));
    }
    return {0, 1, 0, 0};
  }

  const SessionOptions& options_;
  SessionResult& result_;
  std::map<std::string, int> shown_;
};

// A file of cases has its bytes beside it.
bool is_other_json(const fs::path& file) {
  std::error_code error;
  if (fs::exists(fs::path(file).replace_extension("bin"), error)) return false;
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  return !json.is_discarded() && !json.contains("cases");
}

}  // namespace

Result<std::vector<std::string>> find_families(const std::vector<std::string>& paths, int* passed_over) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::is_regular_file(path, error))
        return Error{ErrorKind::kUsage, "softtpu golden: " + path + ": no such file or folder"};
      files.push_back(path);
      continue;
    }
    for (fs::recursive_directory_iterator at(path, error), end; at != end; at.increment(error)) {
      if (at->path().extension() != ".json") continue;
      if (!is_other_json(at->path())) {
        files.push_back(at->path().string());
      } else if (passed_over != nullptr) {
        ++*passed_over;
      }
    }
    if (error) return Error{ErrorKind::kResource, path + ": " + error.message()};
  }
  if (files.empty()) return Error{ErrorKind::kUsage, "no recorded families (*.json) under the given paths"};
  std::sort(files.begin(), files.end());
  return files;
}

bool write_ledger(const std::string& path, const SessionResult& result) {
  nlohmann::json functions = nlohmann::json::object();
  for (const auto& [name, counts] : result.functions) {
    functions[name] = {
        {"passed", counts.passed}, {"failed", counts.failed}, {"skipped", counts.skipped + counts.other_npu}};
  }
  std::ofstream file(path);
  file << functions.dump(1) << "\n";
  if (file.good()) return true;
  fmt::print(stderr, "{}: cannot be written\n", escape_controls(path));
  return false;
}

SessionResult run_session(const SessionOptions& options, const MakeTarget& make_target) {
  SessionResult result;
  Session session(options, result);
  const auto files = find_families(options.paths);
  if (!files) {
    session.complain(files.error().text);
    return result;
  }
  std::map<std::string, std::unique_ptr<Target>> targets;
  for (const std::string& file : *files) {
    const auto origin = read_origin(file);
    if (!origin) {
      session.complain(origin.error().text);
      continue;
    }
    const std::string recorded = recorded_with(*origin);
    const std::string& chip = options.chip.empty() ? recorded : options.chip;
    std::unique_ptr<Target>& target = targets[chip];
    if (target == nullptr) {
      auto made = make_target(chip);
      if (!made) {
        session.complain(file + ": " + made.error().text);
        continue;
      }
      target = std::move(*made);
    }
    if (target->chip() != origin->chip) {
      session.complain(fmt::format("{}: recorded on {}, which {} is not", file, origin->chip, chip));
      continue;
    }
    session.run_family(file, *target, recorded == kOldChip && chip != kOldChip);
  }
  fmt::print("{}\n", to_text(result.total));
  return result;
}

}  // namespace softtpu::golden
