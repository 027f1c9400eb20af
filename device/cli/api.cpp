// softtpu api: the manual of one function, a search through all of them, and the ledger - what softtpu has, and how
// each function is known to be right.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/cli/command.hpp"
#include "device/cli/reference.hpp"
#include "device/isa/ledger.hpp"
#include "device/isa/op.hpp"

namespace softtpu::cli {
namespace {

struct ApiOptions {
  std::string chip;     // "": both interfaces
  std::string filter;   // a function's name, for its manual; else only functions whose name contains this text
  std::string search;   // words: functions whose description holds them
  bool ledger = false;  // the ledger also for a whole name
  bool json = false;
};

// How far a function can be trusted, best first.
struct Standing {
  std::string
      state;  // "exact", "oracle", "reference", "different", "unsupported", "undetermined", "refused", "unverified"
  std::string detail;  // one phrase for people
};

// On a chip that cases were recorded on.
Standing standing_on(const RecordedCases& cases) {
  if (cases.different > 0) {
    return {"different", fmt::format("differs from {} of {} recorded cases of this chip", cases.different,
                                     cases.different + cases.exact)};
  }
  const std::string deviating =
      cases.deviating > 0 ? fmt::format("; set aside: {} (docs/deviations.md)", cases.deviating) : "";
  if (cases.exact == 0) return {"exact", "recorded as refused or set aside only" + deviating};
  return {"exact", fmt::format("exact on {} recorded cases of this chip{}", cases.exact, deviating)};
}

Standing standing(const OpInfo& row, const Verification& known) {
  if (row.support == Support::kUnsupported) return {"unsupported", fmt::format("the chip has no {}", row.note)};
  if (row.support == Support::kUndetermined)
    return {"undetermined", fmt::format("refused: its {} is neither recorded nor described", row.note)};
  const std::string deviating = known.deviating > 0
                                    ? fmt::format(
                                          "; differs on purpose from {} cases that show a defect of the recorded "
                                          "emulator (docs/deviations.md)",
                                          known.deviating)
                                    : "";
  const std::string oracle =
      known.oracle > 0 ? fmt::format("exact against an independent oracle on {} random cases", known.oracle) : "";
  if (known.exact > 0)
    return {"exact",
            fmt::format("exact on {} recorded cases{}{}", known.exact, oracle.empty() ? "" : "; " + oracle, deviating)};
  if (known.oracle > 0 && known.assumed) return {"reference", "partly assumed (firmware/README.md); " + oracle};
  if (known.oracle > 0) return {"oracle", oracle + deviating};
  if (!known.reference.empty()) return {"reference", fmt::format("reference within {}{}", known.reference, deviating)};
  return {"unverified", "not verified by a recording or a reference" + deviating};
}

// "exact on 24 recorded cases of BM1690" for what the chips of the main recordings do not show.
std::string known_elsewhere(Op op) {
  std::string text;
  for (const auto& [chip, cases] : recorded_anywhere(op)) {
    if (cases.exact == 0) continue;
    std::string name(chip.substr(0, chip.find('-')));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    text += fmt::format("{}exact on {} recorded cases of {}", text.empty() ? "" : ", ", cases.exact, name);
    if (cases.different > 0) text += fmt::format(" (not on {} more)", cases.different);
  }
  return text;
}

// What the ledger knows of a function; "" for functions that it does not list.
std::string known_of(const std::string& name) {
  const auto op = find_op(name);
  if (!op) return "";
  const Standing known = standing(info(*op), verification(*op));
  const bool elsewhere = known.state == "unverified" || known.state == "unsupported";
  const std::string text = elsewhere ? known_elsewhere(*op) : "";
  return text.empty() ? known.detail : text;
}

int show_function(const FunctionReference& reference, const ApiOptions& options) {
  const std::string known = known_of(options.filter);
  if (options.json) {
    fmt::print("{}\n", reference.page_as_json(options.filter, known).dump(1));
  } else {
    fmt::print("{}", reference.page(options.filter, known));
  }
  return 0;
}

int show_search(const FunctionReference& reference, const ApiOptions& options) {
  const auto hits = reference.search(options.search);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, purpose] : hits) {
    list.push_back({{"name", name}, {"purpose", purpose}});
    if (!options.json) fmt::print("{:<44} {}\n", name, purpose);
  }
  if (options.json) fmt::print("{}\n", list.dump(1));
  if (hits.empty()) fmt::print(stderr, "softtpu api: no function's description holds any of these words\n");
  return hits.empty() ? 1 : 0;
}

int refuse_name(const FunctionReference& reference, const std::string& name) {
  std::string near;
  for (const std::string& other : reference.nearest(name)) near += (near.empty() ? "; did you mean " : ", ") + other;
  fmt::print(stderr, "softtpu api: no function's name contains \"{}\"{}{}\n", name, near, near.empty() ? "" : "?");
  return 1;
}

// What holds on the chip, where it is known; else what is known of the function.
Standing standing(Op op, const std::optional<Chip>& chip) {
  if (chip) {
    const std::string_view part = part_for(info(op));
    if (const std::string* reason = chip->reason_to_refuse(info(op).name, part))
      return {"refused", "refused: " + *reason};
    if (!chip->has_part(part)) return {"unsupported", fmt::format("the chip has no {}", part)};
    if (const auto cases = recorded_on(op, chip->full_name()); cases && !is_refused(info(op).support))
      return standing_on(*cases);
  }
  return standing(info(op), verification(op));
}

int list_ledger(const ApiOptions& options) {
  std::optional<Chip> of;
  if (!options.chip.empty()) {
    const auto chip = load_chip(options.chip);
    if (!chip) {
      fmt::print(stderr, "softtpu api: {}\n", chip.error().text);
      return 2;
    }
    of = *chip;
  }
  nlohmann::json list = nlohmann::json::array();
  std::map<std::string, int> totals;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& row = all_ops()[i];
    if (of && row.api != of->api) continue;
    if (row.name.find(options.filter) == std::string_view::npos) continue;
    const Verification known = verification(static_cast<Op>(i));
    const Standing found = standing(static_cast<Op>(i), of);
    ++totals[found.state];
    if (options.json) {
      list.push_back({{"name", row.name},
                      {"engine", to_text(row.engine)},
                      {"state", found.state},
                      {"exact", known.exact},
                      {"oracle", known.oracle},
                      {"deviating", known.deviating},
                      {"reference", known.reference},
                      {"detail", found.detail}});
    } else {
      fmt::print("{:<55} {:<8} {}\n", row.name, to_text(row.engine), found.detail);
    }
  }
  if (list.empty() && totals.empty() && !options.filter.empty())
    return refuse_name(FunctionReference(), options.filter);
  if (options.json) {
    fmt::print("{}\n", list.dump(1));
    return 0;
  }
  std::string summary;
  for (const auto& [state, count] : totals)
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, state);
  fmt::print("{}\n", summary.empty() ? "no function matches" : summary);
  return 0;
}

int run_api(const ApiOptions& options) {
  if (options.ledger || (options.filter.empty() && options.search.empty())) return list_ledger(options);
  const FunctionReference reference;
  if (!options.search.empty()) return show_search(reference, options);
  if (reference.has(options.filter)) return show_function(reference, options);
  return list_ledger(options);
}

}  // namespace

Run add_api(CLI::App& app) {
  auto options = std::make_shared<ApiOptions>();
  app.add_option("--chip", options->chip, "only the functions of this chip");
  app.add_option("name", options->filter,
                 "a function: its manual; any other text: the functions whose name contains it");
  app.add_option("--search", options->search, "functions whose description holds these words");
  app.add_flag("--ledger", options->ledger, "how each function is known to be right, also for a whole name");
  app.add_flag("--json", options->json, "as JSON");
  app.footer("Exit status: 0; 1 when no function has that name or those words; 2 when no chip has that name.");
  return [options] { return run_api(*options); };
}

}  // namespace softtpu::cli
