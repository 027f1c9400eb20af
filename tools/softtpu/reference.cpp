#include "tools/softtpu/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <tuple>

namespace softtpu::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kMostSuggestions = 3;
constexpr std::size_t kMostHits = 15;
constexpr const char* kCompared = " compared";  // behind a chip's name (tests/argument_gaps_of_chips.txt)

// Appends words to `out`, each line at most kWidth long and indented; the first line goes on where `out` stands.
void add_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ', ++column;
    out += word;
    column += word.size();
  }
  out += '\n';
}

// A text of paragraphs; lines that begin with blanks stay as they are.
void add_text(std::string& out, const std::string& text, std::size_t indent) {
  std::istringstream lines(text);
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (!first) out += std::string(indent, ' ');
    first = false;
    if (line.starts_with(' ')) {
      out += line + "\n";
    } else {
      add_wrapped(out, line, indent);
    }
  }
}

// What follows a long one begins in a line of its own.
void add_label(std::string& out, const std::string& label) {
  out += fmt::format("  {:<{}}", label, kLabelWidth);
  if (label.size() >= kLabelWidth) out += "\n" + std::string(kLabelWidth + 2, ' ');
}

void add_parameters(std::string& out, const json& parameters) {
  std::size_t width = 0;
  for (const json& one : parameters) width = std::max(width, one[0].get_ref<const std::string&>().size());
  for (const json& one : parameters) {
    out += fmt::format("  {:<{}}  ", one[0].get_ref<const std::string&>(), width);
    add_wrapped(out, one[1].get_ref<const std::string&>(), width + 4);
  }
  if (!parameters.empty()) out += '\n';
}

// Sections about calls that a chip takes.
bool is_of_calls(const std::string& label) {
  static constexpr std::array kLabels = {"types",  "limits", "NULL", "overlap", "note",
                                         "errors", "engine", "time", "samples", "example"};
  return std::ranges::find(kLabels, label) != kLabels.end();
}

// One line after the other, verbatim: an example.
void add_lines(std::string& out, const std::string& text, std::size_t indent) {
  std::istringstream lines(text);
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    out += (first ? "" : std::string(indent, ' ')) + line + "\n";
    first = false;
  }
}

void add_section(std::string& out, const std::string& label, const json& value) {
  constexpr std::size_t kIndent = kLabelWidth + 2;
  if (label == "parameters") return add_parameters(out, value);
  add_label(out, label);
  if (label == "example") return add_lines(out, value.get<std::string>(), kIndent);
  if (value.is_string()) return add_text(out, value.get<std::string>(), kIndent);
  bool first = true;
  for (const json& one : value) {
    if (!first) out += std::string(kIndent, ' ');
    first = false;
    add_wrapped(out, one.get<std::string>(), kIndent);
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// How many letters have to be changed, put in or left out.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

namespace {

// Words that say nothing of what is looked for.
constexpr std::array<std::string_view, 14> kFillWords = {"a",  "an", "and", "by", "for", "from", "how",
                                                         "in", "is", "of",  "on", "the", "to",   "with"};

// Short words have to begin a word of the text: "top" is not in "tpuRtGetTopology". A plural finds the singular too.
bool holds(const std::string& text, const std::string& word) {
  constexpr std::size_t kShort = 3;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (word.size() > kShort || at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  }
  return word.size() > kShort + 1 && word.back() == 's' && holds(text, word.substr(0, word.size() - 1));
}

}  // namespace

struct FunctionReference::Data {
  json all;
  const json& functions() const { return all["functions"]; }
  const json& text(const json& number) const { return all["texts"][number.get<std::size_t>()]; }

  // Label and text, as they are on a chip.
  std::vector<std::pair<std::string, json>> sections(const json& entry, const std::string& chip) const {
    std::vector<std::pair<std::string, json>> out;
    for (const json& section : entry["sections"]) out.emplace_back(section[0], text(section[1]));
    const auto on = entry.find("on");
    if (on == entry.end() || !on->contains(chip)) return out;
    for (const json& section : (*on)[chip]) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.first == section[0]; });
      if (same != out.end()) {
        same->second = text(section[1]);
      } else {
        out.emplace_back(section[0], text(section[1]));
      }
    }
    // What only this chip has stands where it belongs.
    const json& labels = all["labels"];
    const auto place = [&](const auto& one) { return std::find(labels.begin(), labels.end(), one.first); };
    std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return out;
  }

  // What the rules of a chip answered of each parameter: alignment, start NPU, ranges, NULL, in place; null: not asked.
  json asked(const json& entry, const std::string& chip) const {
    json out;
    for (const json& group : entry["asked"]) {
      if (std::find(group[0].begin(), group[0].end(), chip) == group[0].end()) continue;
      for (const auto& [parameter, answers] : group[1].items()) out[parameter] = text(answers);
    }
    return out;
  }

  // The arguments that no recorded case of a chip varies; null: every one is varied, or nothing is listed of the chip.
  // Those that random calls vary whose results equal docs/numerics stand apart, under "CHIP compared".
  json not_varied(const json& entry, const std::string& chip) const {
    const auto found = entry["not_varied"].find(chip);
    return found == entry["not_varied"].end() ? json() : text(*found);
  }

  // How a function is known to be right, and what no recording of the chip varies.
  void add_tested(std::string& out, const json& entry, const View& view) const {
    add_label(out, "tested");
    add_wrapped(out, view.known, kLabelWidth + 2);
    if (const json fixed = not_varied(entry, view.chip); !fixed.is_null()) {
      add_label(out, "not varied");
      add_wrapped(out,
                  fmt::format("not determined by a recording: all recorded cases of {} have the same {}", view.chip,
                              fmt::join(fixed.get<std::vector<std::string>>(), ", ")),
                  kLabelWidth + 2);
    }
    if (const json compared = not_varied(entry, view.chip + kCompared); !compared.is_null()) {
      add_label(out, "compared");
      add_wrapped(out,
                  fmt::format("compared with docs/numerics by random calls (tests/pairs), the same in all recorded "
                              "cases of {}: {}",
                              view.chip, fmt::join(compared.get<std::vector<std::string>>(), ", ")),
                  kLabelWidth + 2);
    }
  }

  // What a chip says besides, with the ranges that the text leaves out.
  std::string here(const json& entry, const View& view) const {
    std::string given, ranges;
    for (const auto& [label, value] : sections(entry, view.chip)) {
      if (label == "limits") given = value.dump();
    }
    for (const auto& [argument, range] : view.ranges) {
      const std::string name = all["limit_words"].value(argument, argument);
      if (given.find(name) == std::string::npos && given.find(argument) == std::string::npos)
        ranges += fmt::format("{} {} {}", ranges.empty() ? "" : ",", name, range);
    }
    return view.here + (ranges.empty() ? "" : "; ranges:" + ranges);
  }

  // Whether the words, as they stand, are among those that the function is looked for under.
  static bool has_topic(const json& entry, const std::string& phrase) {
    const std::string topics = " " + lower(entry["topics"].get<std::string>()) + " ";
    return !phrase.empty() && topics.find(" " + phrase + " ") != std::string::npos;
  }

  // How well a function without a page fits them.
  static std::pair<int, int> fit_name(const std::string& name, const std::string& about,
                                      const std::vector<std::string>& words) {
    int found = 0, score = 0;
    for (const std::string& word : words) {
      const int place = holds(lower(name), word) ? 6 : holds(lower(about), word) ? 4 : 0;
      found += place > 0 ? 1 : 0;
      score += place;
    }
    return {found, score};
  }

  // How well a function fits the words: how many it holds, and where.
  std::pair<int, int> fit(const std::string& name, const json& entry, const std::vector<std::string>& words) const {
    const std::string names = lower(name);
    const std::string topics = lower(entry["topics"].get<std::string>());
    const std::string purpose = lower(entry["purpose"].get<std::string>());
    std::string rest = lower(entry["family"].get<std::string>() + " " + entry["title"].get<std::string>());
    for (const json& section : entry["sections"]) {
      const std::string label = section[0];
      if (label == "see also" || label == "example" || label == "errors") continue;
      rest += " " + lower(text(section[1]).dump());
    }
    int found = 0, score = 0;
    for (const std::string& word : words) {
      const int place = holds(names, word)     ? 6
                        : holds(topics, word)  ? 5
                        : holds(purpose, word) ? 4
                        : holds(rest, word)    ? 1
                                               : 0;
      found += place > 0 ? 1 : 0;
      score += place;
    }
    return {found, score};
  }
};

FunctionReference::FunctionReference() : data_(new Data{json::parse(embedded_reference())}) {}
FunctionReference::~FunctionReference() = default;

bool FunctionReference::has(const std::string& name) const { return data_->functions().contains(name); }

std::string FunctionReference::page(const std::string& name, const View& view) const {
  const json& entry = data_->functions()[name];
  std::string out;
  add_wrapped(out, name + ": " + entry["purpose"].get<std::string>(), 0);
  out += "\n  ";
  add_lines(out, entry["signature"].get<std::string>(), 2);
  out += fmt::format("  #include <{}>\n\n", entry["include"].get<std::string>());
  bool tested_shown = view.known.empty();
  for (const auto& [label, value] : data_->sections(entry, view.chip)) {
    if (label == "source") continue;  // for maintainers: docs/reference and the JSON have it
    if (view.refused && is_of_calls(label)) continue;
    // Pages may lack either.
    if (!tested_shown && (label == "see also" || label == "example")) {
      data_->add_tested(out, entry, view);
      tested_shown = true;
    }
    add_section(out, label, value);
    if (label == "parameters" && !view.here.empty()) {
      add_label(out, view.chip);
      add_wrapped(out, data_->here(entry, view), kLabelWidth + 2);
    }
  }
  if (!tested_shown) data_->add_tested(out, entry, view);
  return out;
}

json FunctionReference::page_as_json(const std::string& name, const View& view) const {
  const json& entry = data_->functions()[name];
  json out = {{"name", name},
              {"purpose", entry["purpose"]},
              {"signature", entry["signature"]},
              {"include", entry["include"]},
              {"family", entry["family"]}};
  for (const auto& [label, value] : data_->sections(entry, view.chip)) {
    if (view.refused && is_of_calls(label)) continue;
    if (label == "parameters") {
      for (const json& one : value) out["parameters"].push_back({{"name", one[0]}, {"meaning", one[1]}});
    } else {
      out[label] = value;
    }
  }
  if (!view.known.empty()) out["known"] = view.known;
  if (!view.chip.empty()) {
    out["chip"] = view.chip;
    if (const json asked = data_->asked(entry, view.chip); !asked.is_null()) out["chip_parameters"] = asked;
    if (const json fixed = data_->not_varied(entry, view.chip); !fixed.is_null()) out["not_varied"] = fixed;
    if (const json compared = data_->not_varied(entry, view.chip + kCompared); !compared.is_null())
      out["compared"] = compared;
  }
  if (!view.here.empty()) out["on_chip"] = data_->here(entry, view);
  return out;
}

std::optional<std::vector<std::string>> FunctionReference::chips_of_sample(const std::string& name) const {
  const json& samples = data_->all["samples"];
  const auto found = samples.find(name);
  if (found == samples.end()) return std::nullopt;
  return (*found)["chips"].get<std::vector<std::string>>();
}

bool FunctionReference::is_refused_on_hosts(const std::string& name) const {
  const auto page = data_->functions().find(name);
  if (page != data_->functions().end()) return (*page)["refused"];
  const auto found = find_name(name, "");
  return found && found->about.starts_with("Refused");
}

std::optional<FunctionReference::Name> FunctionReference::find_name(const std::string& name,
                                                                    const std::string& chip) const {
  const json& names = data_->all["names"];
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  const json& on = (*found)[5];
  Name result{(*found)[0], on.value(chip, (*found)[1].get<std::string>()), (*found)[2], (*found)[3], (*found)[4], {}};
  for (const auto& [other, declaration] : on.items()) {
    if (other != chip) result.chips.push_back(other);
  }
  return result;
}

std::vector<std::string> FunctionReference::users_of(const std::string& type) const {
  std::vector<std::string> users;
  for (const auto& [name, entry] : data_->functions().items()) {
    const std::string& signature = entry["signature"].get_ref<const std::string&>();
    const std::size_t at = signature.find(type);
    const auto is_part = [&](std::size_t place) {
      return place < signature.size() &&
             (std::isalnum(static_cast<unsigned char>(signature[place])) || signature[place] == '_');
    };
    if (at != std::string::npos && !is_part(at + type.size()) && (at == 0 || !is_part(at - 1))) users.push_back(name);
  }
  return users;
}

std::vector<std::string> FunctionReference::nearest(const std::string& name) const {
  std::vector<std::pair<std::size_t, std::string>> near;
  const std::size_t most = std::max<std::size_t>(2, name.size() / 4);
  for (const auto& [other, entry] : data_->functions().items()) {
    const std::size_t edits = edits_between(lower(name), lower(other));
    if (edits <= most) near.emplace_back(edits, other);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [edits, other] : near) {
    if (names.size() < kMostSuggestions) names.push_back(other);
  }
  return names;
}

std::vector<FunctionReference::Hit> FunctionReference::search(
    const std::string& text, const std::function<bool(const std::string&)>& is_refused) const {
  constexpr int kWholeTopic = 100;  // the words together are what functions are looked for under
  std::vector<std::string> words;
  std::string phrase;
  std::istringstream stream(lower(text));
  for (std::string word; stream >> word;) {
    while (!word.empty() && std::ispunct(static_cast<unsigned char>(word.back())) != 0) word.pop_back();
    if (word.empty()) continue;
    phrase += (phrase.empty() ? "" : " ") + word;
    words.push_back(word);
  }
  const auto says_nothing = [](const std::string& word) {
    return std::find(kFillWords.begin(), kFillWords.end(), word) != kFillWords.end();
  };
  if (!std::all_of(words.begin(), words.end(), says_nothing)) std::erase_if(words, says_nothing);
  // Words, refused, score, of the one older chip, order.
  std::vector<std::tuple<int, bool, int, bool, std::size_t, std::string>> found;
  const auto add = [&](int count, int score, const std::string& name) {
    if (count > 0) found.emplace_back(-count, is_refused(name), -score, name.starts_with("okk"), name.size(), name);
  };
  for (const auto& [name, entry] : data_->functions().items()) {
    auto [count, score] = data_->fit(name, entry, words);
    if (count > 0 && data_->has_topic(entry, phrase)) score += kWholeTopic, count = static_cast<int>(words.size());
    add(count, score, name);
  }
  for (const auto& [name, entry] : data_->all["samples"].items()) {
    auto [count, score] =
        Data::fit_name(name, entry["purpose"].get<std::string>() + " " + entry["topics"].get<std::string>(), words);
    if (count > 0 && Data::has_topic(entry, phrase)) score += kWholeTopic, count = static_cast<int>(words.size());
    add(count, score, name);
  }
  for (const auto& [name, entry] : data_->all["names"].items()) {
    if (entry[0] != "function") continue;
    const auto [count, score] = Data::fit_name(name, entry[4].get<std::string>(), words);
    add(count, score, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<Hit> hits;
  for (const auto& [count, refused, score, older, size, name] : found) {
    if (hits.size() == kMostHits || count != std::get<0>(found.front())) break;
    if (const auto sample = data_->all["samples"].find(name); sample != data_->all["samples"].end()) {
      hits.push_back({name, (*sample)["purpose"]});
    } else {
      hits.push_back(
          {name, has(name) ? data_->functions()[name]["purpose"].get<std::string>() : find_name(name, "")->about});
    }
  }
  return hits;
}

}  // namespace softtpu::cli
