// softtpu bmodel time: estimates for the networks of files, without running them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>

#include "device/timing/language_part.hpp"
#include "device/timing/launch_time.hpp"
#include "runtime/bmodel/model_file.hpp"
#include "tools/softtpu/bmodel.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/network_time.hpp"

namespace softtpu::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

double percent(double share) { return 100 * share; }

std::string size_text(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

// How far the estimate may be off: what networks of its precision were, each left out of the fit.
std::string trust_text(const NetworkTime& time) {
  if (!time.error) return "no published time of a network of this kind and chip was compared";
  return to_text(*time.error, time.network);
}

Spent bound_of(const Moment& end) {
  return static_cast<Spent>(std::max_element(end.spent.begin(), end.spent.end()) - end.spent.begin());
}

const std::string kNothing = "nothing";

// What limits a layer, and what would if that cost nothing.
std::pair<std::string, std::string> limits_of(const LayerTime& layer) {
  std::array<std::pair<double, std::string>, 3> parts = {std::pair(layer.products_us, std::string("products")),
                                                         std::pair(layer.other_us, std::string("other BDC work")),
                                                         std::pair(layer.ddr_us, std::string("DDR"))};
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return {parts[0].second, parts[1].first > 0 ? parts[1].second : kNothing};
}

OrderedJson to_json(const NetworkTime& time, std::size_t most_layers) {
  OrderedJson spent = OrderedJson::object();
  for (std::size_t i = 0; i < kSpentKinds; ++i)
    if (time.end.spent[i] > 0) spent[std::string(to_text(static_cast<Spent>(i)))] = time.end.spent[i];
  OrderedJson rests = OrderedJson::object();
  for (std::size_t i = 0; i < kBases; ++i) rests[std::string(to_text(static_cast<Basis>(i)))] = time.end.by_basis[i];
  OrderedJson busy = OrderedJson::object();
  for (std::size_t i = 0; i < kQueues; ++i)
    if (time.busy_us[i] > 0) busy[std::string(to_text(static_cast<Queue>(i)))] = time.busy_us[i];
  OrderedJson layers = OrderedJson::array();
  for (std::size_t i = 0; i < std::min(most_layers, time.layers.size()); ++i) {
    const LayerTime& layer = time.layers[i];
    const auto [bound, next] = limits_of(layer);
    layers.push_back({{"name", layer.name},
                      {"commands", layer.commands},
                      {"us", layer.us()},
                      {"products_us", layer.products_us},
                      {"other_us", layer.other_us},
                      {"ddr_us", layer.ddr_us},
                      {"bound", bound},
                      {"next", next}});
  }
  OrderedJson error = nullptr;
  if (time.error)
    error = {{"networks", time.error->networks}, {"error", time.error->error}, {"median", time.error->median},
             {"lower", time.error->lower},       {"upper", time.error->upper}, {"text", trust_text(time)}};
  return {{"file", time.file},
          {"chip", time.chip},
          {"network", time.network},
          {"stage", time.stage},
          {"cores", time.cores},
          {"precision", time.precision},
          {"us", time.end.us},
          {"bound", to_text(bound_of(time.end))},
          {"spent_us", spent},
          {"rests_on_us", rests},
          {"error", error},
          {"busy_us", busy},
          {"ddr_read_bytes", time.bytes[0]},
          {"ddr_write_bytes", time.bytes[1]},
          {"operations", time.operations},
          {"ideal_us", time.ideal_us},
          {"commands", time.commands},
          {"layers", layers}};
}

void print_text(const NetworkTime& time, std::size_t most_layers) {
  print_escaped("{}, stage {}: {:.3f} ms {}, mostly {}\n", time.network, time.stage, time.end.us / 1e3,
                trust_text(time), to_words(bound_of(time.end)));
  std::string spent;
  for (std::size_t i = 0; i < kSpentKinds; ++i) {
    if (time.end.spent[i] > 0)
      spent += fmt::format("{}{} {:.3f} ms", spent.empty() ? "" : ", ", to_words(static_cast<Spent>(i)),
                           time.end.spent[i] / 1e3);
  }
  print_escaped("   spent    {}\n   rests on {}\n", spent, basis_text(time.end.by_basis));
  for (const std::string& part : time.not_counted)
    print_escaped("   without  {}: time of the host's processor is not estimated\n", part);
  for (std::size_t i = 0; i < std::min(most_layers, time.layers.size()); ++i) {
    const LayerTime& layer = time.layers[i];
    const auto [bound, next] = limits_of(layer);
    print_escaped("   {} {:9.1f} us {:>5}x {}: bound by {}{}\n", i == 0 ? "layers  " : "        ", layer.us(),
                  layer.commands, layer.name, bound, next == kNothing ? " alone" : ", next " + next);
  }
}

// Error and networks are empty where nothing was compared; four shares of the time are followed by what the text says.
void print_csv(const NetworkTime& time) {
  const std::string error = time.error ? fmt::format("{:.3f},{}", time.error->error, time.error->networks) : ",";
  const double all = std::accumulate(time.end.by_basis.begin(), time.end.by_basis.end(), 0.0);
  std::string shares;
  for (const double us : time.end.by_basis) shares += fmt::format(",{:.3f}", all > 0 ? us / all : 0.0);
  print_escaped("{},{},{},{},{},{},{:.3f},{},{}{},\"{}\"\n", time.file, time.chip, time.network, time.stage, time.cores,
                time.precision, time.end.us / 1e3, to_text(bound_of(time.end)), error, shares, trust_text(time));
}

// How many tokens a stage of a block holds: the width of its attention mask, in which the token itself has a place when
// the others come from a cache. 0: not known.
std::uint64_t places_of(LanguagePart part, const bmodel::Stage& stage) {
  if (part != LanguagePart::kBlock && part != LanguagePart::kCachedBlock) return 0;
  for (const bmodel::Tensor& tensor : stage.inputs) {
    if (tensor.name.find("mask") == std::string::npos || tensor.shape.empty()) continue;
    return tensor.shape.back() - (part == LanguagePart::kCachedBlock && tensor.shape.back() > 0 ? 1 : 0);
  }
  return 0;
}

// The stage for a text of so many tokens: the smallest that holds it; the first when sizes are not known.
Result<std::size_t> stage_for(const bmodel::Network& network, int length) {
  const LanguagePart part = language_part(network.name);
  std::optional<std::size_t> best;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < network.stages.size(); ++i) {
    const std::uint64_t places = places_of(part, network.stages[i]);
    if (places == 0) return std::size_t{0};
    most = std::max(most, places);
    if (places < static_cast<std::uint64_t>(length)) continue;
    if (!best || places < places_of(part, network.stages[*best])) best = i;
  }
  if (best) return *best;
  return Error{ErrorKind::kUsage,
               fmt::format("--length {}: network \"{}\" holds at most {} tokens", length, network.name, most)};
}

struct Language {
  int blocks = 0, cached_blocks = 0;
  std::uint64_t places = 0;  // tokens; 0: not known
  double block_us = 0, cached_block_us = 0, first_rest_us = 0, next_rest_us = 0;
  void add(const NetworkTime& time, std::uint64_t tokens) {
    const double us = time.end.us;
    switch (language_part(time.network)) {
      case LanguagePart::kBlock:
        ++blocks;
        block_us += us;
        break;
      case LanguagePart::kCachedBlock:
        ++cached_blocks;
        cached_block_us += us;
        break;
      case LanguagePart::kEmbedding: first_rest_us += us; break;
      case LanguagePart::kCachedEmbedding: next_rest_us += us; break;
      case LanguagePart::kHead:
        first_rest_us += us;
        next_rest_us += us;
        break;
      case LanguagePart::kNone: break;
    }
    if (tokens > 0) places = places == 0 ? tokens : std::min(places, tokens);
  }
  // With so many blocks; 0: those of the file.
  double first_us(int all) const { return first_rest_us + (blocks == 0 ? 0 : block_us * times(all, blocks)); }
  double next_us(int all) const {
    return next_rest_us + (cached_blocks == 0 ? 0 : cached_block_us * times(all, cached_blocks));
  }

 private:
  static double times(int all, int held) { return all == 0 ? 1 : static_cast<double>(all) / held; }
};

OrderedJson to_json(const Language& language, const std::string& file, int all) {
  OrderedJson json = {{"file", file}, {"blocks", all > 0 ? all : std::max(language.blocks, language.cached_blocks)}};
  json["blocks_in_file"] = std::max(language.blocks, language.cached_blocks);
  json["places"] = language.places;
  json["first_token_us"] = language.blocks > 0 ? OrderedJson(language.first_us(all)) : OrderedJson(nullptr);
  const bool next = language.cached_blocks > 0 && language.next_us(all) > 0;
  json["next_token_us"] = next ? OrderedJson(language.next_us(all)) : OrderedJson(nullptr);
  json["tokens_per_s"] = next ? OrderedJson(1e6 / language.next_us(all)) : OrderedJson(nullptr);
  return json;
}

void print_text(const Language& language, int all) {
  std::string text =
      fmt::format("language model of {} blocks", all > 0 ? all : std::max(language.blocks, language.cached_blocks));
  if (language.places > 0)
    text += fmt::format(", compiled for {} tokens (a shorter text takes as long)", language.places);
  text += ":";
  if (language.blocks > 0) text += fmt::format(" first token {:.3f} s,", language.first_us(all) / 1e6);
  if (language.cached_blocks > 0) text += fmt::format(" then {:.2f} tokens/s,", 1e6 / language.next_us(all));
  print_escaped("{} without the host's work\n", text);
}

void print_fit_rows(const NetworkTime& time, const std::vector<FitRow>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const FitRow& row : rows) {
    OrderedJson quantities = OrderedJson::object();
    for (const auto& [name, amount] : row.quantities)
      quantities[std::string(name)] = quantities.value(std::string(name), 0.0) + amount;
    list.push_back({row.engine, row.after, quantities});
  }
  const OrderedJson line = {{"file", time.file}, {"precision", time.precision}, {"us", time.end.us}, {"rows", list}};
  fmt::print("{}\n", line.dump());
}

// CHIP=FILE: instead of the fit that is compiled in.
Result<void> read_fit(const std::string& what) {
  const std::size_t equals = what.find('=');
  const std::string path = equals == std::string::npos ? "" : what.substr(equals + 1);
  const auto file = bmodel::ModelFile::open(path);
  if (!file) return Error{file.error().kind, fmt::format("{}: {}", path, file.error().text)};
  const bmodel::Bytes bytes = (*file)->bytes();
  if (auto read = (*file)->fetch(bytes); !read)
    return Error{read.error().kind, fmt::format("{}: {}", path, read.error().text)};
  return Fit::replace(what.substr(0, equals), std::string(bytes.begin(), bytes.end()));
}

// The first estimate of a file, for --with.
struct First {
  std::shared_ptr<const bmodel::ModelFile> file;
  bmodel::Model model;
  std::size_t network = 0, stage = 0;
  StageOfFile at() const { return {model, model.networks[network], stage}; }
};

std::string slower_text(double us, double alone_us) {
  return fmt::format("{:.3f} ms, {:.0f} % later than alone", us / 1e3, percent(us / alone_us - 1));
}

Result<OrderedJson> show_together(const First& a, const First& b, TimingPreset preset, bool text) {
  const auto both = time_together(a.at(), b.at(), preset);
  if (!both) return both.error();
  const std::string& first = a.at().network.name;
  const std::string& second = b.at().network.name;
  const double us = std::max(both->first_us, both->second_us);
  if (text)
    print_escaped(
        "{} and {} together: {:.3f} ms for one launch of each, {}: {} ends after {}, {} after {}\n", first, second,
        us / 1e3, both->side_by_side ? "side by side on cores that share DDR" : "in turns on one core", first,
        slower_text(both->first_us, both->first_alone_us), second, slower_text(both->second_us, both->second_alone_us));
  return OrderedJson{{"together", {first, second}},
                     {"us", us},
                     {"ends_us", {both->first_us, both->second_us}},
                     {"alone_us", {both->first_alone_us, both->second_alone_us}},
                     {"side_by_side", both->side_by_side}};
}

}  // namespace

int time_models(const BmodelOptions& options) {
  const auto preset = options.vendor ? TimingPreset::kVendor : TimingPreset::kFull;
  const auto began = std::chrono::steady_clock::now();
  OrderedJson all = OrderedJson::array();
  std::size_t count = 0;
  bool failed = false;
  bool found = false;
  if (options.csv)
    fmt::print("file,chip,network,stage,cores,precision,ms,bound,error,networks,measured,fitted,vendor,guess,trust\n");
  if (!options.fit.empty()) {
    if (auto read = read_fit(options.fit); !read) return fail(read.error());
  }
  std::vector<std::string> files = options.files;
  std::vector<First> firsts;  // of each file
  if (!options.with.empty()) files.push_back(options.with);
  for (const std::string& path : files) {
    const auto file = bmodel::ModelFile::open(path);
    if (!file) return fail(Error{file.error().kind, fmt::format("{}: {}", path, file.error().text)});
    const auto model = bmodel::read_model((*file)->bytes(), {}, bmodel::ModelFile::fetch_of(*file));
    if (!model) return fail(Error{model.error().kind, fmt::format("{}: {}", path, model.error().text)});
    std::optional<std::pair<std::size_t, std::size_t>> first;  // network and stage
    Language language;
    for (const bmodel::Network& network : model->networks) {
      if (!options.network.empty() && network.name != options.network) continue;
      std::optional<std::size_t> wanted;
      if (options.one_stage) wanted = static_cast<std::size_t>(options.stage);
      if (options.length > 0) {
        const auto stage = stage_for(network, options.length);
        if (!stage) return fail(stage.error());
        wanted = *stage;
      }
      for (std::size_t stage = 0; stage < network.stages.size(); ++stage) {
        const int cores = static_cast<int>(std::max<std::uint32_t>(network.stages[stage].cores, 1));
        if ((wanted && *wanted != stage) || (options.cores > 0 && options.cores != cores)) continue;
        found = true;
        std::vector<FitRow> rows;
        auto time = time_stage({*model, network, stage}, preset, options.fit_rows ? &rows : nullptr);
        if (!time) {
          fail(time.error());
          failed = true;
          continue;
        }
        time->file = path;
        ++count;
        if (options.fit_rows) {
          print_fit_rows(*time, rows);
        } else if (options.json) {
          all.push_back(to_json(*time, options.most_layers));
          all.back()["memory"] = memory_json(*model);
        } else if (options.csv) {
          print_csv(*time);
        } else {
          print_text(*time, options.most_layers);
        }
        if (wanted || stage == 0) language.add(*time, places_of(language_part(network.name), network.stages[stage]));
        if (!first) first.emplace(static_cast<std::size_t>(&network - model->networks.data()), stage);
      }
    }
    if (language.blocks + language.cached_blocks > 0) {
      if (options.json) {
        all.push_back(to_json(language, path, options.blocks));
      } else if (!options.csv && !options.fit_rows) {
        print_text(language, options.blocks);
      }
    }
    if (first) firsts.push_back({*file, *model, first->first, first->second});
    if (!options.csv && !options.json && !options.fit_rows) print_memory(*model);
  }
  if (!found)
    return fail(Error{ErrorKind::kUsage, options.cores > 0 ? "there is no such network, stage or number of cores"
                                                           : "there is no such network or stage"});
  if (!options.with.empty() && firsts.size() >= 2) {
    const bool text = !options.json && !options.csv;
    auto both = show_together(firsts.front(), firsts.back(), preset, text);
    if (!both) return fail(both.error());
    if (options.json) all.push_back(*std::move(both));
  }
  if (options.json) fmt::print("{}\n", all.dump(1));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  if (!options.csv && !options.json && !options.fit_rows)
    fmt::print("{} {} in {:.0f} ms\n", count, count == 1 ? "estimate" : "estimates", took.count());
  return failed ? kFailed : kDone;
}

namespace {

// Memory that the TPU's heap has on common boards, with the source of the figure.
struct Board {
  std::string_view chip, name;
  int heap_mib;
  std::string_view source;
};
constexpr Board kBoards[] = {
    {"bm1684", "SM5, SE5 and SC5 with 12 GiB", 4096, "SophonSDK 23.05.01, key concepts"},
    {"bm1684", "SE5, layout mm2", 2048, "device tree bm1684_se5_v1.1_mm2"},
    {"bm1684x", "SM7M, layout mm0", 7615, "device tree bm1684x_sm7m_v0.0_mm0"},
    {"bm1684x", "SE7-32, default layout", 2416, "sophon-demo, README of SAM3: 2.36 GB for the NPU"},
    {"bm1688", "SE9-16, default layout", 2048, "sophon-demo, README of SAM3: 2 GB for the NPU"},
    {"bm1690", "SC11, one of its two chips, media's memory given to the TPU", 0x1e200,
     "sophgo/vllm-tpu, README: share-mem-size 0x1e20000000"},
};
bool fits(const MemoryUse& use, const Board& board) {
  return use.sum() <= static_cast<std::uint64_t>(board.heap_mib) << 20;
}

}  // namespace

nlohmann::json memory_json(const bmodel::Model& model) {
  const MemoryUse use = memory_of(model);
  nlohmann::json boards = nlohmann::json::array();
  for (const Board& board : kBoards) {
    if (board.chip != chip_name(model.chip)) continue;
    boards.push_back(
        {{"board", board.name}, {"heap_mib", board.heap_mib}, {"fits", fits(use, board)}, {"source", board.source}});
  }
  return {{"bytes", use.sum()},           {"constants", use.constants},       {"between_layers", use.context},
          {"inputs_and_outputs", use.io}, {"instructions", use.instructions}, {"largest", use.largest},
          {"boards", std::move(boards)}};
}

void print_memory(const bmodel::Model& model) {
  const MemoryUse use = memory_of(model);
  print_escaped(
      "device memory: {} (constants {}, between layers {}, inputs and outputs {}, instructions {}); largest: {}\n",
      size_text(use.sum()), size_text(use.constants), size_text(use.context), size_text(use.io),
      size_text(use.instructions), use.largest);
  for (const Board& board : kBoards) {
    if (board.chip != chip_name(model.chip)) continue;
    print_escaped("   {}: {}, {:.1f} % of {} MiB for the TPU ({})\n", board.name,
                  fits(use, board) ? "fits" : "does not fit",
                  percent(static_cast<double>(use.sum()) / (static_cast<double>(board.heap_mib) * (1 << 20))),
                  board.heap_mib, board.source);
  }
}

}  // namespace softtpu::cli
