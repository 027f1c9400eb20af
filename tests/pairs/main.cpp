// argument_pairs: random calls, carried out in several ways that have to agree (README.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "device/core/core.hpp"
#include "device/memory/kernel_choice.hpp"
#include "tests/pairs/compared_memory.hpp"
#include "tests/pairs/drawn_call.hpp"

namespace softtpu::pairs {
namespace {

constexpr std::uint64_t kLocalBytes = 32768;          // of an NPU
constexpr std::uint64_t kGlobalBytes = 18 * 0x10000;  // behind what is reserved

// The chip with small memories, so that all of them are compared after each call.
std::string small_chip(const std::string& name) {
  return fmt::format(
      R"({{"base": "{0}", "name": "{1}", "local_mem": {{"bytes_per_npu": {2}}}, "global_mem": {{"bytes": {3}, "reserved_bytes": 131072}}}})",
      name, name.substr(0, name.find('-')), kLocalBytes, kGlobalBytes + 131072);
}

bool has_preparation(const DrawnCall& call) {
  return grid::find_preparation(*call.of.recipes, call.of.function->name) != nullptr;
}

// The load function of a table that the call's parameter names; "": the parameter is no table of a special function.
std::string table_loader(const DrawnCall& call, std::string_view parameter) {
  const std::string_view name = call.of.function->name;
  const bool f32 = name.starts_with("tpu_bdc_fp32_");
  if (!f32 && !name.starts_with("tpu_bdc_fp_")) return {};
  if (parameter.ends_with("table_addr")) return "tpu_bdc_load_fp32_exp_table";
  if (!parameter.ends_with("coeff_addr") || name.ends_with("taylor")) return {};
  // exp_coeff_addr says its series; where a function has one only, its own name does, or it is the exponential's.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kOwn = {{{"_arctan", "arctan"},
                                                                                   {"_arcsin", "arcsin"},
                                                                                   {"_arccos", "arcsin"},
                                                                                   {"_log", "log"},
                                                                                   {"_log1p", "log"},
                                                                                   {"_logx", "log"},
                                                                                   {"_arcsinh", "log"},
                                                                                   {"_arccosh", "log"},
                                                                                   {"_arctanh", "log"},
                                                                                   {"_sin", "sin"},
                                                                                   {"_cos", "cos"},
                                                                                   {"_tan", "tan"},
                                                                                   {"_cot", "tan"}}};
  std::string_view series = parameter == "coeff_addr" ? "exp" : parameter.substr(0, parameter.find('_'));
  if (series == "ln") series = "log";
  if (parameter == "coeff_addr") {
    const auto own = std::ranges::find_if(kOwn, [&](const auto& one) { return name.ends_with(one.first); });
    if (own != kOwn.end()) series = own->second;
  }
  return fmt::format("tpu_bdc_load_{}_{}_coeff", f32 ? "fp32" : "fp", series);
}

// The type of a call's elements; f32 where no argument says it.
std::int64_t type_of(const DrawnCall& call) {
  for (std::size_t i = 0; i < call.values.size(); ++i)
    if (call.of.function->parameters[i].type == "data_type_t") return call.values[i].number;
  return static_cast<std::int64_t>(Dtype::kFp32);
}

struct Way {
  const char* name;
  bool plain;
  const char* simd;
};

// The outcome of a call: its fault, and all that it left in memory.
struct Outcome {
  bool ok = false;
  std::string text;
  WrittenPages local, global;
};

// Calls that one after the other begin with the same bytes. tests/pairs/reference_test.py has these numbers too.
constexpr std::uint64_t kSameStart = 64;
constexpr std::uint64_t kTurn = 8 * 4099;  // bytes by which the next ones find the image further on

class Device {
 public:
  Device(Chip chip, std::uint64_t seed)
      : memories_(*Memories::create(std::move(chip))),
        core_(*memories_, 0),
        local_({memories_->local(0), chip_().local_mem.bytes}, seed),
        global_({memories_->global() + chip_().global_reserved, kGlobalBytes}, ~seed) {}
  const Chip& chip() const { return memories_->chip(); }
  std::optional<std::uint64_t>
      spoiled;  // a byte of local memory that SIMD loops get wrong: the comparison has to see it

  const ComparedMemory& local() const { return local_; }
  const ComparedMemory& global() const { return global_; }
  std::uint64_t global_start() const { return chip_().global_mem.start + chip_().global_reserved; }
  // What the memories of a call begin with.
  void show_start(const DrawnCall& call, std::uint64_t number, Outcome& start) {
    fill(number);
    load_tables(call);
    local_.read_written(start.local);
    global_.read_written(start.global);
  }

  void run(const DrawnCall& call, std::uint64_t number, Outcome& result) {
    fill(number);
    load_tables(call);
    const grid::Preparation* preparation = grid::find_preparation(*call.of.recipes, call.of.function->name);
    const auto prepare = [&] { preparation->kernel(call.valid); };
    if (preparation != nullptr && !preparation->same_launch) launch(prepare);
    std::vector<grid::Value> values = call.values;
    const LaunchOutcome outcome = launch([&] {
      if (preparation != nullptr && preparation->same_launch) prepare();
      call.of.function->call(values);
    });
    result.ok = outcome.ok;
    result.text = outcome.text;
    if (!outcome.ok) return;  // what a refused call of several commands has done before does not count
    if (spoiled && !plain_kernels()) *(memories_->local(0) + *spoiled) ^= 1;
    local_.read_written(result.local);
    global_.read_written(result.global);
  }

  std::string difference(const Outcome& one, const Outcome& other) const {
    if (one.ok != other.ok || one.text != other.text) return fmt::format("\"{}\" and \"{}\"", one.text, other.text);
    if (!one.ok) return {};
    for (const bool in_local : {true, false}) {
      const auto found = in_local ? local_.first_difference(one.local, other.local)
                                  : global_.first_difference(one.global, other.global);
      if (found)
        return fmt::format("{} memory at 0x{:x}: {:02x} and {:02x}", in_local ? "local" : "global", found->offset,
                           found->one, found->other);
    }
    return {};
  }

 private:
  const Chip& chip_() const { return memories_->chip(); }
  // Random bits, or bytes of small numbers: what they mean depends on the call.
  void fill(std::uint64_t number) {
    const std::uint64_t start = number / kSameStart;
    if (start_ == start) {
      local_.reset();
      global_.reset();
      return;
    }
    start_ = start;
    const bool small = start % 2 != 0;
    local_.set_start(start * kTurn % local_.image().size(), small ? 0x3F : 0xFF);
    global_.set_start(start * kTurn % global_.image().size(), small ? 0x07 : 0xFF);
  }
  // Each special function finds the series that belong to it; a load that is refused leaves random bits.
  void load_tables(const DrawnCall& call) {
    for (std::size_t i = 0; i < call.values.size(); ++i) {
      const std::string loader = table_loader(call, call.of.function->parameters[i].name);
      if (loader.empty()) continue;
      const auto found = std::ranges::find(call.of.recipes->functions, loader, &grid::Function::name);
      if (found == call.of.recipes->functions.end()) continue;
      std::vector<grid::Value> values{call.values[i], grid::number(type_of(call))};
      values.resize(found->parameters.size());
      launch([&] { found->call(values); });
    }
  }
  template <class Kernel>
  LaunchOutcome launch(const Kernel& kernel) {
    return core_.run([](const void* args) { (*static_cast<const Kernel*>(args))(); }, "pairs", &kernel);
  }

  std::unique_ptr<Memories> memories_;
  Core core_;
  ComparedMemory local_, global_;
  std::optional<std::uint64_t> start_;
};

// Calls with what they have changed, for tests/pairs/reference_test.py: the images of the memories, and a line for
// each.
class Export {
 public:
  Export(const std::string& folder, const Device& device) : lines_(folder + "/calls.json"), device_(device) {
    std::ofstream images(folder + "/images.bin", std::ios::binary);
    for (const auto image : {device.local().image(), device.global().image()})
      images.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    const Chip& chip = device.chip();
    lines_ << nlohmann::json{{"npus", chip.npu_num},
                             {"npu_bytes", chip.local_bytes},
                             {"global_start", device.global_start()},
                             {"local_bytes", device.local().image().size()},
                             {"global_bytes", device.global().image().size()}}
           << "\n";
  }

  void add(const DrawnCall& call, std::uint64_t number, const Outcome& before, const Outcome& after) {
    nlohmann::json arguments = nlohmann::json::array();
    for (const grid::Value& value : call.values) {
      const auto words = std::span(value.words).first(4);
      std::uint32_t bits = 0;
      const auto real = static_cast<float>(value.real);
      std::memcpy(&bits, &real, sizeof(bits));
      arguments.push_back({{"null", value.null},
                           {"number", value.number},
                           {"float", bits},
                           {"words", std::vector<std::int32_t>(words.begin(), words.end())}});
    }
    lines_ << nlohmann::json{{"number", number},
                             {"function", call.of.function->name},
                             {"arguments", arguments},
                             {"tables", changes(device_.local(), {}, before.local)},
                             {"local", changes(device_.local(), before.local, after.local)},
                             {"global", changes(device_.global(), before.global, after.global)}}
           << "\n";
  }

 private:
  // Where bytes differ, with the new ones: [offset, hexadecimal].
  static nlohmann::json changes(const ComparedMemory& memory, const WrittenPages& before, const WrittenPages& after) {
    nlohmann::json list = nlohmann::json::array();
    memory.each_page(before, after, [&](std::size_t offset, std::span<const std::uint8_t> was, auto is) {
      for (std::size_t i = 0; i < is.size();) {
        if (was[i] == is[i]) {
          ++i;
          continue;
        }
        std::string text;
        const std::size_t first = i;
        for (; i < is.size() && was[i] != is[i]; ++i) text += fmt::format("{:02x}", is[i]);
        list.push_back({offset + first, text});
      }
    });
    return list;
  }

  std::ofstream lines_;
  const Device& device_;
};

struct Options {
  std::string chip = "bm1684x";
  std::string folder;  // for calls and results; "": they are not written
  std::uint64_t calls = 2000, seed = 1;
  std::int64_t only = -1;
  std::vector<std::string> functions;  // none: all
  std::optional<std::uint64_t> spoiled;
  bool verbose = false;
};

// Those that are named; nothing, with a message, when one of them is no candidate.
std::vector<Candidate> named(const std::vector<Candidate>& all, const std::vector<std::string>& names) {
  std::vector<Candidate> found;
  for (const std::string& name : names) {
    const auto one = std::ranges::find_if(all, [&](const Candidate& of) { return of.function->name == name; });
    if (one == all.end()) {
      fmt::print(stderr, "{} is no function of this chip that is drawn\n", name);
      return {};
    }
    found.push_back(*one);
  }
  return found;
}

int run(const Options& options) {
  const auto chip = parse_chip(small_chip(options.chip), "argument_pairs");
  if (!chip) {
    fmt::print(stderr, "{}\n", chip.error().text);
    return 2;
  }
  Device device(*chip, options.seed);
  device.spoiled = options.spoiled;
  std::vector<Candidate> from = candidates(device.chip());
  if (!options.functions.empty()) from = named(from, options.functions);
  if (from.empty()) return 2;
  // Whether the machine has them is found once.
  std::vector<Way> ways{{"plain loops", true, ""}, {"SIMD loops", false, ""}};
  if (set_simd_limit("sse4")) ways.push_back({"SSE4 loops", false, "sse4"});
  std::uint64_t accepted = 0, refused = 0, number = options.only < 0 ? 0 : static_cast<std::uint64_t>(options.only);
  std::set<std::string_view> reached;
  int differing = 0;
  std::optional<Export> written;
  if (!options.folder.empty()) written.emplace(options.folder, device);
  Outcome expected, outcome;
  const std::uint64_t most = options.calls * 20;
  for (; accepted < options.calls && number < most && differing < 10; ++number) {
    const DrawnCall call = draw(from, device.chip(), options.seed, number);
    if (options.only >= 0) fmt::print("{}\n", to_text(call));
    for (const Way& way : ways) {
      set_plain_kernels(way.plain);
      set_simd_limit(way.simd);
      device.run(call, number, outcome);
      if (&way == ways.data()) {
        std::swap(expected, outcome);
        if (written && expected.ok && !has_preparation(call)) {
          device.show_start(call, number, outcome);
          written->add(call, number, outcome, expected);
        }
        (expected.ok ? accepted : refused) += 1;
        if (expected.ok) reached.insert(call.of.function->name);
        if (options.only >= 0) fmt::print("{}\n", expected.ok ? "carried out" : expected.text);
        continue;
      }
      const std::string text = device.difference(expected, outcome);
      if (text.empty()) continue;
      ++differing;
      fmt::print("call {} of seed {}, plain loops and {} differ: {}\n  {}\n", number, options.seed, way.name, text,
                 to_text(call));
      break;
    }
    if (options.only >= 0) break;
  }
  fmt::print("{}: {} calls carried out alike, {} refused alike, {} of {} functions; seed {}\n", options.chip, accepted,
             refused, reached.size(), from.size(), options.seed);
  if (options.verbose) {
    for (const Candidate& of : from)
      if (!reached.contains(of.function->name)) fmt::print("  never carried out: {}\n", of.function->name);
  }
  return differing == 0 && (options.only >= 0 || accepted == options.calls) ? 0 : 1;
}

}  // namespace
}  // namespace softtpu::pairs

int main(int argc, char** argv) {
  softtpu::pairs::Options options;
  CLI::App app{"Random calls, carried out in several ways that have to agree."};
  app.add_option("--chip", options.chip, "built-in chip")->capture_default_str();
  app.add_option("--calls", options.calls, "calls that are carried out; refused ones do not count")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "which calls")->capture_default_str();
  app.add_option("--only", options.only, "only the call with this number, with its arguments");
  app.add_option("--functions", options.functions, "calls of these functions only");
  app.add_option("--export", options.folder, "folder for the calls and what they changed: reference_test.py reads it");
  app.add_option("--spoil", options.spoiled,
                 "a byte of local memory that is changed behind SIMD loops: each call has to differ")
      ->check(CLI::Range(std::uint64_t{0}, softtpu::pairs::kLocalBytes - 1));
  app.add_flag("-v,--verbose", options.verbose, "list functions that no call reached");
  CLI11_PARSE(app, argc, argv);
  return softtpu::pairs::run(options);
}
