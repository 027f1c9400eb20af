// SARIF 2.1.0 and JUnit XML: what code hosts and CI systems read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/report/report.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

Json sarif_location(const FoundParty& party) {
  Json location = {{"message", {{"text", party.text}}}};
  if (!party.at.path.empty()) {
    location["physicalLocation"] = {{"artifactLocation", {{"uri", party.at.path}}},
                                    {"region", {{"startLine", std::max(party.at.line, 1)}}}};
  }
  return location;
}

Json sarif_rule(const Rule& row) {
  return {{"id", row.id},
          {"shortDescription", {{"text", row.title}}},
          {"fullDescription", {{"text", row.why}}},
          {"help", {{"text", row.mend}}},
          {"defaultConfiguration", {{"level", to_text(row.severity)}}}};
}

Json sarif_result(const Found& found) {
  Json result = {{"ruleId", found.rule},
                 {"level", to_text(rule(found.rule).severity)},
                 {"message", {{"text", found.what}}},
                 {"occurrenceCount", found.count},
                 {"locations", Json::array()},
                 {"relatedLocations", Json::array()}};
  // The last party is the call that the finding is about.
  for (std::size_t i = 0; i < found.parties.size(); ++i) {
    result[i + 1 == found.parties.size() ? "locations" : "relatedLocations"].push_back(
        sarif_location(found.parties[i]));
  }
  return result;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\t' ? ' ' : letter;
    }
  }
  return out;
}

std::string junit_case(std::string_view group, std::string_view name, const std::string& body) {
  return fmt::format("  <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", escape(group), escape(name), body);
}

}  // namespace

std::string to_sarif_text(const RunReport& report) {
  Json all = Json::array();
  for (const Rule& row : rules()) all.push_back(sarif_rule(row));
  Json results = Json::array();
  for (const Found& found : report.contents.found) results.push_back(sarif_result(found));
  const Json json = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", {{"name", "softtpu"}, {"rules", std::move(all)}}}}},
                             {"invocations", Json::array({{{"executionSuccessful", report.program_status == 0},
                                                           {"exitCode", report.program_status}}})},
                             {"results", std::move(results)}}})}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// One test case for the program, one for each finding and failure.
std::string to_junit_text(const RunReport& report) {
  const std::string program = report.program.empty() ? "program" : report.program[0];
  std::string cases;
  std::size_t failures = report.program_status != 0 ? 1 : 0;
  cases += junit_case(
      "program", program,
      report.program_status == 0 ? "" : fmt::format("<failure message=\"exit status {}\"/>", report.program_status));
  for (const FailureRecord& failure : report.contents.failures) {
    ++failures;
    cases += junit_case(
        "launch", failure.kernel.empty() ? program : failure.kernel,
        fmt::format("<failure type=\"{}\" message=\"{}\"/>", escape(to_text(failure.kind)), escape(failure.text)));
  }
  for (const Found& found : report.contents.found) {
    const std::string site = found.parties.empty() ? "" : found.parties.back().at.text();
    const bool fails = rule(found.rule).severity != Severity::kNote;
    failures += fails ? 1 : 0;
    const std::string tag = fails ? "failure" : "system-out";
    const std::string attributes =
        fails ? fmt::format(" type=\"{}\" message=\"{}\"", escape(found.rule), escape(found.what)) : "";
    cases += junit_case(found.rule, fmt::format("{} {}", found.kernel, site),
                        fmt::format("<{0}{1}>{2}</{0}>", tag, attributes, escape(to_text(found, false))));
  }
  const std::size_t tests = 1 + report.contents.failures.size() + report.contents.found.size();
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"softtpu\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      tests, failures, cases);
}

}  // namespace softtpu
