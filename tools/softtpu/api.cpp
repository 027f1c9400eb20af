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
#include <utility>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/chip/limits.hpp"
#include "device/chip/names.hpp"
#include "device/isa/op.hpp"
#include "runtime/base/text.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/ledger.hpp"
#include "tools/softtpu/reference.hpp"

namespace softtpu::cli {
namespace {

struct ApiOptions {
  std::string chip;                // "": both interfaces
  std::vector<std::string> words;  // as given: a name, or several words
  std::string filter;  // a function's name, for its manual; else only functions whose name contains this text
  std::vector<std::string> search_words;  // as given behind --search
  std::string search;                     // words: functions whose description holds them
  bool ledger = false;                    // the ledger also for a whole name
  bool json = false;
};

// How far a function can be trusted.
struct Standing {
  std::string state;   // one of kStates
  std::string detail;  // one phrase for people
};
// Best first, and how many functions are so in plain words.
constexpr std::pair<const char*, const char*> kStates[] = {
    {"exact", "equal to recordings"},
    {"oracle", "equal to an independent calculation"},
    {"reference", "compared with a reference"},
    {"different", "different in some recorded cases"},
    {"unverified", "not verified"},
    {"refused", "refused by the chip"},
    {"unsupported", "refused because the chip lacks a part"},
    {"undetermined", "refused because their effect is not known"},
};

std::string count_of(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// On a chip that cases were recorded on.
Standing standing_on(const RecordedCases& cases) {
  if (cases.different > 0) {
    return {"different", fmt::format("differs from the vendor's emulator in {} of {} of this chip", cases.different,
                                     count_of(cases.different + cases.exact, "recorded case"))};
  }
  const std::string deviating =
      cases.deviating > 0 ? fmt::format("; set aside: {} (docs/deviations.md)", cases.deviating) : "";
  if (cases.exact == 0) return {"exact", "recorded as refused or set aside only" + deviating};
  return {"exact", fmt::format("equals the vendor's emulator in {} of this chip{}",
                               count_of(cases.exact, "recorded case"), deviating)};
}

Standing standing(const OpInfo& row, const Verification& known) {
  if (row.support == Support::kUnsupported)
    return {"unsupported", fmt::format("refused: no emulated chip has what it needs ({})", row.note)};
  if (row.support == Support::kUndetermined)
    return {"undetermined", fmt::format("refused: its {} is neither recorded nor described", row.note)};
  const std::string deviating =
      known.deviating > 0
          ? fmt::format("; {} where the emulator is wrong are listed in docs/deviations.md", known.deviating)
          : "";
  const std::string oracle =
      known.oracle > 0 ? fmt::format("equals an independent calculation in {}", count_of(known.oracle, "random case"))
                       : "";
  if (known.exact > 0)
    return {"exact", fmt::format("equals the vendor's emulator in {}{}{}", count_of(known.exact, "recorded case"),
                                 oracle.empty() ? "" : "; " + oracle, deviating)};
  if (known.oracle > 0 && known.assumed) return {"reference", "partly assumed (firmware/README.md); " + oracle};
  if (known.oracle > 0) return {"oracle", oracle + deviating};
  if (!known.reference.empty()) return {"reference", fmt::format("reference within {}{}", known.reference, deviating)};
  return {"unverified", "not verified by a recording or a reference" + deviating};
}

// "equals the vendor's emulator in 24 recorded cases of BM1690" for what the chips of the main recordings do not show.
std::string known_elsewhere(Op op) {
  std::string text;
  for (const auto& [chip, cases] : Ledger::get().recorded_anywhere(op)) {
    if (cases.exact == 0) continue;
    std::string name(chip.substr(0, chip.find('-')));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    text += fmt::format("{}equals the vendor's emulator in {} of {}", text.empty() ? "" : ", ",
                        count_of(cases.exact, "recorded case"), name);
    if (cases.different > 0) text += fmt::format(" (not on {} more)", cases.different);
  }
  return text;
}

// What the ledger knows of a function; "" for functions that it does not list.
std::string known_of(const std::string& name) {
  const auto op = find_op(name);
  if (!op) return "";
  const Standing known = standing(info(*op), Ledger::get().verification(*op));
  const bool elsewhere = known.state == "unverified" || known.state == "unsupported";
  const std::string text = elsewhere ? known_elsewhere(*op) : "";
  return text.empty() ? known.detail : text;
}

// The built-in chips that run a function: that have what it needs and do not refuse every call.
bool runs_on(const OpInfo& row, const Chip& chip) {
  return row.api == chip.api && !is_refused(row.support) && chip.has_part(part_for(row)) &&
         chip.reason_to_refuse(row.name, part_for(row)) == nullptr;
}

const std::vector<std::pair<std::string, Chip>>& all_chips() {
  static const auto* const chips = [] {
    auto* list = new std::vector<std::pair<std::string, Chip>>;
    for (const std::string& name : builtin_chip_names()) {
      if (auto chip = load_chip(name)) list->emplace_back(name, *std::move(chip));
    }
    return list;
  }();
  return *chips;
}

// Functions outside of the table are those of hosts, which run with every chip or with none.
bool runs_on(const FunctionReference& reference, const std::string& name, const Chip& chip) {
  if (const auto chips = reference.chips_of_sample(name)) return std::ranges::find(*chips, chip.name) != chips->end();
  const auto op = find_op(name);
  return op ? runs_on(info(*op), chip) : !reference.is_refused_on_hosts(name);
}

std::vector<std::string> usable_on(const FunctionReference& reference, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [chip_name, chip] : all_chips()) {
    if (runs_on(reference, name, chip)) names.push_back(chip_name);
  }
  return names;
}

struct RangeHere {
  std::string argument, low, high;
};
// The ranges that the validators ask on a chip, by the names of their messages. What a set says of an argument more
// than once all holds.
std::vector<RangeHere> ranges_on(const OpInfo& row, const Chip& chip) {
  struct Ends {
    Bound low, high;
  };
  const auto number = [&](const Bound& bound) { return bound.on(chip, [](const char*) { return 0; }); };
  const auto text = [&](const Bound& bound) {
    if (bound.argument == nullptr) return std::to_string(number(bound));
    return bound.number == 0 ? std::string(bound.argument) : fmt::format("{}{:+}", bound.argument, bound.number);
  };
  std::vector<std::pair<std::string, Ends>> ends;
  for (const Limit& limit : limits_of(row.limits)) {
    const auto same =
        std::find_if(ends.begin(), ends.end(), [&](const auto& other) { return other.first == limit.argument; });
    if (same == ends.end()) {
      ends.push_back({limit.argument, {limit.low, limit.high}});
      continue;
    }
    Ends& of = same->second;
    if (of.low.argument == nullptr && limit.low.argument == nullptr)
      of.low = std::max<std::int64_t>(number(of.low), number(limit.low));
    if (of.high.argument == nullptr && limit.high.argument == nullptr)
      of.high = std::min<std::int64_t>(number(of.high), number(limit.high));
  }
  std::vector<RangeHere> ranges;
  ranges.reserve(ends.size());
  for (const auto& [argument, of] : ends) ranges.push_back({argument, text(of.low), text(of.high)});
  return ranges;
}

// What holds on one chip and stands in no text of the function: whether it has the function, and the sizes that texts
// give for the chip that they were written for.
std::string on_chip(const std::string& name, const Chip& chip) {
  const auto op = find_op(name);
  if (!op) return "";
  const OpInfo& row = info(*op);
  if (row.api != chip.api)
    return fmt::format("is no chip for this function: it runs {} functions",
                       chip.api == Api::kTpuKernel ? "tpu_*" : "okk_*");
  if (const std::string* reason = chip.reason_to_refuse(row.name, part_for(row)))
    return "refuses every call: " + *reason;
  if (!chip.has_part(part_for(row))) return fmt::format("has no {}: every call is refused", part_for(row));
  if (row.support == Support::kUndetermined)
    return fmt::format("refuses every call: its {} is neither recorded nor described", row.note);
  std::string text =
      fmt::format("{} NPUs, {} bytes of local memory in each, in {} banks; aligned layout: {} bytes; {} core{}",
                  chip.npu_num, chip.local_bytes, chip.banks, chip.eu_bytes, chip.cores, chip.cores == 1 ? "" : "s");
  const bool is_written_for = chip.api == Api::kOkKernel || (chip.name == "bm1684x" && chip.npu_num == 64);
  if (!is_written_for) text += " (where a text says 64 NPUs or 64 bytes, it is about BM1684X)";
  const bool has_narrow = (chip.extra_types & types(Dtype::kInt4)) != 0;
  if (has_narrow && row.types != kNoTypes)
    text +=
        "; 4-bit integers that the types do not list are refused: whether the chip takes them is not determined, "
        "unless a note says it";
  return text;
}

// What the ledger knows of a function on a chip.
std::string known_on(const std::string& name, const std::optional<Chip>& chip);

int show_function(const FunctionReference& reference, const ApiOptions& options, const std::optional<Chip>& chip) {
  FunctionReference::View view;
  view.known = chip ? known_on(options.filter, chip) : known_of(options.filter);
  if (chip) {
    view.chip = canonical_chip_name(options.chip);
    view.here = on_chip(options.filter, *chip);
    if (std::ranges::none_of(all_chips(), [&](const auto& row) { return row.first == view.chip; })) {
      view.chip = chip->name;
      view.here += "; types, limits, errors and the example are not those of this description but of the first chip";
    }
    const auto op = find_op(options.filter);
    view.refused = op && !runs_on(info(*op), *chip);
    if (op && !view.refused) {
      for (const RangeHere& range : ranges_on(info(*op), *chip))
        view.ranges.emplace_back(range.argument, range.low + ".." + range.high);
    }
  }
  if (options.json) {
    nlohmann::json page = reference.page_as_json(options.filter, view);
    page["usable_on"] = usable_on(reference, options.filter);
    if (chip) {
      page["chip_sizes"] = {{"npus", chip->npu_num},
                            {"local_bytes", chip->local_bytes},
                            {"banks", chip->banks},
                            {"alignment", chip->eu_bytes},
                            {"cores", chip->cores}};
      page["chip_ranges"] = nlohmann::json::object();
      if (const auto op = find_op(options.filter); op && runs_on(info(*op), *chip)) {
        for (const RangeHere& range : ranges_on(info(*op), *chip))
          page["chip_ranges"][range.argument] = {range.low, range.high};
      }
    }
    fmt::print("{}\n", page.dump(1));
  } else {
    fmt::print("{}", reference.page(options.filter, view));
  }
  return 0;
}

// A type, an enumerator, a macro or a function without a page.
int show_name(const FunctionReference& reference, const FunctionReference::Name& name, const ApiOptions& options) {
  const bool is_type = name.kind != "macro" && name.kind != "enumerator" && name.kind != "function";
  const std::vector<std::string> users = is_type ? reference.users_of(options.filter) : std::vector<std::string>();
  if (options.json) {
    nlohmann::json json = {{"name", options.filter},  {"kind", name.kind}, {"declaration", name.declaration},
                           {"include", name.header},  {"of", name.of},     {"used_by", users},
                           {"differs_on", name.chips}};
    if (name.kind == "function") json["purpose"] = name.about, json["usable_on"] = usable_on(reference, options.filter);
    if (!options.chip.empty()) json["chip"] = canonical_chip_name(options.chip);
    print_json(json);
    return 0;
  }
  fmt::print("{}: {}{}\n\n  {}\n  #include <{}>\n", options.filter, name.kind, name.of.empty() ? "" : " of " + name.of,
             name.declaration.empty()
                 ? (options.chip.empty() ? "not declared for most chips" : "not declared for this chip")
                 : name.declaration,
             name.header);
  if (!name.about.empty()) fmt::print("\n  {}\n", name.about);
  if (!name.chips.empty())
    fmt::print("\n  differs on  {} (`softtpu api --chip {} {}`)\n", fmt::join(name.chips, ", "), name.chips.front(),
               options.filter);
  constexpr std::size_t kShown = 12;
  if (!users.empty())
    fmt::print(
        "\n  used by     {}{}\n",
        fmt::join(users.begin(), users.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, users.size())), ", "),
        users.size() > kShown ? fmt::format(" and {} more", users.size() - kShown) : "");
  return 0;
}

int show_search(const FunctionReference& reference, const ApiOptions& options, const std::optional<Chip>& chip) {
  const auto is_refused = [&](const std::string& name) {
    return chip ? !runs_on(reference, name, *chip) : usable_on(reference, name).empty();
  };
  const auto hits = reference.search(options.search, is_refused);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, purpose] : hits) {
    list.push_back({{"name", name}, {"purpose", purpose}, {"usable_on", usable_on(reference, name)}});
    if (!options.json) fmt::print("{:<44} {}\n", name, purpose);
  }
  if (options.json) fmt::print("{}\n", list.dump(1));
  if (hits.empty())
    fmt::print(stderr,
               "softtpu api: no function's description holds any of these words; softtpu api lists all functions\n");
  return hits.empty() ? 1 : 0;
}

int refuse_name(const FunctionReference& reference, const std::string& name) {
  std::string near;
  for (const std::string& other : reference.nearest(name)) near += (near.empty() ? "; did you mean " : ", ") + other;
  fmt::print(stderr,
             "softtpu api: no function's name contains \"{}\"{}; --search WORDS finds functions by what they do\n",
             escape_controls(name), near.empty() ? "" : near + "?");
  return 1;
}

// What holds on the chip, where it is known; else what is known of the function.
Standing standing(Op op, const std::optional<Chip>& chip) {
  if (chip) {
    const std::string_view part = part_for(info(op));
    if (const std::string* reason = chip->reason_to_refuse(info(op).name, part))
      return {"refused", "refused: " + *reason};
    if (!chip->has_part(part)) return {"unsupported", fmt::format("the chip has no {}", part)};
    if (const auto cases = Ledger::get().recorded_on(op, chip->full_name()); cases && !is_refused(info(op).support))
      return standing_on(*cases);
  }
  return standing(info(op), Ledger::get().verification(op));
}

std::string known_on(const std::string& name, const std::optional<Chip>& chip) {
  const auto op = find_op(name);
  return op ? standing(*op, chip).detail : std::string();
}

int list_ledger(const ApiOptions& options, const std::optional<Chip>& of) {
  const FunctionReference reference;
  nlohmann::json list = nlohmann::json::array();
  std::map<std::string, int> totals;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& row = all_ops()[i];
    if (of && row.api != of->api) continue;
    if (row.name.find(options.filter) == std::string_view::npos) continue;
    const Verification known = Ledger::get().verification(static_cast<Op>(i));
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
                      {"detail", found.detail},
                      {"usable_on", usable_on(reference, std::string(row.name))}});
    } else {
      fmt::print("{:<55} {:<8} {}\n", row.name, to_text(row.engine), found.detail);
    }
  }
  if (totals.empty() && !options.filter.empty()) return refuse_name(reference, options.filter);
  if (options.json) {
    fmt::print("{}\n", list.dump(1));
    return 0;
  }
  int all = 0;
  std::string summary;
  for (const auto& [state, words] : kStates) {
    if (const auto found = totals.find(state); found != totals.end()) {
      summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", found->second, words);
      all += found->second;
    }
  }
  fmt::print("{}: {}\n", count_of(all, "function"), summary);
  return 0;
}

bool is_in_a_name(const std::string& text, const std::optional<Chip>& chip) {
  return std::any_of(all_ops().begin(), all_ops().end(), [&](const OpInfo& row) {
    return (!chip || row.api == chip->api) && row.name.find(text) != std::string_view::npos;
  });
}

// A name that no function has and no function's name contains: what the manual says about the word, if anything.
int find_otherwise(const FunctionReference& reference, ApiOptions options, const std::optional<Chip>& chip) {
  options.search = options.filter;
  if (reference.search(options.search, [](const std::string&) { return false; }).empty())
    return refuse_name(reference, options.filter);
  fmt::print(stderr, "softtpu api: no function's name contains \"{}\"; functions for this purpose:\n",
             escape_controls(options.filter));
  return show_search(reference, options, chip);
}

int run_api(const ApiOptions& options) {
  std::optional<Chip> chip;
  if (!options.chip.empty()) {
    auto found = load_chip(options.chip);
    if (!found) {
      fmt::print(stderr, "softtpu api: {}\n", escape_controls(found.error().text));
      return 2;
    }
    chip = *std::move(found);
  }
  if (options.ledger || (options.filter.empty() && options.search.empty())) return list_ledger(options, chip);
  const FunctionReference reference;
  if (!options.search.empty()) return show_search(reference, options, chip);
  if (reference.has(options.filter)) return show_function(reference, options, chip);
  const std::string chip_name = options.chip.empty() ? "" : canonical_chip_name(options.chip);
  if (const auto name = reference.find_name(options.filter, chip_name)) return show_name(reference, *name, options);
  if (!is_in_a_name(options.filter, chip)) return find_otherwise(reference, options, chip);
  return list_ledger(options, chip);
}

// One word is a name, several are what a function is for.
void settle(ApiOptions& options) {
  options.search = fmt::format("{}", fmt::join(options.search_words, " "));
  if (options.words.size() == 1) options.filter = options.words.front();
  if (options.words.size() > 1) options.search = fmt::format("{}", fmt::join(options.words, " "));
}

}  // namespace

Run add_api(CLI::App& app) {
  auto options = std::make_shared<ApiOptions>();
  app.add_option("--chip", options->chip, "what holds on this chip; in lists only its functions");
  app.add_option("name", options->words,
                 "a function: its manual; a type, enumerator, macro or function of libbmrt and libbmcv: its "
                 "declaration; a part of a name: the functions "
                 "whose name contains it; other words: functions for this purpose");
  app.add_option("--search", options->search_words, "functions whose description holds these words");
  app.add_flag("--ledger", options->ledger, "how each function is known to be right, also for a whole name");
  app.add_flag("--json", options->json, "as JSON");
  app.footer("Exit status: 0; 1 when no function has that name or those words; 2 when no chip has that name.");
  return [options] {
    settle(*options);
    return run_api(*options);
  };
}

}  // namespace softtpu::cli
