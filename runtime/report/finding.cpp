#include "runtime/report/finding.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "runtime/base/json_tree.hpp"
#include "runtime/base/text.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

fmt::text_style style_of(Severity severity) {
  const auto colour = severity == Severity::kError     ? fmt::terminal_color::red
                      : severity == Severity::kWarning ? fmt::terminal_color::yellow
                                                       : fmt::terminal_color::cyan;
  return fmt::emphasis::bold | fmt::fg(colour);
}

// "/src/host.c:12 (main)" as a line; an empty path when it is a function's name only.
SourceLine line_of(const std::string& frame) {
  const std::size_t end = frame.rfind(" ("), colon = frame.rfind(':', end);
  if (end == std::string::npos || colon == std::string::npos || !frame.ends_with(')')) return {"", 0, frame};
  const auto line = find_number(std::string_view(frame).substr(colon + 1, end - colon - 1));
  if (!line || *line > INT_MAX) return {"", 0, frame};
  return {frame.substr(0, colon), static_cast<int>(*line), frame.substr(end + 2, frame.size() - end - 3)};
}

Json to_json(const ReportedRange& place) {
  JsonTree json;
  json["memory"] = place.memory;
  json["begin"] = place.begin;
  json["end"] = place.end;
  if (place.npu >= 0) json["npu"] = place.npu;
  if (place.bank >= 0) json["bank"] = place.bank;
  return json.take();
}

Json to_json(const ReportedParty& party) {
  JsonTree json;
  json["function"] = party.function;
  json["text"] = party.text;
  json["site"] = party.at.text();
  if (!party.at.path.empty()) json["file"] = party.at.path;
  if (party.at.line > 0) json["line"] = party.at.line;
  if (!party.at.function.empty()) json["caller"] = party.at.function;
  if (!party.stack.empty()) {
    Json& stack = json["stack"];
    stack = party.stack;
  }
  return json.take();
}

ReportedParty to_party(const Json& json) {
  ReportedParty party;
  party.function = json.value("function", "");
  party.text = json.value("text", "");
  party.at = {json.value("file", ""), json.value("line", 0), json.value("caller", "")};
  party.stack = json.value("stack", std::vector<std::string>());
  return party;
}

}  // namespace

std::string short_frame(const std::string& frame) {
  const SourceLine line = line_of(frame);
  return line.path.empty() ? frame : fmt::format("{} ({})", line.text(), line.function);
}

SourceLine ReportedParty::place() const {
  if (!at.path.empty()) return at;
  for (const std::string& frame : stack) {
    if (const SourceLine line = line_of(frame); !line.path.empty()) return line;
  }
  return at;
}

SourceLine place_of(const ReportedFinding& found) {
  for (auto party = found.parties.rbegin(); party != found.parties.rend(); ++party) {
    if (const SourceLine place = party->place(); !place.path.empty()) return place;
  }
  return {};
}

std::string SourceLine::text() const {
  if (path.empty()) return function;
  return fmt::format("{}:{}", path.substr(path.find_last_of('/') + 1), line);
}

std::string ReportedRange::text() const {
  const std::string range = fmt::format("0x{:x}..0x{:x}", begin, end - 1);
  if (npu < 0) return fmt::format("{} memory {}", memory, range);
  return fmt::format("NPU {}, bank {}, offset {}", npu, bank, range);
}

std::string fold_key(const ReportedFinding& found) {
  std::string key = found.rule + '\n' + found.kernel;
  for (const ReportedParty& party : found.parties) {
    key += '\n' + party.function + '\n' + party.at.text();
    for (const std::string& frame : party.stack) key += '\n' + frame;
  }
  return found.parties.empty() ? key + '\n' + found.what : key;
}

nlohmann::json to_json(const ReportedFinding& found) {
  const Rule& about = rule(found.rule);
  JsonTree json;
  json["rule"] = found.rule;
  json["severity"] = to_text(about.severity);
  json["kernel"] = found.kernel;
  json["core"] = found.core;
  json["count"] = found.count;
  json["what"] = found.what;
  json["why"] = about.why;
  json["fix"] = about.fix;
  json["page"] = "docs/rules/" + page_of(about);
  Json& parties = json["parties"];
  parties = Json::array();
  for (const ReportedParty& party : found.parties) {
    Json& place = parties.emplace_back();
    place = to_json(party);
  }
  if (found.place) {
    Json& place = json["place"];
    place = to_json(*found.place);
  }
  if (!found.nearest.empty()) json["nearest"] = found.nearest;
  if (found.cost) json["cost_cycles"] = *found.cost;
  return json.take();
}

std::optional<ReportedFinding> parse_finding(const nlohmann::json& json) {
  const auto known = [](const std::string& id) {
    return std::any_of(rules().begin(), rules().end(), [&](const Rule& row) { return row.id == id; });
  };
  try {
    ReportedFinding found;
    found.rule = json.at("rule").get<std::string>();
    if (!known(found.rule)) return std::nullopt;
    found.kernel = json.value("kernel", "");
    found.core = json.value("core", -1);
    found.count = json.value("count", std::uint64_t{1});
    found.what = json.value("what", "");
    for (const Json& party : json.at("parties")) found.parties.push_back(to_party(party));
    if (const auto place = json.find("place"); place != json.end()) {
      found.place = {place->value("memory", ""), place->value("begin", std::uint64_t{0}),
                     place->value("end", std::uint64_t{0}), place->value("npu", -1), place->value("bank", -1)};
    }
    found.nearest = json.value("nearest", "");
    if (const auto cost = json.find("cost_cycles"); cost != json.end()) found.cost = cost->get<double>();
    return found;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string to_text(const ReportedFinding& found, bool colour) {
  const Rule& about = rule(found.rule);
  std::string text = fmt::format(colour ? style_of(about.severity) : fmt::text_style(), "softtpu: {} {}",
                                 to_text(about.severity), found.rule);
  text += in_kernel_text(found.kernel);
  if (found.count > 1) text += fmt::format(" ({} times)", found.count);
  text += fmt::format(": {}\n", found.what);
  for (const ReportedParty& party : found.parties) {
    const std::string site = party.at.text();
    text += fmt::format("   {}{}\n", party.text, site.empty() ? "" : ", at " + site);
    for (const std::string& frame : party.stack) text += fmt::format("      {}\n", short_frame(frame));
  }
  if (found.cost) text += fmt::format("   cost: about {:.0f} cycles\n", *found.cost);
  text += fmt::format("   why: {}\n   fix: {}", about.why, about.fix);
  if (!found.nearest.empty()) text += fmt::format(" (nearest: {})", found.nearest);
  return text + "\n";
}

std::string to_again_text(const ReportedFinding& found, std::uint64_t count) {
  if (count == 0) return fmt::format("softtpu: {}{}: {}\n", found.rule, in_kernel_text(found.kernel), found.what);
  return fmt::format("softtpu: {}{} {} more time{}: {}\n", found.rule, in_kernel_text(found.kernel), count,
                     count == 1 ? "" : "s", found.what);
}

std::string in_kernel_text(const std::string& kernel) {
  return kernel.empty() ? "" : fmt::format(" in kernel \"{}\"", kernel);
}

}  // namespace softtpu
