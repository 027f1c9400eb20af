// Runs compiled networks of one core in this process and compares every byte of their outputs with recorded ones:
// NAME.bmodel, NAME.input.bin, NAME.output.bin.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "device/command/instruction_scope.hpp"
#include "device/core/core.hpp"
#include "device/instruction/address.hpp"
#include "device/instruction/order.hpp"
#include "device/instruction/translate.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu {
namespace {

namespace fs = std::filesystem;
using FileBytes = std::vector<std::uint8_t>;

FileBytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Device {
 public:
  explicit Device(std::unique_ptr<Memories> memories) : memories_(std::move(memories)), core_(*memories_, 0) {}

  // Empty: every byte is as recorded.
  std::string run(const bmodel::Stage& stage, const FileBytes& input, const FileBytes& output, std::uint64_t seed) {
    if (const auto reasons = stage.reasons(false); !reasons.empty()) return reasons.front();
    if (stage.cores > 1) return fmt::format("it is for {} cores", stage.cores);
    place_areas(stage);
    if (!write(stage.coefficient_address, stage.coefficients)) return "the coefficients lie outside the areas";
    std::size_t at = 0;
    for (const bmodel::Tensor& tensor : stage.inputs) {
      if (tensor.bytes > input.size() - at) return "the input file is too short";
      if (!write(tensor.address, {input.data() + at, tensor.bytes})) return "an input lies outside the areas";
      at += tensor.bytes;
    }
    for (const bmodel::CommandGroup& group : stage.groups) {
      if (std::string text = run(group, seed); !text.empty()) return text;
    }
    at = 0;
    for (const bmodel::Tensor& tensor : stage.outputs) {
      if (tensor.bytes > output.size() - at) return "the output file is too short";
      const std::uint8_t* got = place(tensor.address, tensor.bytes);
      if (got == nullptr) return "an output lies outside the areas";
      if (std::string text = difference(tensor, got, output.data() + at); !text.empty()) return text;
      at += tensor.bytes;
    }
    return {};
  }

 private:
  // One behind the other, whatever the compiled addresses are.
  void place_areas(const bmodel::Stage& stage) {
    areas_.clear();
    const Chip& chip = memories_->chip();
    std::uint64_t next = chip.global_mem.start + chip.global_reserved;
    const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
      if (bytes == 0) return;
      areas_.push_back({begin, begin + bytes, next});
      next += (bytes + 8191) / 4096 * 4096;
    };
    add(stage.coefficient_address, stage.coefficients.size());
    add(stage.io_address, stage.io_bytes);
    add(stage.context_address, stage.context_bytes);
    for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
      for (const bmodel::Tensor& tensor : *tensors) {
        if (place(tensor.address, tensor.bytes) == nullptr) add(tensor.address, tensor.bytes);
      }
    }
  }
  std::uint8_t* place(std::uint64_t address, std::uint64_t bytes) {
    for (const stream::Area& area : areas_) {
      if (address >= area.begin && address < area.end && bytes <= area.end - address)
        return memories_->find_system(area.at + (address - area.begin), bytes).data;
    }
    return nullptr;
  }
  bool write(std::uint64_t address, bmodel::Bytes bytes) {
    if (bytes.empty()) return true;
    std::uint8_t* to = place(address, bytes.size());
    if (to != nullptr) std::memcpy(to, bytes.data(), bytes.size());
    return to != nullptr;
  }

  std::string run(const bmodel::CommandGroup& group, std::uint64_t seed) {
    const auto& set = *stream::InstructionSet::find_chip(memories_->chip().name);
    const auto read = [&](stream::Unit unit, bmodel::Bytes bytes) {
      using Stream = Result<std::vector<stream::Instruction>>;
      return bytes.empty() ? Stream(std::vector<stream::Instruction>()) : stream::read_stream(set, unit, bytes);
    };
    auto tiu = read(stream::Unit::kTiu, group.tiu);
    if (!tiu) return tiu.error().text;
    auto dma = read(stream::Unit::kDma, group.dma);
    if (!dma) return dma.error().text;
    auto steps = stream::order_streams(*tiu, *dma, seed);
    if (!steps) return steps.error().text;
    tiu_ = std::move(*tiu);
    dma_ = std::move(*dma);
    steps_ = std::move(*steps);
    refusal_.clear();
    const Device* self = this;
    const auto outcome =
        core_.run([](const void* of) { (*static_cast<Device* const*>(of))->kernel(); }, "network", &self);
    if (!refusal_.empty()) return refusal_;
    return outcome.ok ? std::string() : outcome.text;
  }
  void kernel() {
    stream::Translator translator(memories_->chip());
    for (const stream::Step& step : steps_) {
      stream::Instruction instruction = (step.unit == stream::Unit::kTiu ? tiu_ : dma_)[step.index];
      if (instruction.format->unit == stream::Unit::kDma) {
        if (auto resolved = stream::resolve_addresses(memories_->chip(), instruction, areas_); !resolved)
          return void(refusal_ = resolved.error().text);
      }
      const auto issued = translator.translate(instruction);
      if (!issued) return void(refusal_ = issued.error().text);
      if (!*issued) continue;
      const InstructionScope instructions;
      std::visit([&](const auto& command) { core_.submit((*issued)->op, command); }, (*issued)->command);
      if (core_.faulted()) return;
    }
  }

  static std::string difference(const bmodel::Tensor& tensor, const std::uint8_t* got, const std::uint8_t* want) {
    const auto* end = want + tensor.bytes;
    const auto [first, other] = std::mismatch(want, end, got);
    if (first == end) return {};
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < tensor.bytes; ++i) count += got[i] != want[i] ? 1 : 0;
    return fmt::format("output \"{}\": {} of {} bytes differ, first at {}: {:02x}, expected {:02x}", tensor.name, count,
                       tensor.bytes, first - want, *other, *first);
  }

  std::unique_ptr<Memories> memories_;
  Core core_;
  std::vector<stream::Instruction> tiu_, dma_;
  std::vector<stream::Step> steps_;
  std::vector<stream::Area> areas_;
  std::string refusal_;
};

// What went wrong with one network; empty: nothing.
std::string replay(Device& device, const fs::path& path, std::uint64_t orders) {
  const FileBytes file = read_file(path);
  const auto model = bmodel::read_model(file);
  if (!model) return model.error().text;
  if (model->networks.empty() || model->networks[0].stages.empty()) return "it holds no network";
  const auto beside = [&](const char* ending) { return read_file(fs::path(path).replace_extension(ending)); };
  for (std::uint64_t seed = 0; seed < orders; ++seed) {
    std::string text = device.run(model->networks[0].stages[0], beside(".input.bin"), beside(".output.bin"), seed);
    if (!text.empty()) return seed == 0 ? text : fmt::format("order {}: {}", seed, text);
  }
  return {};
}

int run(const std::string& chip_name, const std::string& folder, const std::string& filter, std::uint64_t orders) {
  auto chip = load_chip(chip_name);
  if (!chip) {
    fmt::print(stderr, "{}\n", chip.error().text);
    return 2;
  }
  auto memories = Memories::create(*chip);
  if (!memories) {
    fmt::print(stderr, "{}\n", memories.error().text);
    return 2;
  }
  Device device(std::move(*memories));
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".bmodel" && entry.path().string().find(filter) != std::string::npos) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  int passed = 0;
  for (const fs::path& path : paths) {
    const auto start = std::chrono::steady_clock::now();
    const std::string text = replay(device, path, orders);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    fmt::print("{:<32} {:8.2f} ms  {}\n", path.filename().string(), took.count(), text.empty() ? "equal" : text);
    passed += text.empty() ? 1 : 0;
  }
  const int failed = static_cast<int>(paths.size()) - passed;
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace softtpu

int main(int argc, char** argv) {
  std::string folder;
  std::string filter;
  std::string chip = "bm1684x";
  std::uint64_t orders = 1;
  CLI::App app{"Runs compiled networks and compares their outputs with recorded ones."};
  app.add_option("folder", folder, "folder of the networks")->required()->check(CLI::ExistingDirectory);
  app.add_option("--chip", chip, "chip of the networks")->capture_default_str();
  app.add_option("-f,--filter", filter, "only files whose path contains this");
  app.add_option("--orders", orders, "how many legal orders of the two streams to try")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return softtpu::run(chip, folder, filter, orders);
}
