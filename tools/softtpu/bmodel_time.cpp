// softtpu bmodel time: estimates for the networks of files, without running them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include <nlohmann/json.hpp>

#include "device/timing/launch_time.hpp"
#include "tools/softtpu/bmodel.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/network_time.hpp"

namespace softtpu::cli {
namespace {

using Json = nlohmann::ordered_json;

double percent(double share) { return 100 * share; }

std::string size_text(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

// How far the estimate may be off: what networks of its precision were, each left out of the fit.
std::string trust_text(const NetworkTime& time) {
  if (!time.error) return "no published time of a network of this kind and chip was compared";
  return fmt::format("+- {:.0f} % ({} networks of this precision)", percent(time.error->error), time.error->networks);
}

Spent bound_of(const Moment& end) {
  return static_cast<Spent>(std::max_element(end.spent.begin(), end.spent.end()) - end.spent.begin());
}

// What limits a layer, and what would if that cost nothing.
std::pair<std::string, std::string> limits_of(const LayerTime& layer) {
  std::array<std::pair<double, std::string>, 3> parts = {std::pair(layer.products_us, std::string("products")),
                                                         std::pair(layer.other_us, std::string("other BDC work")),
                                                         std::pair(layer.ddr_us, std::string("DDR"))};
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return {parts[0].second, parts[1].first > 0 ? parts[1].second : "nothing"};
}

Json to_json(const NetworkTime& time, std::size_t most_layers) {
  Json spent = Json::object();
  for (std::size_t i = 0; i < kSpentKinds; ++i)
    if (time.end.spent[i] > 0) spent[std::string(to_text(static_cast<Spent>(i)))] = time.end.spent[i];
  Json rests = Json::object();
  for (std::size_t i = 0; i < kBases; ++i) rests[std::string(to_text(static_cast<Basis>(i)))] = time.end.by_basis[i];
  Json busy = Json::object();
  for (std::size_t i = 0; i < kQueues; ++i)
    if (time.busy_us[i] > 0) busy[std::string(to_text(static_cast<Queue>(i)))] = time.busy_us[i];
  Json layers = Json::array();
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
  Json error = nullptr;
  if (time.error)
    error = {{"networks", time.error->networks},
             {"error", time.error->error},
             {"median", time.error->median},
             {"lower", time.error->lower},
             {"upper", time.error->upper}};
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
          {"commands", time.commands},
          {"layers", layers}};
}

void print_text(const NetworkTime& time, std::size_t most_layers) {
  print_escaped("{}, stage {}: {:.3f} ms {}, bound by {}\n", time.network, time.stage, time.end.us / 1e3,
                trust_text(time), to_text(bound_of(time.end)));
  std::string spent;
  for (std::size_t i = 0; i < kSpentKinds; ++i) {
    if (time.end.spent[i] > 0)
      spent += fmt::format("{}{} {:.3f} ms", spent.empty() ? "" : ", ", to_text(static_cast<Spent>(i)),
                           time.end.spent[i] / 1e3);
  }
  print_escaped("   spent    {}\n   rests on {}\n", spent, basis_text(time.end.by_basis));
  for (std::size_t i = 0; i < std::min(most_layers, time.layers.size()); ++i) {
    const LayerTime& layer = time.layers[i];
    const auto [bound, next] = limits_of(layer);
    print_escaped("   {} {:9.1f} us {:>5}x {}: bound by {}, next {}\n", i == 0 ? "layers  " : "        ", layer.us(),
                  layer.commands, layer.name, bound, next);
  }
}

void print_csv(const NetworkTime& time) {
  print_escaped("{},{},{},{},{},{},{:.3f},{},{:.3f},{}\n", time.file, time.chip, time.network, time.stage, time.cores,
                time.precision, time.end.us / 1e3, to_text(bound_of(time.end)), time.error ? time.error->error : 0.0,
                time.error ? time.error->networks : 0);
}

// Of a language model: the networks' names say what they are, as the compiler's scripts give them.
struct Language {
  int blocks = 0, cached_blocks = 0;
  double first_us = 0, next_us = 0;
  bool whole() const { return blocks > 0 && cached_blocks > 0; }
};
Language language_of(const std::vector<NetworkTime>& times) {
  Language sum;
  for (const NetworkTime& time : times) {
    if (time.stage != 0) continue;
    const std::string& name = time.network;
    const double us = time.end.us;
    if (name.starts_with("block_cache")) {
      ++sum.cached_blocks;
      sum.next_us += us;
    } else if (name.starts_with("block")) {
      ++sum.blocks;
      sum.first_us += us;
    } else if (name == "embedding_cache") {
      sum.next_us += us;
    } else if (name == "embedding") {
      sum.first_us += us;
    } else if (name.starts_with("lm_head") || name.starts_with("greedy_head")) {
      sum.first_us += us;
      sum.next_us += us;
    }
  }
  return sum;
}

void print_fit_rows(const NetworkTime& time, const std::vector<FitRow>& rows, const bmodel::Network& network) {
  Json list = Json::array();
  for (const FitRow& row : rows) {
    Json quantities = Json::object();
    for (const auto& [name, amount] : row.quantities)
      quantities[std::string(name)] = quantities.value(std::string(name), 0.0) + amount;
    list.push_back({row.engine, row.after, quantities});
  }
  double io = 0;
  const bmodel::Stage& stage = network.stages[static_cast<std::size_t>(time.stage)];
  if (network.address_mode == bmodel::kIoInContext) {
    for (const auto* tensors : {&stage.inputs, &stage.outputs})
      for (const bmodel::Tensor& tensor : *tensors) io += static_cast<double>(tensor.bytes) / 1e3;
  }
  const Json line = {
      {"file", time.file}, {"precision", time.precision}, {"us", time.end.us}, {"io_kb", io}, {"rows", list}};
  fmt::print("{}\n", line.dump());
}

// Two networks that run at the same time. One core takes them in turns; two share global memory alone.
double together_us(const NetworkTime& a, const NetworkTime& b, int cores) {
  if (cores < 2) return a.end.us + b.end.us;
  const auto ddr = [](const NetworkTime& time) { return time.end.spent[static_cast<std::size_t>(Spent::kDdr)]; };
  return std::max({a.end.us, b.end.us, ddr(a) + ddr(b)});
}

}  // namespace

int time_models(const BmodelOptions& options) {
  const auto preset = options.vendor ? TimingPreset::kVendor : TimingPreset::kFull;
  const auto began = std::chrono::steady_clock::now();
  Json all = Json::array();
  std::size_t count = 0;
  bool failed = false;
  bool found = false;
  if (options.csv) fmt::print("file,chip,network,stage,cores,precision,ms,bound,error,networks\n");
  std::vector<std::string> files = options.files;
  std::vector<NetworkTime> firsts;  // of each file
  if (!options.with.empty()) files.push_back(options.with);
  for (const std::string& path : files) {
    const auto file = MappedFile::open(path);
    if (!file) return fail(file.error());
    const auto model = bmodel::read_model((*file)->bytes());
    if (!model) return fail(Error{model.error().kind, fmt::format("{}: {}", path, model.error().text)});
    std::vector<NetworkTime> times;
    for (const bmodel::Network& network : model->networks) {
      if (!options.network.empty() && network.name != options.network) continue;
      for (std::size_t stage = 0; stage < network.stages.size(); ++stage) {
        if (options.one_stage && static_cast<std::size_t>(options.stage) != stage) continue;
        found = true;
        std::vector<FitRow> rows;
        auto time = time_stage(*model, network, stage, preset, options.fit_rows ? &rows : nullptr);
        if (!time) {
          fail(time.error());
          failed = true;
          continue;
        }
        time->file = path;
        ++count;
        if (options.fit_rows) {
          print_fit_rows(*time, rows, network);
        } else if (options.json) {
          all.push_back(to_json(*time, options.most_layers));
        } else if (options.csv) {
          print_csv(*time);
        } else {
          print_text(*time, options.most_layers);
        }
        times.push_back(*std::move(time));
      }
    }
    const Language language = language_of(times);
    if (language.whole()) {
      const double tokens = language.next_us > 0 ? 1e6 / language.next_us : 0;
      if (options.json) {
        all.push_back({{"file", path},
                       {"first_token_us", language.first_us},
                       {"next_token_us", language.next_us},
                       {"tokens_per_s", tokens},
                       {"blocks", language.blocks}});
      } else if (!options.csv && !options.fit_rows) {
        print_escaped(
            "language model of {} blocks: first token {:.3f} s, then {:.2f} tokens/s, without the host's work\n",
            language.blocks, language.first_us / 1e6, tokens);
      }
    }
    if (!times.empty()) firsts.push_back(times.front());
    if (!options.csv && !options.json && !options.fit_rows) print_memory(*model);
  }
  if (!found) return fail(Error{ErrorKind::kUsage, "there is no such network or stage"});
  if (!options.with.empty() && firsts.size() >= 2) {
    // On a chip of two cores each has one of its own.
    const auto chip = load_chip(chip_name(firsts.front().chip));
    const NetworkTime& a = firsts.front();
    const NetworkTime& b = firsts.back();
    const bool two = chip && chip->cores > 1 && a.cores + b.cores <= chip->cores;
    const double us = together_us(a, b, two ? 2 : 1);
    if (options.json)
      all.push_back({{"together", {a.network, b.network}}, {"us", us}});
    else if (!options.csv)
      print_escaped("{} and {} together: {:.3f} ms for one launch of each\n", a.network, b.network, us / 1e3);
  }
  if (options.json) fmt::print("{}\n", all.dump(1));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  if (!options.csv && !options.json && !options.fit_rows)
    fmt::print("{} {} in {:.0f} ms\n", count, count == 1 ? "estimate" : "estimates", took.count());
  return failed ? kFailed : kDone;
}

void print_memory(const bmodel::Model& model) {
  const MemoryUse use = memory_of(model);
  print_escaped(
      "device memory: {} (constants {}, between layers {}, inputs and outputs {}, instructions {}); largest: {}\n",
      size_text(use.sum()), size_text(use.constants), size_text(use.context), size_text(use.io),
      size_text(use.instructions), use.largest);
}

}  // namespace softtpu::cli
