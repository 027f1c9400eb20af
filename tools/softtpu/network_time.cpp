#include "tools/softtpu/network_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "device/chip/layout.hpp"
#include "device/instruction/address.hpp"
#include "device/isa/op_names.hpp"
#include "device/network/program.hpp"
#include "device/timing/launch_clock.hpp"
#include "device/timing/shared_timeline.hpp"

namespace softtpu::cli {
namespace {

constexpr std::uint64_t kGlobalStart = 0x1'0000'0000;
constexpr std::uint64_t kGlobalEnd = std::uint64_t{1} << 40;

// A relocated address (address mode 4) stays the compiler's: where a tensor lies costs nothing.
std::vector<std::uint8_t> placed(const bmodel::CommandGroup& group) {
  std::vector<std::uint8_t> dma(group.dma.begin(), group.dma.end());
  for (const bmodel::Relocation& one : group.relocations) {
    const std::uint64_t address = kGlobalStart + (std::uint64_t{one.base_id} << 32) + one.add;
    if (one.offset + 5 <= dma.size()) std::memcpy(dma.data() + one.offset, &address, 5);
  }
  return dma;
}

// Areas for a network that lies nowhere: all addresses of compilers stand for global memory, whatever their tag.
std::vector<network::Area> anywhere(const Chip& chip) {
  const stream::InstructionCodes codes = stream::codes_of(chip);
  std::vector<network::Area> areas = {{kGlobalStart, kGlobalEnd, kGlobalStart}};
  if (codes.tag_bits == 0 || codes.system_bit >= 0) return areas;
  for (int tag = 1; tag < 1 << codes.tag_bits; ++tag) {
    if (tag == codes.local_tag || (codes.plain_tags >> tag & 1) != 0) continue;
    const std::uint64_t begin = static_cast<std::uint64_t>(tag) << codes.tag_bit;
    areas.push_back({begin, begin + (std::uint64_t{1} << codes.offset_bits), kGlobalStart});
  }
  return areas;
}

class Walk {
 public:
  // `timeline`: of several cores, of which this becomes one; nullptr: the core is alone.
  Walk(std::unique_ptr<CostModel> model, NetworkTime& into, std::vector<FitRow>* rows, SharedTimeline* timeline,
       int network)
      : clock_(std::move(model)), into_(into), rows_(rows), timeline_(timeline) {
    clock_.begin();
    const CostModel& of = clock_.model();
    if (timeline != nullptr) core_ = timeline->add_core(network, of.launch_us(), of.launch_basis(), of.ddr_share());
  }

  void copy(std::uint64_t bytes) {
    constexpr std::uint64_t kMost = 1 << 30;
    for (std::uint64_t done = 0; done < bytes; done += kMost) {
      const Dim4 shape{1, 1, 1, static_cast<int>(std::min(bytes - done, kMost))};
      const Tensor block{Space::kSystem, kGlobalStart, shape, continuous_stride(shape), Dtype::kInt8, true};
      add(Op::tpu_gdma_system_cpy, DmaCopyCmd{CopyOrder::kBlock, block, block}, "copy of an input or output");
    }
  }
  void add(const network::Program& program) {
    join_rows();
    for (const network::ProgramStep& step : program.steps) {
      if (std::holds_alternative<ControlCmd>(step.command)) {
        order(step);
        if (timeline_ != nullptr) order_cores(step);
        clock_.add(step.op, step.command);
      } else {
        add(step.op, step.command, step.instruction);
      }
    }
    sent_.clear();
    join_rows();
  }
  void finish() {
    if (timeline_ == nullptr) into_.end = clock_.times().end();
    for (std::size_t i = 0; i < kQueues; ++i) into_.busy_us[i] += clock_.times().busy_us(static_cast<Queue>(i));
    for (auto& [name, layer] : layers_) into_.layers.push_back(std::move(layer));
    std::stable_sort(into_.layers.begin(), into_.layers.end(),
                     [](const LayerTime& a, const LayerTime& b) { return a.us() > b.us(); });
  }

 private:
  // Where a part of a network begins and ends, either engine waits for the other.
  void join_rows() { after_ = {last_[1], last_[0]}; }
  void order(const network::ProgramStep& step) {
    if (rows_ == nullptr) return;
    const auto& control = std::get<ControlCmd>(step.command);
    const bool bdc = info(step.op).name.find("bdc") != std::string_view::npos;
    if (control.action == ControlAction::kSendMessage) sent_[control.message] = last_[bdc ? 0 : 1];
    if (control.action == ControlAction::kWaitMessage) after_[bdc ? 0 : 1] = sent_[control.message];
  }

  void order_cores(const network::ProgramStep& step) {
    const auto& control = std::get<ControlCmd>(step.command);
    const Queue queue = queue_named_by(step.op).value_or(Queue::kBdc);
    if (control.action == ControlAction::kSendMessage) timeline_->send(core_, queue, control.message, control.count);
    if (control.action == ControlAction::kWaitMessage) timeline_->wait(core_, queue, control.message, control.count);
    if (control.action == ControlAction::kParallelEnd) timeline_->join(core_);
  }

  void add(Op op, const Command& command, std::string_view name) {
    const auto timed = clock_.add(op, command);
    if (!timed) return;
    if (timeline_ != nullptr) timeline_->add(core_, timed->placed.queue, timed->cost);
    ++into_.commands;
    into_.operations += timed->cost.operations;
    into_.ideal_us += timed->cost.ideal_us;
    for (std::size_t i = 0; i < kBytePaths; ++i) into_.bytes[i] += timed->cost.bytes[i];
    LayerTime& layer = layer_of(name);
    ++layer.commands;
    const double us = timed->cost.engine_us();
    if (timed->placed.queue != Queue::kBdc) {
      layer.ddr_us += us;
    } else if (is_product(command)) {
      layer.products_us += us;
      into_.products.add(command, timed->cost.operations);
    } else {
      layer.other_us += us;
    }
    if (rows_ != nullptr) record(op, command, timed->placed.queue == Queue::kBdc ? 0 : 1);
  }
  LayerTime& layer_of(std::string_view name) {
    // "TIU 12 sAR.add of conv1": the layer, or the kind of instruction.
    const std::size_t of = name.find(" of ");
    std::string_view key = name;
    if (of != std::string_view::npos && !name.starts_with("copy")) {
      key = name.substr(of + 4);
    } else if (!name.starts_with("copy")) {
      const std::size_t unit = name.find(' ');
      const std::size_t number = name.find(' ', unit + 1);
      if (number != std::string_view::npos) key = name.substr(number + 1);
    }
    LayerTime& layer = layers_[key];
    if (layer.name.empty()) layer.name = key;
    return layer;
  }
  void record(Op op, const Command& command, std::size_t engine) {
    FitRow row{static_cast<int>(engine), after_[engine], clock_.model().quantities(op, command)};
    after_[engine] = -1;
    if (row.quantities.empty()) return;
    last_[engine] = static_cast<std::int64_t>(rows_->size());
    rows_->push_back(std::move(row));
  }

  LaunchClock clock_;
  NetworkTime& into_;
  std::vector<FitRow>* rows_;
  std::map<std::string_view, LayerTime> layers_;
  SharedTimeline* timeline_;
  std::size_t core_ = 0;
  std::map<int, std::int64_t> sent_;
  std::array<std::int64_t, 2> last_{-1, -1}, after_{-1, -1};
};

Moment last_of(const std::vector<Moment>& ends, std::size_t begin, std::size_t end) {
  return *std::max_element(ends.begin() + static_cast<std::ptrdiff_t>(begin),
                           ends.begin() + static_cast<std::ptrdiff_t>(end),
                           [](const Moment& a, const Moment& b) { return a.us < b.us; });
}

}  // namespace

std::string chip_name(const std::string& compiled_for) {
  std::string name = compiled_for;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  // The same TPU at the same clock, with one core.
  return name == "cv186x" ? "bm1688" : name;
}

// Walks through the streams of every core. On a timeline, the end is left to it.
static Result<NetworkTime> walk_stage(const StageOfFile& at, TimingPreset preset, std::vector<FitRow>* rows,
                                      SharedTimeline* timeline, int number) {
  const bmodel::Network& network = at.network;
  const bmodel::Stage& of = network.stages[at.stage];
  NetworkTime time;
  time.chip = at.model.chip;
  time.network = network.name;
  time.stage = static_cast<int>(at.stage);
  const auto wrong = [&](const Error& error) {
    return Error{error.kind, fmt::format("network \"{}\", stage {}: {}", network.name, at.stage, error.text)};
  };
  const auto chip = load_chip(chip_name(at.model.chip));
  if (!chip) return wrong(chip.error());
  if (const auto reasons = of.reasons(true); !reasons.empty())
    return wrong(Error{ErrorKind::kUnsupported, fmt::format("{}", fmt::join(reasons, "; "))});
  for (const bmodel::DynamicPart& part : of.dynamic_parts) {
    if (part.host) time.not_counted.push_back(part.label);
  }
  if (of.groups.empty() && !time.not_counted.empty() && time.not_counted.size() == of.dynamic_parts.size())
    return wrong(Error{ErrorKind::kUnsupported, "it runs on the host's processor alone, whose time is not estimated"});
  time.cores = static_cast<int>(std::max<std::uint32_t>(of.cores, 1));
  const bool copies = network.address_mode == bmodel::kIoInContext;
  const std::vector<network::Area> areas = anywhere(*chip);
  for (std::uint32_t core = 0; core < static_cast<std::uint32_t>(time.cores); ++core) {
    auto costs = CostModel::make_for_networks(*chip, preset);
    if (!costs) return wrong(costs.error());
    Walk walk(*std::move(costs), time, core == 0 ? rows : nullptr, timeline, number);
    for (const bmodel::Tensor& tensor : of.inputs) walk.copy(copies && core == 0 ? tensor.bytes : 0);
    for (const bmodel::CommandGroup& group : of.groups) {
      if (group.core != core) continue;
      std::vector<bmodel::Layer> layers;
      const auto of_part = [&](const auto& one) { return one.part == group.part; };
      if (std::count_if(of.groups.begin(), of.groups.end(), of_part) == 1)
        std::copy_if(of.layers.begin(), of.layers.end(), std::back_inserter(layers), of_part);
      const auto ranges = bmodel::unpack_layers(bmodel::pack_layers(layers));
      const std::vector<std::uint8_t> dma = placed(group);
      const auto program =
          network::make_program(*chip, {group.tiu, dma, group.sdma}, areas, ranges, network::Purpose::kTime);
      if (!program) return wrong(program.error());
      walk.add(*program);
    }
    for (const bmodel::Tensor& tensor : of.outputs) walk.copy(copies && core == 0 ? tensor.bytes : 0);
    walk.finish();
  }
  time.precision = time.products.name();
  if (const Fit* fit = preset == TimingPreset::kFull ? Fit::find(*chip) : nullptr; fit != nullptr) {
    if (const FitError* error = fit->error_of(time.precision, time.cores)) time.error = *error;
  }
  return time;
}

Result<SharedTimeline> make_timeline(const bmodel::Model& model, TimingPreset preset) {
  const auto chip = load_chip(chip_name(model.chip));
  if (!chip) return chip.error();
  const auto costs = CostModel::make_for_networks(*chip, preset);
  if (!costs) return costs.error();
  return SharedTimeline((*costs)->message_us(), (*costs)->cores_basis());
}

Result<NetworkTime> time_stage(const StageOfFile& at, TimingPreset preset, std::vector<FitRow>* rows) {
  if (at.network.stages[at.stage].cores <= 1) return walk_stage(at, preset, rows, nullptr, 0);
  auto timeline = make_timeline(at.model, preset);
  if (!timeline) return timeline.error();
  auto time = walk_stage(at, preset, rows, &*timeline, 0);
  if (!time) return time;
  const auto ends = timeline->run();
  if (!ends)
    return Error{ends.error().kind,
                 fmt::format("network \"{}\", stage {}: {}", at.network.name, at.stage, ends.error().text)};
  time->end = last_of(*ends, 0, ends->size());
  return time;
}

Result<Together> time_together(const StageOfFile& a, const StageOfFile& b, TimingPreset preset) {
  auto first = time_stage(a, preset);
  if (!first) return first.error();
  auto second = time_stage(b, preset);
  if (!second) return second.error();
  const auto chip = load_chip(chip_name(a.model.chip));
  if (!chip) return chip.error();
  if (first->chip != second->chip)
    return Error{ErrorKind::kUsage, fmt::format("\"{}\" is compiled for {}, \"{}\" for {}: they cannot share a chip",
                                                first->network, first->chip, second->network, second->chip)};
  Together together{first->end.us, second->end.us, first->end.us, first->end.us + second->end.us, false};
  if (first->cores + second->cores > chip->cores) return together;
  auto timeline = make_timeline(a.model, preset);
  if (!timeline) return timeline.error();
  for (int number = 0; number < 2; ++number) {
    if (auto walked = walk_stage(number == 0 ? a : b, preset, nullptr, &*timeline, number); !walked)
      return walked.error();
  }
  const auto ends = timeline->run();
  if (!ends) return ends.error();
  const auto cores = static_cast<std::size_t>(first->cores);
  together.first_us = last_of(*ends, 0, cores).us;
  together.second_us = last_of(*ends, cores, ends->size()).us;
  together.side_by_side = true;
  return together;
}

MemoryUse memory_of(const bmodel::Model& model) {
  MemoryUse use;
  std::set<std::pair<const std::uint8_t*, std::size_t>> constants;
  std::uint64_t most = 0;
  const auto consider = [&](std::uint64_t bytes, const std::string& what) {
    if (bytes <= most) return;
    most = bytes;
    use.largest = what;
  };
  for (const bmodel::Network& network : model.networks) {
    for (const bmodel::Stage& stage : network.stages) {
      if (constants.emplace(stage.coefficients.data(), stage.coefficients.size()).second) {
        use.constants += stage.coefficients.size();
        consider(stage.coefficients.size(), fmt::format("constants of {}", network.name));
      }
      use.context = std::max(use.context, stage.context_bytes);
      consider(stage.context_bytes, fmt::format("tensors between layers of {}", network.name));
      std::uint64_t io = stage.io_bytes;
      for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
        for (const bmodel::Tensor& tensor : *tensors) io += tensor.bytes;
      }
      use.io += io;
      consider(io, fmt::format("inputs and outputs of {}", network.name));
      for (const bmodel::CommandGroup& group : stage.groups)
        use.instructions += group.tiu.size() + group.dma.size() + group.sdma.size();
    }
  }
  return use;
}

}  // namespace softtpu::cli
