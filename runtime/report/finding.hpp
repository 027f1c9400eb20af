// What a check found, as it is printed, kept in a journal, and written into reports.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace softtpu {

// A line of the user's source.
struct SourceLine {
  std::string path;  // as the debug information has it; empty when there is none
  int line = 0;
  std::string function;  // of the user's program

  // "kernel.c:12", else the function's name; empty when nothing is known.
  std::string text() const;
  // The function is known, its line is not: it was compiled without debug information.
  bool lacks_line() const { return path.empty() && !function.empty(); }
  bool operator==(const SourceLine&) const = default;
};

// What to say once where lines are missing.
inline constexpr const char* kNoLines =
    "The kernel has no debug information: compiled with -g, messages name its lines.";

// Bytes of one memory. For local memory: offsets within one NPU's.
struct ReportedRange {
  std::string memory;  // "local", "global", "L2", "static"
  std::uint64_t begin = 0, end = 0;
  int npu = -1, bank = -1;  // -1: not in local memory

  std::string text() const;
  bool operator==(const ReportedRange&) const = default;
};

// One side of a finding: a call and what it does to the bytes in question.
struct ReportedParty {
  std::string function;  // "tpu_gdma_cpy_S2L"; the host's function for allocations and copies
  std::string text;      // "tpu_gdma_cpy_S2L writes dst 0x400, shape ..., element [0, 3, 0, 0]"
  SourceLine at;
  std::vector<std::string> stack;  // of the host, innermost first: "PATH:LINE (FUNCTION)", else the function's name

  // Where it stands: `at`, else the innermost call of the host with a line; an empty path when neither is known.
  SourceLine place() const;
  bool operator==(const ReportedParty&) const = default;
};

struct ReportedFinding {
  std::string rule;    // of runtime/report/rules.def
  std::string kernel;  // empty: not in a launch
  int core = -1;
  std::string what;  // one sentence: what is wrong and where
  std::optional<ReportedRange> place;
  std::vector<ReportedParty> parties;
  std::string nearest;         // the nearest legal value, when there is one
  std::optional<double> cost;  // estimated cycles
  std::uint64_t count = 1;     // how often it happened

  bool operator==(const ReportedFinding&) const = default;
};

// A frame of ReportedParty::stack for people, without folders: "host.c:12 (main)".
std::string short_frame(const std::string& frame);
// Where the finding is shown: the place of its last party that has one.
SourceLine place_of(const ReportedFinding& found);
// The same calls by the same rule in the same kernel are one finding, whichever core or launch saw it.
std::string fold_key(const ReportedFinding& found);

nlohmann::json to_json(const ReportedFinding& found);
// nullopt: not a finding.
std::optional<ReportedFinding> parse_finding(const nlohmann::json& json);

// For people: several lines, each with its line end.
std::string to_text(const ReportedFinding& found, bool colour);
// One line: it has come so many times more; 0: its text has grown.
std::string to_again_text(const ReportedFinding& found, std::uint64_t count);
// " in kernel "add""; empty outside of launches.
std::string in_kernel_text(const std::string& kernel);

}  // namespace softtpu
