#include "tests/replay/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace softtpu::replay {
namespace {

namespace fs = std::filesystem;

class Session {
 public:
  Session(const SessionOptions& options, SessionResult& result) : options_(options), result_(result) {}

  void run_family(const std::string& file, Target& target) {
    const auto family = read_family(file, target.bases());
    if (!family) return complain(family.error().text);
    Replayer replayer(target);
    Counts counts;
    for (const Case& recorded : family->cases) {
      if (!wanted(recorded)) continue;
      const Counts one = judge(recorded, replayer.run(recorded));
      counts.add(one);
      std::set<std::string> names;
      for (const Call& call : recorded.calls) names.insert(call.function);
      // A deviation is one of the last call: those before it only prepare its operands.
      if (one.skipped != 0 && !recorded.calls.empty()) names = {recorded.calls.back().function};
      for (const std::string& name : names) result_.functions[name].add(one);
    }
    fmt::print("{:<8} {:<24} {} passed, {} failed, {} skipped\n", family->chip, family->name, counts.passed,
               counts.failed, counts.skipped);
    std::fflush(stdout);
    result_.total.add(counts);
  }

  void complain(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    result_.unreadable = true;
    ++result_.total.failed;
  }

 private:
  bool wanted(const Case& recorded) const {
    if (recorded.id.find(options_.filter) == std::string::npos) return false;
    const auto calls_it = [&](const Call& call) { return call.function == options_.function; };
    return options_.function.empty() || std::any_of(recorded.calls.begin(), recorded.calls.end(), calls_it);
  }

  Counts judge(const Case& recorded, const CaseResult& verdict) {
    switch (verdict.verdict) {
      case Verdict::kPassed: return {1, 0, 0};
      case Verdict::kSkipped:
        if (options_.list_skipped) fmt::print("  skipped {}: {}\n", recorded.id, verdict.text);
        return {0, 0, 1};
      case Verdict::kFailed: break;
    }
    const std::string& function = recorded.calls.back().function;
    if (shown_[function]++ < options_.shown_failures) {
      const std::string text = options_.details ? verdict.text : verdict.text.substr(0, verdict.text.find('\n'));
      const std::string note = recorded.note.empty() ? "" : " (" + recorded.note + ")";
      fmt::print("  failed {}{} {}: {}\n", recorded.id, note, function, text);
    }
    return {0, 1, 0};
  }

  const SessionOptions& options_;
  SessionResult& result_;
  std::map<std::string, int> shown_;
};

}  // namespace

Result<std::vector<std::string>> find_families(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::is_regular_file(path, error)) return Error{ErrorKind::kUsage, path + ": no such file or folder"};
      files.push_back(path);
      continue;
    }
    for (fs::recursive_directory_iterator at(path, error), end; at != end; at.increment(error)) {
      if (at->path().extension() == ".json") files.push_back(at->path().string());
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
    functions[name] = {{"passed", counts.passed}, {"failed", counts.failed}, {"skipped", counts.skipped}};
  }
  std::ofstream file(path);
  file << functions.dump(1) << "\n";
  if (file.good()) return true;
  fmt::print(stderr, "{}: cannot be written\n", path);
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
    const auto chip = read_chip_name(file);
    if (!chip) {
      session.complain(chip.error().text);
      continue;
    }
    std::unique_ptr<Target>& target = targets[*chip];
    if (target == nullptr) {
      auto made = make_target(*chip);
      if (!made) {
        session.complain(file + ": " + made.error().text);
        continue;
      }
      target = std::move(*made);
    }
    session.run_family(file, *target);
  }
  fmt::print("{} passed, {} failed, {} skipped\n", result.total.passed, result.total.failed, result.total.skipped);
  return result;
}

}  // namespace softtpu::replay
