#include "host/bmrt/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "host/bmlib/network_launch.hpp"
#include "host/bmrt/log.hpp"

namespace softtpu::bmrt {
namespace {

using msg::NetworkArea;
using msg::NetworkGroup;
using msg::NetworkStep;

// Compiled addresses of relocated tensors (address mode 4): behind everything a compiler uses.
constexpr std::uint64_t kRelocated = 0xC0'0000'0000;
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kAddressBytes = 5;  // of an address in an instruction of the DMA engine

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Result<void> check_same_tensors(const std::vector<bmodel::Tensor>& first, const std::vector<bmodel::Tensor>& other) {
  const bool same = std::equal(first.begin(), first.end(), other.begin(), other.end(),
                               [](const auto& a, const auto& b) { return a.name == b.name && a.type == b.type; });
  if (same) return {};
  return Error{ErrorKind::kUsage, "its stages have different inputs or outputs"};
}

bool has_room(const bm_shape_t& greatest, const bm_shape_t& shape) {
  if (greatest.num_dims != shape.num_dims) return false;
  for (int i = 0; i < shape.num_dims; ++i) {
    if (shape.dims[i] < 1 || shape.dims[i] > greatest.dims[i]) return false;
  }
  return true;
}

// 0: none; else the product of what is left over.
std::int64_t spare_room(const bm_shape_t& greatest, const bm_shape_t& shape) {
  std::int64_t product = 1;
  bool any = false;
  for (int i = 0; i < shape.num_dims; ++i) {
    const std::int64_t left = std::int64_t{greatest.dims[i]} - shape.dims[i];
    any = any || left > 0;
    if (left > 0 && __builtin_mul_overflow(product, left, &product)) product = std::numeric_limits<std::int64_t>::max();
  }
  return any ? product : 0;
}

}  // namespace

Result<void> check_tensor(const bmodel::Tensor& tensor) {
  if (tensor.shape.size() > BM_MAX_DIMS_NUM)
    return Error{ErrorKind::kUnsupported, fmt::format("tensor \"{}\" has {} dimensions (limit {})", tensor.name,
                                                      tensor.shape.size(), BM_MAX_DIMS_NUM)};
  for (const std::uint64_t extent : tensor.shape) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      return Error{ErrorKind::kUnsupported, fmt::format("tensor \"{}\" has an extent of {}", tensor.name, extent)};
  }
  if (tensor.bytes > std::numeric_limits<unsigned>::max())
    return Error{ErrorKind::kUnsupported, fmt::format("tensor \"{}\" has {} bytes", tensor.name, tensor.bytes)};
  return {};
}

bm_shape_t to_shape(const std::vector<std::uint64_t>& extents) {
  bm_shape_t shape{};
  shape.num_dims = static_cast<int>(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) shape.dims[i] = static_cast<int>(extents[i]);
  return shape;
}

std::string to_text(const bm_shape_t& shape) {
  const int count = std::clamp(shape.num_dims, 0, BM_MAX_DIMS_NUM);
  return fmt::format("[{}]", fmt::join(shape.dims, shape.dims + count, ", "));
}

Network::~Network() = default;

Result<std::shared_ptr<Network>> Network::load(MemorySource& memory, const bmodel::Network& network, Walkers& walkers,
                                               SharedContext* shared, bool static_parts) {
  std::shared_ptr<Network> loaded(new Network);
  loaded->name_ = network.name;
  loaded->address_mode_ = network.address_mode;
  if (network.stages.empty()) return Error{ErrorKind::kUsage, "it has no stage"};
  if (network.address_mode < bmodel::kIoInContext || network.address_mode > bmodel::kIoRelocated)
    return Error{ErrorKind::kUnsupported, fmt::format("its address mode {} is not known", network.address_mode)};
  for (const bmodel::Stage& stage : network.stages) {
    if (!stage.refusals.empty())
      return Error{ErrorKind::kUnsupported, fmt::format("{}", fmt::join(stage.refusals, "; "))};
    for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
      for (const bmodel::Tensor& tensor : *tensors) {
        if (auto good = check_tensor(tensor); !good) return good.error();
      }
    }
    for (const auto& [first, other] :
         {std::pair(&network.stages[0].inputs, &stage.inputs), std::pair(&network.stages[0].outputs, &stage.outputs)}) {
      if (auto same = check_same_tensors(*first, *other); !same) return same.error();
    }
  }
  for (const bmodel::Stage& stage : network.stages) {
    auto made = loaded->load_stage(memory, stage, walkers, shared);
    if (!made) return made.error();
    if (!static_parts || (made->groups[0].empty() && made->dynamic_parts.empty()))
      made->refusal = fmt::format("{}", fmt::join(made->left_out, "; "));
    loaded->stages_.push_back(*std::move(made));
  }
  loaded->describe();
  return loaded;
}

Result<Network::Stage> Network::load_stage(MemorySource& memory, const bmodel::Stage& stage, Walkers& walkers,
                                           SharedContext* shared) {
  Stage loaded;
  loaded.left_out = stage.left_out;
  unsigned int there = 1;
  if (bm_get_tpu_scalar_num(memory.handle(), &there) != BM_SUCCESS) there = 1;
  if (stage.cores > there) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("it is compiled for {} cores, the device has {}", stage.cores, there)};
  }
  loaded.cores = stage.cores;
  loaded.groups.resize(stage.cores);
  loaded.layers.resize(stage.cores);
  loaded.inputs = stage.inputs;
  loaded.outputs = stage.outputs;
  loaded.on_host_alone = stage.on_host_alone;
  // What the interface cannot describe is not shown.
  std::copy_if(stage.between.begin(), stage.between.end(), std::back_inserter(loaded.between),
               [](const bmodel::Tensor& tensor) { return bool(check_tensor(tensor)); });
  if (stage.context_address + stage.context_bytes < stage.context_address ||
      stage.io_address + stage.io_bytes < stage.io_address || stage.context_bytes > kRelocated) {
    return Error{ErrorKind::kUsage, "its areas of memory end behind the last address"};
  }
  // Constants lie in front of what begins behind them.
  std::uint64_t constants_end = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [begin, bytes] :
       {std::pair(stage.io_address, stage.io_bytes),
        std::pair(stage.context_address, std::max(stage.context_bytes, std::uint64_t{1}))}) {
    if (bytes > 0 && begin > stage.coefficient_address) constants_end = std::min(constants_end, begin);
  }
  if (!stage.coefficients.empty()) {
    auto constants = memory.constants(stage.coefficients);
    if (!constants) return constants.error();
    loaded.constants = *constants;
    const std::uint64_t begin = stage.coefficient_address;
    const std::uint64_t end = std::min(constants_end, begin + whole_pages(stage.coefficients.size()));
    if (begin < end) loaded.areas.push_back({begin, end, loaded.constants->address()});
  }
  if (stage.io_bytes > 0) {
    auto io = memory.make(Use::kInputsAndOutputs, stage.io_bytes);
    if (!io) return io.error();
    loaded.io = *std::move(io);
    loaded.areas.push_back({stage.io_address, stage.io_address + stage.io_bytes, loaded.io.address()});
  }
  if (stage.context_bytes > 0) {
    // Pieces may lie anywhere; one behind the other is as good.
    const bool reuse = shared != nullptr && shared->memory != nullptr && shared->memory->bytes() >= stage.context_bytes;
    if (reuse) {
      loaded.context = shared->memory;
    } else {
      auto context = memory.make(Use::kBetween, stage.context_bytes);
      if (!context) return context.error();
      loaded.context = std::make_shared<DeviceMemory>(*std::move(context));
      if (shared != nullptr) shared->memory = loaded.context;
    }
    loaded.areas.push_back(
        {stage.context_address, stage.context_address + stage.context_bytes, loaded.context->address()});
  }
  if (auto placed = place_apart(memory, stage, loaded); !placed) return placed.error();
  for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
    for (const bmodel::Tensor& tensor : *tensors) {
      if (address_mode_ == bmodel::kIoRelocated || tensor.bytes == 0 || loaded.on_host_alone.contains(tensor.name))
        continue;
      const auto in = std::find_if(loaded.areas.begin(), loaded.areas.end(), [&](const NetworkArea& one) {
        return one.contains(tensor.address) && tensor.bytes <= one.end - tensor.address;
      });
      if (in == loaded.areas.end())
        return Error{ErrorKind::kUsage,
                     fmt::format("tensor \"{}\" ({} bytes at {:#x}) lies outside the network's areas", tensor.name,
                                 tensor.bytes, tensor.address)};
    }
  }
  if (auto groups = load_groups(memory, stage, loaded); !groups) return groups.error();
  if (auto lists = load_dynamic(memory, stage, walkers, loaded); !lists) return lists.error();
  return loaded;
}

// Inputs and outputs that have tags of their own.
Result<void> Network::place_apart(MemorySource& source, const bmodel::Stage& stage, Stage& loaded) {
  if (address_mode_ != bmodel::kIoTag && address_mode_ != bmodel::kIoTagFuse) return {};
  for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
    for (const bmodel::Tensor& tensor : *tensors) {
      if (tensor.bytes == 0 || loaded.on_host_alone.contains(tensor.name) || place(loaded, tensor.address) != 0)
        continue;
      const std::uint64_t bytes = whole_pages(tensor.bytes);
      const bool meets = std::any_of(loaded.areas.begin(), loaded.areas.end(), [&](const NetworkArea& one) {
        return one.begin < tensor.address + bytes && tensor.address < one.end;
      });
      auto memory = source.make(Use::kInputsAndOutputs, bytes);
      if (!memory) return memory.error();
      const std::uint64_t end = tensor.address + (meets ? tensor.bytes : bytes);
      loaded.areas.push_back({tensor.address, end, memory->address()});
      loaded.apart.push_back(*std::move(memory));
    }
  }
  return {};
}

Result<void> Network::load_groups(MemorySource& source, const bmodel::Stage& stage, Stage& loaded) {
  std::vector<std::uint64_t> bases;  // of relocated tensors, by their number
  if (address_mode_ == bmodel::kIoRelocated) {
    constexpr std::size_t kMostTensors = kMaxNetworkSteps / 2;  // each is an area of a launch
    if (stage.inputs.size() + stage.outputs.size() > kMostTensors)
      return Error{ErrorKind::kUnsupported, fmt::format("it has more than {} relocated tensors", kMostTensors)};
    std::uint64_t next = kRelocated;
    for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
      for (const bmodel::Tensor& tensor : *tensors) {
        bases.push_back(next);
        next += whole_pages(tensor.bytes) + kPage;
      }
    }
  }
  for (const bmodel::CommandGroup& group : stage.groups) {
    std::vector<std::uint8_t> dma(group.dma.begin(), group.dma.end());
    for (const bmodel::Relocation& one : group.relocations) {
      if (address_mode_ != bmodel::kIoRelocated) break;
      if (one.base_id >= bases.size())
        return Error{ErrorKind::kUsage,
                     fmt::format("an address belongs to tensor {} of {}", one.base_id, bases.size())};
      const std::uint64_t address = bases[one.base_id] + one.add;
      std::memcpy(dma.data() + one.offset, &address, kAddressBytes);
    }
    NetworkGroup& made = loaded.groups[group.core].emplace_back();
    const std::tuple<bmodel::Bytes, msg::MemoryRange*, Use> streams[] = {
        {group.tiu, &made.tiu, Use::kInstructions},
        {dma, &made.dma, Use::kMovingInstructions},
        {group.sdma, &made.sdma, Use::kMovingInstructions}};
    for (const auto& [bytes, range, use] : streams) {
      if (bytes.empty()) continue;
      auto memory = source.make(use, bytes);
      if (!memory) return memory.error();
      *range = {memory->address(), bytes.size()};
      loaded.streams.push_back(*std::move(memory));
    }
    auto layers = load_layers(source.handle(), stage, group, loaded);
    if (!layers) return layers.error();
    made.layers = *layers;
  }
  return check_streams(source.handle(), loaded);
}

// Layers count by the part that they belong to; where a part has several groups, their numbers begin anew and name
// nothing.
Result<msg::MemoryRange> Network::load_layers(bm_handle_t handle, const bmodel::Stage& stage,
                                              const bmodel::CommandGroup& group, Stage& loaded) {
  const auto beside = [&](const auto& one) { return one.part == group.part && one.core == group.core; };
  std::vector<bmodel::Layer> layers;
  if (std::count_if(stage.groups.begin(), stage.groups.end(), beside) == 1)
    std::copy_if(stage.layers.begin(), stage.layers.end(), std::back_inserter(layers), beside);
  const auto table = bmodel::pack_layers(layers);
  loaded.layers[group.core].push_back(std::move(layers));
  if (table.empty()) return msg::MemoryRange();
  auto memory = DeviceMemory::make(handle, table);
  if (!memory) return memory.error();
  const msg::MemoryRange range{memory->address(), table.size()};
  loaded.streams.push_back(*std::move(memory));
  return range;
}

// The device reads all instructions once, so that what is wrong with them is said now.
Result<void> Network::check_streams(bm_handle_t handle, const Stage& stage) const {
  std::vector<NetworkStep> steps(stage.areas.begin(), stage.areas.end());
  // Where relocated tensors will lie is not known yet.
  if (address_mode_ == bmodel::kIoRelocated)
    steps.push_back(NetworkArea{kRelocated, std::uint64_t{1} << 40, host::global_memory(handle).start});
  for (const auto& groups : stage.groups) {
    for (NetworkGroup group : groups) {
      group.is_check = true;
      steps.push_back(std::move(group));
    }
  }
  if (issue(handle, steps, true) == BM_SUCCESS) return {};
  return Error{ErrorKind::kUsage, "its instructions cannot be carried out (the line above says why)"};
}

Result<std::size_t> Network::find_stage(const bm_tensor_t* inputs, int count) const {
  // Of dynamic stages with room for the inputs, the one that the first input fits best.
  std::optional<std::pair<std::int64_t, std::size_t>> best;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!stages_[i].dynamic) continue;
    bool fits = true;
    for (int k = 0; k < count; ++k)
      fits = fits && has_room(stages_[i].input_shapes[static_cast<std::size_t>(k)], inputs[k].shape);
    if (!fits) continue;
    const std::int64_t spare = count == 0 ? 0 : spare_room(stages_[i].input_shapes[0], inputs[0].shape);
    if (!best || spare < best->first) best = {spare, i};
  }
  if (best) return best->second;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    bool same = true;
    for (int k = 0; k < count; ++k)
      same = same && bmrt_shape_is_same(&inputs[k].shape, &stages_[i].input_shapes[static_cast<std::size_t>(k)]);
    if (same) return i;
  }
  std::string given;
  for (int k = 0; k < count; ++k) given += (k == 0 ? "" : ", ") + to_text(inputs[k].shape);
  std::string known;
  for (const Stage& stage : stages_) {
    known += known.empty() ? "" : " or ";
    for (std::size_t k = 0; k < stage.input_shapes.size(); ++k)
      known += (k == 0 ? "" : ", ") + to_text(stage.input_shapes[k]);
  }
  return Error{
      ErrorKind::kUsage,
      fmt::format(
          "network \"{}\" is compiled for inputs {}{}, not for {}", name_,
          std::any_of(stages_.begin(), stages_.end(), [](const Stage& one) { return one.dynamic; }) ? "up to " : "",
          known, given)};
}

std::uint64_t Network::place(const Stage& stage, std::uint64_t address) const {
  for (const NetworkArea& one : stage.areas) {
    if (one.contains(address)) return one.at + (address - one.begin);
  }
  return 0;
}

std::vector<NetworkStep> Network::steps_of(const Stage& of, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                                           const std::vector<msg::NetworkCopy>& keeps,
                                           std::span<const msg::MemoryRange> tables) const {
  return steps_of(of, inputs, outputs, keeps, tables, 0, of.groups[0].size());
}

std::vector<NetworkStep> Network::steps_of(const Stage& of, const bm_tensor_t* inputs, const bm_tensor_t* outputs,
                                           const std::vector<msg::NetworkCopy>& keeps,
                                           std::span<const msg::MemoryRange> tables, std::size_t first,
                                           std::size_t behind) const {
  std::vector<NetworkStep> steps;
  const bool relocated = address_mode_ == bmodel::kIoRelocated;
  std::uint64_t next = kRelocated;
  const auto relocate = [&](const bm_tensor_t& tensor, std::uint64_t bytes) {
    const std::uint64_t end = next + whole_pages(bytes) + kPage;
    steps.push_back(NetworkArea{next, end, bm_mem_get_device_addr(tensor.device_mem)});
    next = end;
  };
  for (std::size_t i = 0; i < of.inputs.size(); ++i) {
    const bmodel::Tensor& tensor = of.inputs[i];
    if (relocated) {
      relocate(inputs[i], tensor.bytes);
    } else if (first == 0 && !of.on_host_alone.contains(tensor.name)) {
      steps.push_back(
          msg::NetworkCopy{place(of, tensor.address), bm_mem_get_device_addr(inputs[i].device_mem), tensor.bytes});
    }
  }
  if (relocated) {
    for (std::size_t i = 0; i < of.outputs.size(); ++i) relocate(outputs[i], of.outputs[i].bytes);
  }
  steps.insert(steps.end(), of.areas.begin(), of.areas.end());
  // Each group may be the last one that writes; a later one keeps the tensor again.
  for (std::size_t i = first; i < behind; ++i) {
    NetworkGroup group = of.groups[0][i];
    group.keeps = keeps;
    if (i < tables.size()) group.layers = tables[i];
    steps.push_back(std::move(group));
  }
  const bool last = behind == of.groups[0].size();
  for (std::size_t i = 0; !relocated && last && i < of.outputs.size(); ++i) {
    const bmodel::Tensor& tensor = of.outputs[i];
    if (of.is_written_at_once(tensor.name) || of.not_made.contains(tensor.name)) continue;
    steps.push_back(
        msg::NetworkCopy{bm_mem_get_device_addr(outputs[i].device_mem), place(of, tensor.address), tensor.bytes});
  }
  return steps;
}

bm_status_t Network::launch(bm_handle_t handle, std::size_t stage, const bm_tensor_t* inputs, bm_tensor_t* outputs,
                            std::span<const int> cores) {
  const std::lock_guard lock(launching_);
  const Stage& of = stages_[stage];
  if (!bring_constants(of)) return BM_ERR_FAILURE;
  if (!of.dynamic_parts.empty()) return launch_mixed(handle, of, inputs, outputs);
  if (of.cores > 1) return issue_on_cores(handle, of, inputs, outputs, cores, false);
  return issue(handle, steps_of(of, inputs, outputs, {}), false, cores.empty() ? 0 : cores[0]);
}

bool Network::bring_constants(const Stage& of) const {
  if (of.constants == nullptr) return true;
  const auto brought = of.constants->bring();
  return brought ? true : refuse(fmt::format("network \"{}\"", name_).c_str(), brought.error().text);
}

// One launch: the first core copies inputs before and outputs behind what all cores do together.
bm_status_t Network::issue_on_cores(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                    const bm_tensor_t* outputs, std::span<const int> cores, bool wait,
                                    std::span<const Tables> tables) const {
  std::vector<host::NetworkPart> parts;
  for (std::uint32_t core = 0; core < of.cores; ++core) {
    std::vector<NetworkStep> steps;
    if (core == 0) {
      const auto is_group = [](const NetworkStep& step) { return std::holds_alternative<NetworkGroup>(step); };
      steps = steps_of(of, inputs, outputs, {}, tables.empty() ? Tables() : tables[0]);
      const auto behind = std::find_if(steps.rbegin(), steps.rend(), is_group).base();
      steps.insert(behind, msg::NetworkBarrier{});
      steps.insert(std::find_if(steps.begin(), steps.end(), is_group), msg::NetworkBarrier{});
    } else {
      steps.assign(of.areas.begin(), of.areas.end());
      steps.push_back(msg::NetworkBarrier{});
      for (std::size_t i = 0; i < of.groups[core].size(); ++i) {
        NetworkGroup group = of.groups[core][i];
        if (!tables.empty()) group.layers = tables[core][i];
        steps.push_back(std::move(group));
      }
      steps.push_back(msg::NetworkBarrier{});
    }
    std::size_t count = 0;
    for (const NetworkStep& step : steps) count += msg::steps_in(step);
    if (count > kMaxNetworkSteps) return BM_ERR_PARAM;
    parts.push_back({core < cores.size() ? cores[core] : static_cast<int>(core), call(std::move(steps))});
  }
  return host::launch_network(handle, std::move(parts), wait);
}

// The name as far as a kernel's may be long.
msg::NetworkCall Network::call(std::vector<NetworkStep> steps) const {
  const std::size_t most = kMaxKernelName - msg::NetworkCall().kernel_name().size();
  return {name_.substr(0, most), std::move(steps)};
}

// As many launches as the steps need. Areas hold for one launch, so each that has groups begins with them.
bm_status_t Network::issue(bm_handle_t handle, const std::vector<NetworkStep>& steps, bool wait, int core) const {
  std::vector<NetworkStep> areas;
  std::vector<NetworkStep> part;
  std::size_t count = 0;
  const auto send = [&] { return host::launch_network(handle, {{core, call(part)}}, wait); };
  for (const NetworkStep& step : steps) {
    if (count + msg::steps_in(step) > kMaxNetworkSteps) {
      if (const bm_status_t status = send(); status != BM_SUCCESS) return status;
      part = areas;
      count = areas.size();
    }
    part.push_back(step);
    count += msg::steps_in(step);
    if (std::holds_alternative<NetworkArea>(step)) areas.push_back(step);
  }
  return part.empty() ? BM_SUCCESS : send();
}

Result<void> Network::check_constants() const {
  for (const Stage& stage : stages_) {
    if (stage.constants == nullptr) continue;
    const auto same = stage.constants->are_unchanged();
    if (!same) return Error{same.error().kind, fmt::format("the constants of \"{}\": {}", name_, same.error().text)};
    if (!*same)
      return Error{ErrorKind::kUsage, fmt::format("the constants of \"{}\" on the device have changed", name_)};
  }
  return {};
}

void Network::describe() {
  describe(inputs_, true);
  describe(outputs_, false);
  for (Stage& stage : stages_) {
    for (const bmodel::Tensor& tensor : stage.inputs) {
      stage.input_shapes.push_back(to_shape(tensor.shape));
      stage.input_mems.push_back(to_memory(place(stage, tensor.address), tensor.bytes));
    }
    for (const bmodel::Tensor& tensor : stage.outputs) {
      stage.output_shapes.push_back(to_shape(tensor.shape));
      stage.output_mems.push_back(to_memory(place(stage, tensor.address), tensor.bytes));
    }
  }
  for (Stage& stage : stages_)
    stage_infos_.push_back(
        {stage.input_shapes.data(), stage.output_shapes.data(), stage.input_mems.data(), stage.output_mems.data()});
  info_.name = name_.c_str();
  info_.input_num = static_cast<int>(inputs_.names.size());
  info_.input_names = inputs_.name_list.data();
  info_.input_dtypes = inputs_.types.data();
  info_.input_scales = inputs_.scales.data();
  info_.output_num = static_cast<int>(outputs_.names.size());
  info_.output_names = outputs_.name_list.data();
  info_.output_dtypes = outputs_.types.data();
  info_.output_scales = outputs_.scales.data();
  info_.stage_num = static_cast<int>(stages_.size());
  info_.stages = stage_infos_.data();
  info_.max_input_bytes = inputs_.bytes.data();
  info_.max_output_bytes = outputs_.bytes.data();
  info_.input_zero_point = inputs_.zero_points.data();
  info_.output_zero_point = outputs_.zero_points.data();
  info_.input_loc_devices = inputs_.devices.data();
  info_.output_loc_devices = outputs_.devices.data();
  // The first stage's, as all stages are compiled for one number of cores.
  info_.core_num = static_cast<int>(stages_[0].cores);
  info_.addr_mode = address_mode_;
  info_.is_dynamic = stages_[0].dynamic;
}

void Network::describe(Description& to, bool inputs) {
  const auto of = [&](const Stage& stage) -> const auto& { return inputs ? stage.inputs : stage.outputs; };
  const auto& first = of(stages_[0]);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bmodel::Tensor& tensor = first[i];
    to.names.push_back(tensor.name);
    to.name_list.push_back(to.names.back().c_str());
    to.types.push_back(static_cast<bm_data_type_t>(tensor.type));
    to.scales.push_back(tensor.scale);
    to.zero_points.push_back(tensor.zero_point);
    to.devices.push_back(0);
    std::uint64_t most = 0;
    for (const Stage& stage : stages_) most = std::max(most, of(stage)[i].bytes);
    to.bytes.push_back(most);
  }
}

}  // namespace softtpu::bmrt
