#include "runtime/report/finding.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <concepts>
#include <type_traits>

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

// The members of what a finding consists of, with their names in a journal: one list for its writer and its reader,
// each of which is an `f`. A member with a third argument is left out where it is equal to that.
template <class Member, class F>
requires std::same_as<std::remove_const_t<Member>, ReportedRange>
void visit(Member& place, F f) {
  f("memory", place.memory);
  f("begin", place.begin);
  f("end", place.end);
  f("npu", place.npu, -1);
  f("bank", place.bank, -1);
}
template <class Member, class F>
requires std::same_as<std::remove_const_t<Member>, ReportedParty>
void visit(Member& party, F f) {
  f("function", party.function);
  f("text", party.text);
  f("file", party.at.path, "");
  f("line", party.at.line, 0);
  f("caller", party.at.function, "");
  f("stack", party.stack, std::vector<std::string>());
}
template <class Member, class F>
requires std::same_as<std::remove_const_t<Member>, ReportedFinding>
void visit(Member& found, F f) {
  f("rule", found.rule);
  f("kernel", found.kernel);
  f("core", found.core);
  f("count", found.count);
  f("what", found.what);
  f("place", found.place, std::nullopt);
  f("parties", found.parties);
  f("nearest", found.nearest, "");
  f("cost_cycles", found.cost, std::nullopt);
}

template <class T>
Json members_of(const T& whole);

void put(Json& at, const auto& value) { at = value; }
void put(Json& at, const ReportedRange& place) { at = members_of(place); }
void put(Json& at, const std::vector<ReportedParty>& parties) {
  at = Json::array();
  for (const ReportedParty& party : parties) {
    Json& one = at.emplace_back();
    one = members_of(party);
    one["site"] = party.at.text();
  }
}

struct Writer {
  template <class T>
  void operator()(const char* name, const T& member) const {
    Json& at = json[name];
    put(at, member);
  }
  template <class T, class Left>
  void operator()(const char* name, const T& member, const Left& left_out) const {
    if (member != left_out) (*this)(name, member);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& member, std::nullopt_t) const {
    if (member) (*this)(name, *member);
  }
  Json& json;
};

template <class T>
Json members_of(const T& whole) {
  JsonTree json;
  visit(whole, Writer{*json});
  return json.take();
}

// What is missing stays as it is.
struct FieldReader {
  template <class T>
  void operator()(const char* name, T& member) const {
    if (const auto found = json.find(name); found != json.end()) take(*found, member);
  }
  template <class T, class Left>
  void operator()(const char* name, T& member, const Left&) const {
    (*this)(name, member);
  }
  static void take(const Json& from, auto& member) { from.get_to(member); }
  static void take(const Json& from, ReportedRange& place) { visit(place, FieldReader{as_object(from)}); }
  static void take(const Json& from, std::vector<ReportedParty>& parties) {
    for (const Json& one : from) visit(parties.emplace_back(), FieldReader{as_object(one)});
  }
  template <class T>
  static void take(const Json& from, std::optional<T>& member) {
    take(from, member.emplace());
  }
  // Throws where it is none.
  static const Json& as_object(const Json& from) {
    static_cast<void>(from.get_ref<const Json::object_t&>());
    return from;
  }
  const Json& json;
};

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
  visit(found, Writer{*json});
  json["severity"] = to_text(about.severity);
  json["why"] = about.why;
  json["fix"] = about.fix;
  json["page"] = "docs/rules/" + page_of(about);
  return json.take();
}

std::optional<ReportedFinding> parse_finding(const nlohmann::json& json) {
  const auto known = [](const std::string& id) {
    return std::any_of(rules().begin(), rules().end(), [&](const Rule& row) { return row.id == id; });
  };
  try {
    ReportedFinding found;
    if (!json.contains("parties")) return std::nullopt;
    visit(found, FieldReader{json});
    if (!known(found.rule)) return std::nullopt;
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
