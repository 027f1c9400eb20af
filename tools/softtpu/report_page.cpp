#include "tools/softtpu/report_page.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

namespace softtpu::cli {
namespace {

using Json = nlohmann::json;

// A page with more would be slow to draw; kernels that are launched with many sizes have as many estimates.
constexpr std::size_t kMostLaunches = 60;

// The member, or the usual value where there is none of its type.
template <class T>
T member(const Json& json, const char* name, const T& usual) {
  const auto found = json.find(name);
  if (found == json.end()) return usual;
  const bool fits = std::is_integral_v<T>         ? found->is_number_unsigned()
                    : std::is_floating_point_v<T> ? found->is_number()
                                                  : found->is_string();
  return fits ? found->get<T>() : usual;
}

Result<Json> read_launches(const std::vector<std::string>& records) {
  Json launches = Json::array();
  std::map<std::tuple<std::string, double, std::uint64_t>, std::size_t> known;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Json record = Json::parse(records[i], nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || member<std::string>(record, "format", "") != "softtpu-time-1") {
      return Error{ErrorKind::kUsage, fmt::format("launch {} is not a record of softtpu's times", i + 1)};
    }
    const std::tuple key(member<std::string>(record, "kernel", ""), member(record, "total_us", 0.0),
                         member(record, "commands_total", std::uint64_t{0}));
    const auto [place, is_new] = known.emplace(key, launches.size());
    if (!is_new) {
      if (place->second < launches.size())
        launches[place->second]["times"] = launches[place->second]["times"].get<int>() + 1;
      continue;
    }
    if (launches.size() == kMostLaunches) {
      known.erase(place);
      continue;
    }
    record["times"] = 1;
    launches.push_back(std::move(record));
  }
  return launches;
}

// Inside a script element nothing may look like its end.
std::string to_script_text(const Json& data) {
  std::string text;
  for (const char letter : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

Result<std::string> make_page(const ReportInput& input) {
  auto launches = read_launches(input.launches);
  if (!launches) return launches.error();
  Json findings;
  if (!input.findings.empty()) {
    findings = Json::parse(input.findings, nullptr, /*allow_exceptions=*/false);
    if (!findings.is_object() || member<std::string>(findings, "format", "") != "softtpu-findings") {
      return Error{ErrorKind::kUsage, "the findings are not a JSON report of softtpu run"};
    }
  }
  std::string page(embedded_page("page.html"));
  put(page, "@STYLE@", embedded_page("page.css"));
  put(page, "@SCRIPT@", embedded_page("page.js"));
  // Last, since it may hold anything.
  put(page, "@DATA@",
      to_script_text({{"program", input.program}, {"launches", *std::move(launches)}, {"findings", findings}}));
  return page;
}

}  // namespace softtpu::cli
