// SARIF 2.1.0 and JUnit XML: what code hosts and CI systems read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/report/fault_location.hpp"
#include "runtime/report/report.hpp"
#include "runtime/report/rules.hpp"
#include "runtime/report/source_root.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr const char* kRootName = "%SRCROOT%";

// Where a finding without a line of its own is shown: the program.
SourceLine place_in(const RunReport& report, const ReportedFinding& found) {
  SourceLine place = place_of(found);
  if (place.path.empty() && !report.program.empty()) place.path = report.program[0];
  return place;
}

Json sarif_physical(const SourceLine& place, const SourceRoot& root) {
  Json file = {{"uri", root.uri_of(place.path)}};
  if (root.holds(place.path)) file["uriBaseId"] = kRootName;
  Json physical = {{"artifactLocation", std::move(file)}};
  if (place.line > 0) physical["region"] = {{"startLine", place.line}};
  return physical;
}

Json sarif_location(const ReportedParty& party, const SourceRoot& root) {
  Json location = {{"message", {{"text", party.text}}}};
  if (const SourceLine place = party.place(); !place.path.empty())
    location["physicalLocation"] = sarif_physical(place, root);
  return location;
}

Json sarif_rule(const Rule& row) {
  return {{"id", row.id},
          {"shortDescription", {{"text", row.title}}},
          {"fullDescription", {{"text", row.why}}},
          {"help", {{"text", row.fix}}},
          {"defaultConfiguration", {{"level", to_text(row.severity)}}}};
}

Json sarif_result(const RunReport& report, const ReportedFinding& found, const SourceRoot& root) {
  Json result = {{"ruleId", found.rule},
                 {"level", to_text(rule(found.rule).severity)},
                 {"message", {{"text", found.what}}},
                 {"occurrenceCount", found.count},
                 {"relatedLocations", Json::array()}};
  // The last party is the call that the finding is about.
  const ReportedParty about = found.parties.empty() ? ReportedParty{"", found.what, {}, {}} : found.parties.back();
  Json location = sarif_location(about, root);
  if (!location.contains("physicalLocation"))
    location["physicalLocation"] = sarif_physical(place_in(report, found), root);
  if (!found.kernel.empty())
    location["logicalLocations"] = Json::array({{{"name", found.kernel}, {"kind", "function"}}});
  result["locations"] = Json::array({std::move(location)});
  for (std::size_t i = 0; i + 1 < found.parties.size(); ++i) {
    result["relatedLocations"].push_back(sarif_location(found.parties[i], root));
  }
  return result;
}

// A launch that failed breaks no rule of this table, but happened while the program ran.
Json sarif_notification(const FailureRecord& failure, const SourceRoot& root) {
  Json location = Json::object();
  if (const auto place = parse_fault_location(failure.text); place && !place->file.empty())
    location["physicalLocation"] = sarif_physical({place->file, static_cast<int>(place->line), {}}, root);
  if (!failure.kernel.empty())
    location["logicalLocations"] = Json::array({{{"name", failure.kernel}, {"kind", "function"}}});
  Json made = {{"level", "error"}, {"message", {{"text", failure.text}}}};
  if (!location.empty()) made["locations"] = Json::array({std::move(location)});
  return made;
}

SourceRoot root_of(const RunReport& report) {
  std::vector<std::string> files;
  for (const ReportedFinding& found : report.contents.found) {
    for (const ReportedParty& party : found.parties) {
      if (const SourceLine place = party.place(); !place.path.empty()) files.push_back(place.path);
    }
  }
  return SourceRoot(files);
}

std::string escape(std::string_view text) {
  // What is no UTF-8 becomes a replacement character.
  const std::string valid = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string out;
  for (const char letter : valid) {
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
  const SourceRoot root = root_of(report);
  Json results = Json::array();
  for (const ReportedFinding& found : report.contents.found) results.push_back(sarif_result(report, found, root));
  Json failures = Json::array();
  for (const FailureRecord& failure : report.contents.failures) failures.push_back(sarif_notification(failure, root));
  const bool successful = report.program_status == 0 && failures.empty();
  const Json json = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", {{"name", "softtpu"}, {"rules", std::move(all)}}}}},
                             {"originalUriBaseIds", {{kRootName, {{"uri", root.uri()}}}}},
                             {"invocations", Json::array({{{"executionSuccessful", successful},
                                                           {"exitCode", report.program_status},
                                                           {"toolExecutionNotifications", std::move(failures)}}})},
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
  for (const ReportedFinding& found : report.contents.found) {
    const std::string site = place_of(found).text();
    const std::string& where = found.kernel.empty() ? program : found.kernel;
    const bool fails = rule(found.rule).severity != Severity::kNote;
    failures += fails ? 1 : 0;
    const std::string tag = fails ? "failure" : "system-out";
    const std::string attributes =
        fails ? fmt::format(" type=\"{}\" message=\"{}\"", escape(found.rule), escape(found.what)) : "";
    cases += junit_case(found.rule, site.empty() ? where : fmt::format("{} {}", where, site),
                        fmt::format("<{0}{1}>{2}</{0}>", tag, attributes, escape(to_text(found, false))));
  }
  const std::size_t tests = 1 + report.contents.failures.size() + report.contents.found.size();
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"softtpu\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      tests, failures, cases);
}

}  // namespace softtpu
