// softtpu bmodel: compiled networks - what a file holds, its instructions, running it, comparing what comes out.
#include "tools/softtpu/bmodel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "device/chip/chip.hpp"
#include "runtime/bmodel/host_layer.hpp"
#include "runtime/bmodel/runs.hpp"
#include "runtime/report/report.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/network_time.hpp"
#include "tools/softtpu/outputs.hpp"
#include "tools/softtpu/python.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;

void show_tensor(const char* kind, const bmodel::Tensor& tensor) {
  print_escaped("    {:<8} {:<40} {:<4} {:<20} {} bytes at {:#x}, scale {}, zero point {}\n", kind, tensor.name,
                to_text(tensor.type), shape_text(tensor.shape), tensor.bytes, tensor.address, tensor.scale,
                tensor.zero_point);
}

// What the host's processor runs, and how far that is known to be right.
std::string text_of(const bmodel::HostLayer& layer) {
  const std::string name = bmodel::name_of_host_layer(layer.type);
  if (layer.type == bmodel::kUserLayer) return name + ", by the program's own libusercpu.so";
  return fmt::format("{}, as {} (documented, not compared with the vendor's)", name,
                     bmodel::meaning_of_host_layer(layer.type));
}

void show_stage(const bmodel::Stage& stage) {
  for (const bmodel::Tensor& tensor : stage.inputs) show_tensor("input", tensor);
  for (const bmodel::Tensor& tensor : stage.outputs) show_tensor("output", tensor);
  for (const bmodel::Tensor& tensor : stage.between) show_tensor("between", tensor);
  print_escaped(
      "    memory   {} bytes of constants at {:#x}, {} bytes between layers at {:#x}, {} bytes of inputs and "
      "outputs\n",
      stage.coefficients.size(), stage.coefficient_address, stage.context_bytes, stage.context_address, stage.io_bytes);
  for (const bmodel::CommandGroup& group : stage.groups)
    print_escaped("    streams  {} TIU instructions ({} bytes), {} DMA instructions ({} bytes)\n", group.tiu_count,
                  group.tiu.size(), group.dma_count, group.dma.size());
  if (!stage.layers.empty()) print_escaped("    layers   {} in the compiler's map of tensors\n", stage.layers.size());
  if (!stage.map_fault.empty()) print_escaped("    layers   not known: {}\n", stage.map_fault);
  for (const bmodel::DynamicPart& part : stage.dynamic_parts) {
    if (part.host) print_escaped("    on host  {}: {}\n", part.label, text_of(*part.host));
    if (!part.fault.empty()) print_escaped("    not by softtpu's own layers: {}\n", part.fault);
  }
  for (const std::string& refusal : stage.reasons(false, bmodel::Walker::kFirmware))
    print_escaped("    cannot run: {}\n", refusal);
}

// `run` and `compare` start this program again, as any program under `softtpu run`.
int run_in_program(const BmodelOptions& options, bool compare) {
  const auto loaded = load_model(options.file);
  if (!loaded) return fail(loaded.error());
  use_chip_of(loaded->model);
  bmodel::Model with_map = loaded->model;
  if (auto good = use_map(options, with_map); !good) return fail(good.error());
  if (!options.output.empty()) {
    if (auto writable = check_writable("--output", options.output); !writable) {
      fail(writable.error());
      return static_cast<int>(Verdict::kNotStarted);
    }
  }
  RunOptions run = options.run;
  run.program = {fs::read_symlink("/proc/self/exe").string(), "bmodel", "execute", options.file};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) run.program.insert(run.program.end(), {name, value});
  };
  add("--network", options.network);
  add("--stage", options.one_stage ? std::to_string(options.stage) : "");
  add("--input", options.input);
  add("--shapes", options.shapes);
  add("--output", options.output);
  add("--reference", compare ? options.reference : "");
  add("--dump-layers", options.layers);
  add("--map", options.map);
  if (options.static_parts) run.program.emplace_back("--static-parts");
  add("--seed", std::to_string(options.seed));
  add("--repeat", std::to_string(options.repeat));
  add("--tolerance", fmt::format("{}", options.tolerance));
  return run_with_options(run);
}

// Layers, dequantised, beside a float model: Python has onnxruntime. Settings reach it as variables.
int compare_layers(const BmodelOptions& options) {
  if (options.run.gdb || !options.run.gdb_commands.empty())
    return fail(Error{ErrorKind::kUsage, "--gdb: `softtpu bmodel run` stops at the first line of a kernel"});
  if (!options.output.empty() || options.repeat != 1 || options.tolerance != 0)
    return fail(Error{ErrorKind::kUsage, "--output, --repeat and --tolerance belong to a comparison with --reference"});
  std::error_code failed;
  std::vector<std::string> words = {"softtpu.compare",
                                    "--program",
                                    fs::read_symlink("/proc/self/exe", failed).string(),
                                    "--seed",
                                    std::to_string(options.seed),
                                    "--margin",
                                    fmt::format("{}", options.margin),
                                    "--stage",
                                    std::to_string(options.stage)};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", name, value));
  };
  add("--onnx", options.onnx);
  add("--npz", options.npz);
  add("--network", options.network);
  add("--input", options.input);
  add("--dump-layers", options.layers);
  add("--map", options.map);
  add("--json", options.json_file);
  add("--page", options.page);
  for (const std::string& report : options.run.reports) add("--report", report);
  if (options.static_parts) words.emplace_back("--static-parts");
  words.insert(words.end(), {"--", options.file});
  return fail(become_python("--onnx and --npz", words));
}

// By its option, or by the variable itself.
bool computes_nothing() {
  const char* time = std::getenv("SOFTTPU_TIME");
  return time != nullptr && std::string_view(time).starts_with("only");
}

// CLI11's own checks let NaN through, and their messages print the largest number there is.
CLI::Validator check_number(bool zero_allowed) {
  return CLI::Validator(
      [zero_allowed](const std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && (zero_allowed ? value >= 0 : value > 0))
          return "";
        return fmt::format("{} is no number {} 0", text, zero_allowed ? "of at least" : "above");
      },
      zero_allowed ? "NONNEGATIVE" : "POSITIVE");
}

void add_file(CLI::App& app, BmodelOptions& options) {
  app.add_option("file", options.file, "a compiled network (.bmodel)")->required();
}
void add_choice(CLI::App& app, BmodelOptions& options) {
  app.add_option("--network", options.network, "name of the network, if the file holds several");
  app.add_option("--stage", options.stage, "number of the stage, if the network has several")
      ->check(CLI::NonNegativeNumber)
      ->each([&options](const auto&) { options.one_stage = true; });
}
void add_map(CLI::App& app, BmodelOptions& options) {
  app.add_option("--map", options.map,
                 "the compiler's map of tensors beside the file (tensor_location.json), for the chosen stage");
}
void add_execution(CLI::App& app, BmodelOptions& options) {
  add_file(app, options);
  add_choice(app, options);
  add_map(app, options);
  auto* const input = app.add_option(
      "--input", options.input,
      "file with the inputs (.npz, or .npy for a single one), by name, else in order; without it they are random");
  app.add_option(
         "--shapes", options.shapes,
         "shapes of random inputs, \"[1,3,224,224],[1]\": of another stage, or smaller ones of a dynamic network")
      ->excludes(input);
  app.add_option("--output", options.output, "file for the outputs (.npz)");
  app.add_option("--dump-layers", options.layers,
                 "folder for every tensor that the file names (.npy), as it was after its last write");
  app.add_flag(
      "--static-parts", options.static_parts,
      "run a network although it has parts that cannot run; outputs that need them are not made, and the status is 1");
  app.add_option("--seed", options.seed, "seed of the random inputs")->capture_default_str();
  app.add_option("--repeat", options.repeat, "number of launches; the time of the fastest is reported")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--tolerance", options.tolerance, "compare: the largest difference that counts as equal")
      ->capture_default_str()
      ->check(check_number(true));
}

// Options as bmrt_test has them.
void add_test(CLI::App& app, BmodelOptions& options) {
  app.add_option("--bmodel", options.file, "a compiled network; not compared unless --compare 1");
  app.add_option("--context_dir", options.context_dir,
                 "folder with compilation.bmodel, input_ref_data.dat and output_ref_data.dat, which are compared");
  app.add_option("--devid", options.devid, "number of the device")->check(CLI::NonNegativeNumber);
  app.add_option("--compare", options.compare, "1: compare with output_ref_data.dat, 0: do not")
      ->check(CLI::Range(0, 1));
  app.add_option("--accuracy_f", options.accuracy_f, "floats: the largest difference, relative above 1")
      ->capture_default_str()
      ->check(check_number(true));
  app.add_option("--accuracy_i", options.accuracy_i, "whole numbers: the largest difference")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--shapes", options.shapes, "shapes of the inputs, \"[1,3,224,224],[1]\"");
  app.add_option("--loopnum", options.loopnum, "how often everything runs")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--thread_num", options.thread_num, "threads, each with a runtime of its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--net_idx", options.net_idx, "only this network")->check(CLI::NonNegativeNumber);
  app.add_option("--stage_idx", options.stage_idx, "only this stage")->check(CLI::NonNegativeNumber);
  app.add_option("--calculate_times", options.calculate_times, "launches whose mean time is printed")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--core_list", options.core_list, "cores to run on, \"0,1\": as many as the network is compiled for");
  app.add_flag("--subnet_time", options.subnet_time, "accepted: `softtpu bmodel run --time` shows parts");
  app.footer("Exit status: 0; 1 when a network failed or differs; 2 when a file is not usable.");
}

}  // namespace

void use_chip_of(const bmodel::Model& model) {
  const std::string name = chip_name(model.chip);
  if (load_chip(name)) ::setenv("CHIP_ARCH", name.c_str(), 0);
}

Result<LoadedModel> load_model(const std::string& path) {
  LoadedModel loaded;
  std::error_code unknown;
  if (fs::is_regular_file(path, unknown)) {
    auto file = bmodel::ModelFile::open(path);
    if (!file) return Error{file.error().kind, fmt::format("{}: {}", path, file.error().text)};
    loaded.file = *std::move(file);
  } else {
    std::ifstream file(path, std::ios::binary);
    if (!file || fs::is_directory(path, unknown)) {
      const char* why = file ? "it is a folder" : std::strerror(errno);
      return Error{ErrorKind::kUsage, fmt::format("{}: {}", path, why)};
    }
    // In pieces, because a pipe has no size.
    std::size_t room = std::size_t{1} << 16;
    for (std::size_t filled = 0; file; room *= 2) {
      loaded.read.resize(room);
      file.read(reinterpret_cast<char*>(loaded.read.data() + filled), static_cast<std::streamsize>(room - filled));
      filled += static_cast<std::size_t>(file.gcount());
      if (!file) loaded.read.resize(filled);
    }
  }
  auto model = bmodel::read_model(loaded.bytes(), {}, bmodel::ModelFile::fetch_of(loaded.file));
  if (!model) return Error{model.error().kind, fmt::format("{}: {}", path, model.error().text)};
  loaded.model = *std::move(model);
  return loaded;
}

Result<std::string> read_map(const std::string& path) {
  if (path.empty()) return std::string();
  std::error_code failed;
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > kMostBytes)
    return Error{ErrorKind::kUsage, fmt::format("--map {}: no such file, or none of at most 1 GiB", path)};
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || text.empty()) return Error{ErrorKind::kUsage, fmt::format("--map {}: it cannot be read", path)};
  return text;
}

Result<void> use_map(const BmodelOptions& options, bmodel::Model& model) {
  const auto map = read_map(options.map);
  if (!map) return map.error();
  if (options.map.empty()) {
    const std::string beside = bmodel::read_map_beside(options.file);
    for (bmodel::Network& network : model.networks) {
      for (bmodel::Stage& stage : network.stages) bmodel::try_tensor_map(stage, beside);
    }
    return {};
  }
  for (bmodel::Network& network : model.networks) {
    const auto stage = static_cast<std::size_t>(options.stage);
    if ((!options.network.empty() && network.name != options.network) || stage >= network.stages.size()) continue;
    auto used = bmodel::use_tensor_map(network.stages[stage], *map);
    if (used) return {};
    return Error{used.error().kind, fmt::format("--map {}: {}", options.map, used.error().text)};
  }
  return Error{ErrorKind::kUsage, fmt::format("{} has no such network or stage", options.file)};
}

std::string shape_text(const Extents& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<std::vector<Extents>> read_shapes(const std::string& text) {
  std::vector<Extents> shapes;
  const Error bad{ErrorKind::kUsage, fmt::format("--shapes {}: not of the form [1,3,224,224],[1]", text)};
  constexpr std::size_t kMostExtents = 8;
  constexpr std::uint64_t kMostExtent = std::numeric_limits<int>::max();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find(']', at);
    if (text[at] != '[' || end == std::string::npos) return bad;
    Extents& shape = shapes.emplace_back();
    for (std::size_t from = at + 1; from < end;) {
      const std::size_t comma = std::min(text.find(',', from), end);
      std::uint64_t extent = 0;
      const auto [last, failed] = std::from_chars(&text[from], &text[comma], extent);
      if (failed != std::errc() || last != &text[comma] || extent < 1 || extent > kMostExtent ||
          shape.size() == kMostExtents)
        return bad;
      shape.push_back(extent);
      from = comma + 1;
    }
    at = end + 1;
    if (at < text.size() && text[at++] != ',') return bad;
  }
  return shapes;
}

Dtype to_dtype(bmodel::DataType type) {
  constexpr Dtype kTypes[] = {Dtype::kFp32,  Dtype::kFp16,   Dtype::kInt8,  Dtype::kUint8,
                              Dtype::kInt16, Dtype::kUint16, Dtype::kInt32, Dtype::kUint32,
                              Dtype::kBfp16, Dtype::kInt4,   Dtype::kUint4};
  return kTypes[static_cast<std::size_t>(type)];
}

namespace {

using Json = nlohmann::json;

Json to_json(const std::vector<bmodel::Tensor>& tensors) {
  Json list = Json::array();
  for (const bmodel::Tensor& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"type", to_text(tensor.type)},
                    {"shape", tensor.shape},
                    {"bytes", tensor.bytes},
                    {"address", tensor.address},
                    {"scale", tensor.scale},
                    {"zero_point", tensor.zero_point}});
  }
  return list;
}

Json to_json(const std::vector<bmodel::Layer>& layers) {
  Json list = Json::array();
  for (const bmodel::Layer& layer : layers) {
    Json results = Json::array();
    for (const bmodel::LayerTensor& result : layer.results)
      results.push_back({{"name", result.name},
                         {"type", result.type},
                         {"shape", result.shape},
                         {"address", result.address},
                         {"mlir", result.mlir}});
    list.push_back({{"name", layer.name},
                    {"operation", layer.operation},
                    {"part", layer.part},
                    {"type", layer.type},
                    {"mlir", layer.mlir},
                    {"operands", layer.operands},
                    {"results", std::move(results)}});
  }
  return list;
}

// Why softtpu's own layers do not carry out dynamic parts.
std::vector<std::string> needs_firmware(const bmodel::Stage& stage) {
  std::vector<std::string> parts;
  for (const bmodel::DynamicPart& part : stage.dynamic_parts) {
    if (!part.fault.empty()) parts.push_back(part.fault);
  }
  return parts;
}

Json host_layers(const bmodel::Stage& stage) {
  Json list = Json::array();
  for (const bmodel::DynamicPart& part : stage.dynamic_parts) {
    if (part.host)
      list.push_back({{"part", part.id},
                      {"type", part.host->type},
                      {"name", bmodel::name_of_host_layer(part.host->type)},
                      {"as", bmodel::meaning_of_host_layer(part.host->type)},
                      {"verified", false}});
  }
  return list;
}

Json to_json(const bmodel::Stage& stage) {
  const Json host = host_layers(stage);
  Json groups = Json::array();
  for (const bmodel::CommandGroup& group : stage.groups) {
    groups.push_back({{"core", group.core},
                      {"sdma_bytes", group.sdma.size()},
                      {"relocations", group.relocations.size()},
                      {"tiu_instructions", group.tiu_count},
                      {"tiu_bytes", group.tiu.size()},
                      {"dma_instructions", group.dma_count},
                      {"dma_bytes", group.dma.size()}});
  }
  return {{"inputs", to_json(stage.inputs)},
          {"outputs", to_json(stage.outputs)},
          {"between", to_json(stage.between)},
          {"coefficient_bytes", stage.coefficients.size()},
          {"cores", stage.cores},
          {"coefficient_address", stage.coefficient_address},
          {"io_address", stage.io_address},
          {"context_address", stage.context_address},
          {"dynamic", stage.dynamic},
          {"dynamic_parts", stage.dynamic_parts.size() - host.size()},
          {"host_layers", host},
          {"left_out", stage.left_out},
          {"need_firmware", needs_firmware(stage)},
          {"context_bytes", stage.context_bytes},
          {"io_bytes", stage.io_bytes},
          {"groups", std::move(groups)},
          {"layers", stage.layers.size()},
          {"layers_not_known", stage.map_fault},
          {"tensor_map", to_json(stage.layers)},
          {"cannot_run", stage.reasons(false, bmodel::Walker::kFirmware)}};
}

int show_model_json(const bmodel::Model& model) {
  Json networks = Json::array();
  for (const bmodel::Network& network : model.networks) {
    Json stages = Json::array();
    for (const bmodel::Stage& stage : network.stages) stages.push_back(to_json(stage));
    networks.push_back({{"name", network.name}, {"address_mode", network.address_mode}, {"stages", stages}});
  }
  print_json({{"format", "softtpu-bmodel"},
              {"version", 1},
              {"chip", model.chip},
              {"compiler", model.version},
              {"time", model.time.substr(0, model.time.find('\n'))},
              {"networks", std::move(networks)},
              {"firmware_bytes", model.firmware.size()},
              {"cannot_run", bmodel::why_chip_cannot_run(model.chip)},
              {"memory", memory_json(model)}});
  return kDone;
}

}  // namespace

int show_model(const BmodelOptions& options) {
  auto loaded = load_model(options.file);
  if (!loaded) return fail(loaded.error());
  if (auto used = use_map(options, loaded->model); !used) return fail(used.error());
  const bmodel::Model& model = loaded->model;
  if (options.json) return show_model_json(model);
  // The compiler's time ends with a line's end.
  const std::string time = model.time.substr(0, model.time.find('\n'));
  print_escaped("{}: chip {}, compiler {}, {}\n", options.file, model.chip, model.version, time);
  if (const std::string why = bmodel::why_chip_cannot_run(model.chip); !why.empty())
    print_escaped("cannot run: {}\n", why);
  if (!model.firmware.empty()) print_escaped("firmware {}, {} bytes\n", model.firmware_name, model.firmware.size());
  for (const bmodel::Network& network : model.networks) {
    print_escaped("network {}, address mode {}\n", network.name, network.address_mode);
    for (std::size_t i = 0; i < network.stages.size(); ++i) {
      print_escaped("  stage {}\n", i);
      show_stage(network.stages[i]);
    }
  }
  print_memory(model);
  return kDone;
}

Run add_bmodel(CLI::App& app) {
  auto options = std::make_shared<BmodelOptions>();
  auto run = std::make_shared<Run>();
  const auto command = [&](const char* name, const char* help, const Run& what) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([run, what] { *run = what; });
    return sub;
  };
  CLI::App* info = command("info", "Show the networks of a file, their tensors and memory",
                           [options] { return show_model(*options); });
  add_file(*info, *options);
  add_map(*info, *options);
  add_choice(*info, *options);
  info->add_flag("--json", options->json, "JSON instead of text");
  CLI::App* disasm = command("disasm", "Print every instruction with its operands and what it waits for",
                             [options] { return disassemble_model(*options); });
  add_file(*disasm, *options);
  add_choice(*disasm, *options);
  auto* lines = disasm->add_flag("--json", options->json, "one JSON object for each instruction");
  disasm
      ->add_flag("--encode", options->encode,
                 "prints no instruction: encodes those of all networks and stages again, and compares the bytes")
      ->excludes(lines);
  CLI::App* time = command("time", "Estimate how long networks take on their chip, without running them",
                           [options] { return time_models(*options); });
  time->add_option("files", options->files, "compiled networks (.bmodel)")->required();
  time->add_option("--network", options->network, "only the network of this name");
  time->add_option("--stage", options->stage, "only this stage")
      ->check(CLI::NonNegativeNumber)
      ->each([options](const auto&) { options->one_stage = true; });
  time->add_option("--layers", options->most_layers, "so many of the costliest layers, with what bounds them")
      ->capture_default_str();
  time->add_option("--cores", options->cores, "only what is compiled for so many cores")->check(CLI::PositiveNumber);
  time->add_option("--length", options->length,
                   "of a language model: a text of so many tokens; of several stages the smallest that holds it")
      ->check(CLI::PositiveNumber);
  time->add_option("--blocks", options->blocks,
                   "of a language model of which the file holds some blocks: how many it has")
      ->check(CLI::PositiveNumber);
  time->add_option("--with", options->with, "another network that runs on the same chip at the same time");
  time->add_flag("--vendor", options->vendor, "the vendor's own figures alone");
  auto* json = time->add_flag("--json", options->json, "a JSON array of all estimates");
  auto* csv = time->add_flag("--csv", options->csv, "a line of comma-separated values for each estimate");
  csv->excludes(json);
  // For tests/timing/fit.py alone.
  time->add_flag("--fit-rows", options->fit_rows)->group("");
  time->add_option("--fit", options->fit)->group("");
  time->footer(
      "Only instructions are read. The error is that of networks of the same precision which were left out of the\n"
      "fit (docs/time.md). Exit status: 0; 1 when an estimate failed; 2 when a file is not usable.");
  const std::string statuses =
      std::string("Exit status: 0; 1 when the network failed or differs, unless\n") + kGraveStatuses;
  CLI::App* execute = command("run", "Run a network; takes the options of `softtpu run`", [options] {
    if (!computes_nothing()) return run_in_program(*options, false);
    options->files = {options->file};
    options->one_stage = true;
    return time_models(*options);
  });
  add_execution(*execute, *options);
  add_run_options(*execute, options->run, SettingUser::kProgram);
  execute->footer(statuses);
  CLI::App* compare =
      command("compare", "Run a network and compare its outputs with those of a file, or its layers with a float model",
              [options] {
                if (computes_nothing())
                  return fail(Error{ErrorKind::kUsage, "compare needs results: leave out --time-only"});
                const bool by_layers = !options->onnx.empty() || !options->npz.empty();
                return by_layers ? compare_layers(*options) : run_in_program(*options, true);
              });
  add_execution(*compare, *options);
  auto* references = compare->add_option_group("Reference", "one of these");
  references->add_option("--reference", options->reference, "what the outputs should be (.npz)");
  references->add_option("--onnx", options->onnx,
                         "the float model (.onnx), which Python's onnxruntime runs: compares layer by layer");
  references->add_option("--npz", options->npz,
                         "what the layers should be, by their names (.npz): compares layer by layer");
  references->require_option(1);
  compare
      ->add_option("--margin", options->margin, "layer by layer: how many times what the types explain an error may be")
      ->capture_default_str()
      ->check(check_number(false));
  compare->add_option("--json", options->json_file, "layer by layer: file for the comparison (JSON)");
  compare->add_option("--page", options->page, "layer by layer: file for a page with a plot over the layers (HTML)");
  add_run_options(*compare, options->run, SettingUser::kProgram);
  compare->footer(
      "Layer by layer, tensors are those of the compiler's map; the first that leaves the reference by more\n"
      "than its type and those before it explain is named (docs/networks.md).\n" +
      statuses + "3 when an output file of a comparison layer by layer cannot be written.\n");
  add_test(*command("test", "Run and compare networks with the options of the vendor's bmrt_test",
                    [options] { return test_model(*options); }),
           *options);
  CLI::App* inner = command("execute", "", [options] { return execute_model(*options); });
  inner->group("");  // not shown: what the two above start
  add_execution(*inner, *options);
  inner->add_option("--reference", options->reference);
  app.require_subcommand(1);
  app.footer(
      "\"softtpu bmodel COMMAND --help\" lists the options. Exit status: 0; 1 when a network failed or differs;\n"
      "2 when the file is not usable; 120 to 125 as of \"softtpu run\".");
  return [run] { return (*run)(); };
}

}  // namespace softtpu::cli
