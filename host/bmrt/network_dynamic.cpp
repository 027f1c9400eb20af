// Parts of networks that a kernel module walks as lists of layers (runtime/bmodel/layer_list).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>

#include "host/bmrt/log.hpp"
#include "host/bmrt/network.hpp"

namespace softtpu::bmrt {
namespace {

// What a dynamic part says of an output.
struct GivenShape {
  std::int32_t dims = 0, extents[BM_MAX_DIMS_NUM] = {}, elements = 0;
};

// A launch's arguments, packed.
struct Block {
  std::vector<std::uint8_t> bytes;
  template <class T>
  void add(T value) {
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(&bytes[bytes.size() - sizeof(T)], &value, sizeof(T));
  }
};

// Why this is no shape of the output; empty: it is one.
std::string fault_of(const GivenShape& given, const bmodel::Tensor& output) {
  if (given.dims == 0)
    return fmt::format(
        "has given output \"{}\" no shape: firmware that does not know a list of layers ends without a word; it has to "
        "be "
        "of the file's own compiler",
        output.name);
  const std::string wrong = fmt::format("has given output \"{}\" a shape that it cannot have", output.name);
  if (given.dims < 0 || given.dims > BM_MAX_DIMS_NUM) return fmt::format("{}: {} dimensions", wrong, given.dims);
  std::uint64_t room = output.bytes * 8 / static_cast<std::uint64_t>(bmodel::bits_of(output.type));
  for (int i = 0; i < given.dims; ++i) {
    const std::int32_t extent = given.extents[i];
    if (extent < 0 || (extent > 0 && static_cast<std::uint64_t>(extent) > room))
      return fmt::format("{}: [{}] has more elements than its memory", wrong,
                         fmt::join(given.extents, given.extents + given.dims, ", "));
    if (extent > 0) room /= static_cast<std::uint64_t>(extent);
  }
  return {};
}

}  // namespace

// Outputs that parts without instructions write to the program's tensors at once: those that no static part reads
// afterwards.
bool Network::Stage::is_written_at_once(const std::string& output) const {
  return std::any_of(dynamic_parts.begin(), dynamic_parts.end(), [&](const Dynamic& part) {
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      if (part.outputs[i].name != output) continue;
      return part.groups_before == groups[0].size() || (part.host != nullptr && !part.host->read_later[i]);
    }
    return false;
  });
}

Result<void> Network::load_dynamic(MemorySource& source, const bmodel::Stage& stage, Walkers& walkers, Stage& loaded) {
  loaded.dynamic = stage.dynamic;
  loaded.context_address = stage.context_address;
  loaded.context_pieces = stage.context_pieces;
  loaded.coefficient_address = stage.coefficient_address;
  std::set<std::size_t> missing = stage.missing;
  const auto leave_out = [&](const bmodel::DynamicPart& part, const std::string& why) {
    missing.insert(part.position);
    loaded.left_out.push_back(why);
  };
  for (const bmodel::DynamicPart& part : stage.dynamic_parts) {
    if (part.host) {
      auto work = HostWork::of(part);
      if (!work) {
        leave_out(part, work.error().text);
        continue;
      }
      Stage::Dynamic& made = loaded.dynamic_parts.emplace_back();
      made.inputs = part.inputs;
      made.outputs = part.outputs;
      made.id = part.id;
      made.groups_before = part.groups_before;
      made.host = *std::move(work);
      continue;
    }
    if (part.gathers_rows) {
      Stage::Dynamic& made = loaded.dynamic_parts.emplace_back();
      made.inputs = part.inputs;
      made.outputs = part.outputs;
      made.id = part.id;
      made.groups_before = part.groups_before;
      made.gathers_rows = true;
      continue;
    }
    auto walker = walkers.find(part);
    if (!walker) {
      if (walker.error().kind != ErrorKind::kUnsupported) return walker.error();
      leave_out(part, walker.error().text);
      continue;
    }
    Stage::Dynamic& made = loaded.dynamic_parts.emplace_back();
    made.walker = *std::move(walker);
    made.inputs = part.inputs;
    made.outputs = part.outputs;
    made.id = part.id;
    made.groups_before = part.groups_before;
    made.list_bytes = static_cast<std::uint32_t>(part.list.size());
    std::vector<std::uint8_t> words(part.list.begin(), part.list.end());
    words.resize((words.size() + 3) / 4 * 4);
    if (made.walker->is_own) {
      made.list_copy.assign(part.list.begin(), part.list.end());
      auto layers = bmodel::read_layer_list(made.list_copy, part.inputs.size(), part.outputs.size());
      if (!layers) return layers.error();
      made.layers = *std::move(layers);
    }
    auto list = source.make(Use::kInstructions, words);
    if (!list) return list.error();
    made.list = *std::move(list);
    auto shapes = DeviceMemory::make(source.handle(), part.outputs.size() * sizeof(GivenShape));
    if (!shapes) return shapes.error();
    made.shapes = *std::move(shapes);
  }
  loaded.not_made = stage.not_made(missing);
  return {};
}

// What the chip's firmware does for this one layer: the processor reads the numbers, and DMA copies a row for each.
bm_status_t Network::gather_rows(bm_handle_t handle, const bmodel::Tensor& kind, const KnownTensor& table,
                                 const KnownTensor& indices, std::uint64_t to) const {
  const auto elements = [](const bm_shape_t& shape, int from) {
    std::uint64_t count = 1;
    for (int i = from; i < shape.num_dims; ++i) count *= static_cast<std::uint64_t>(shape.dims[i]);
    return count;
  };
  const std::uint64_t row = elements(table.shape, 1) * static_cast<unsigned>(bmodel::bits_of(kind.type)) / 8;
  std::vector<std::int32_t> numbers(elements(indices.shape, 0));
  if (bm_thread_sync(handle) != BM_SUCCESS) return BM_ERR_FAILURE;
  bm_device_mem_t memory = to_memory(indices.address, numbers.size() * sizeof(std::int32_t));
  if (!numbers.empty() && bm_memcpy_d2s(handle, numbers.data(), memory) != BM_SUCCESS) return BM_ERR_FAILURE;
  std::vector<msg::NetworkStep> steps;
  for (const std::int32_t number : numbers) {
    if (number < 0 || number >= table.shape.dims[0]) {
      bmlib_log("bmrt", BMLIB_LOG_ERROR, "network \"%s\": index %d of its gather is outside 0..%d.\n", name_.c_str(),
                number, table.shape.dims[0] - 1);
      return BM_ERR_PARAM;
    }
    steps.push_back(msg::NetworkCopy{to, table.address + static_cast<std::uint64_t>(number) * row, row});
    to += row;
  }
  return issue(handle, steps, true);
}

// Static parts run up to a dynamic one, whose tensors are then complete.
bm_status_t Network::launch_mixed(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                  bm_tensor_t* outputs) const {
  KnownTensors known;
  for (std::size_t i = 0; i < of.inputs.size(); ++i)
    known[of.inputs[i].name] = {bm_mem_get_device_addr(inputs[i].device_mem), inputs[i].shape, nullptr, {}};
  for (std::size_t i = 0; i < of.outputs.size(); ++i) {
    const bmodel::Tensor& tensor = of.outputs[i];
    const std::uint64_t at =
        of.is_written_at_once(tensor.name) ? bm_mem_get_device_addr(outputs[i].device_mem) : place(of, tensor.address);
    known[tensor.name] = {at, outputs[i].shape, &outputs[i], {}};
  }
  const std::size_t groups = of.groups[0].size();
  std::size_t done = 0;
  for (const Stage::Dynamic& part : of.dynamic_parts) {
    if (part.groups_before > done) {
      const auto steps = steps_of(of, inputs, outputs, {}, {}, done, part.groups_before);
      if (const bm_status_t status = issue(handle, steps, false); status != BM_SUCCESS) return status;
      done = part.groups_before;
    }
    const auto is_missing = [&](const bmodel::Tensor& tensor) { return of.not_made.contains(tensor.name); };
    if (std::any_of(part.inputs.begin(), part.inputs.end(), is_missing)) continue;
    if (const bm_status_t status = run_dynamic(handle, of, part, known); status != BM_SUCCESS) return status;
  }
  if (done == groups) return BM_SUCCESS;
  return issue(handle, steps_of(of, inputs, outputs, {}, {}, done, groups), false);
}

Network::KnownTensor& Network::known_tensor(const Stage& of, const bmodel::Tensor& tensor, KnownTensors& known) const {
  return known.try_emplace(tensor.name, KnownTensor{place(of, tensor.address), to_shape(tensor.shape), nullptr, {}})
      .first->second;
}

// Inputs are read where the program has them.
bm_status_t Network::run_dynamic(bm_handle_t handle, const Stage& of, const Stage::Dynamic& part,
                                 KnownTensors& known) const {
  const auto find = [&](const bmodel::Tensor& tensor) -> KnownTensor& { return known_tensor(of, tensor, known); };
  if (part.host != nullptr) return run_on_host(handle, of, part, known);
  if (part.gathers_rows) {
    KnownTensor& result = find(part.outputs[0]);
    result.shape = to_shape(part.outputs[0].shape);
    if (result.output != nullptr) result.output->shape = result.shape;
    return gather_rows(handle, part.inputs[0], find(part.inputs[0]), find(part.inputs[1]), result.address);
  }
  if (part.walker->is_own) {
    std::vector<bmodel::ShapedTensor> given;
    for (const bmodel::Tensor& tensor : part.inputs) {
      const bm_shape_t& shape = find(tensor).shape;
      given.push_back({static_cast<std::uint32_t>(tensor.type), {shape.dims, shape.dims + shape.num_dims}});
    }
    const auto faults = bmodel::faults_of(part.layers, given, bmodel::WhoseSizes::kOfLaunch);
    if (!faults.empty()) {
      refuse(fmt::format("network \"{}\"", name_).c_str(),
             fmt::format("with these shapes part {} cannot run: {}", part.id, faults[0]));
      return BM_ERR_PARAM;
    }
  }
  Block block;
  block.add(part.list.address());
  block.add((part.list_bytes + 3) / 4);
  block.add(static_cast<std::uint32_t>(part.inputs.size()));
  for (const bmodel::Tensor& tensor : part.inputs) {
    const KnownTensor& one = find(tensor);
    if (one.address == 0 && one.bytes != nullptr) {
      refuse(fmt::format("network \"{}\"", name_).c_str(),
             fmt::format("part {} takes \"{}\", which has no memory on the device", part.id, tensor.name));
      return BM_ERR_FAILURE;
    }
    block.add(one.address);
    block.add(static_cast<std::uint32_t>(one.shape.num_dims) | static_cast<std::uint32_t>(tensor.type) << 16);
    for (int k = 0; k < one.shape.num_dims; ++k) block.add(static_cast<std::uint32_t>(one.shape.dims[k]));
    block.add(std::uint32_t{0});
  }
  block.add(static_cast<std::uint32_t>(part.outputs.size()));
  for (const bmodel::Tensor& tensor : part.outputs) block.add(find(tensor).address);
  block.add(std::uint32_t{1});
  block.add(part.shapes.address());
  block.add(of.context_address);
  // The pieces of the context area lie one behind the other here, so that all move alike.
  const auto& pieces = of.context_pieces;
  const std::uint64_t moved = of.context == nullptr ? 0 : of.context->address() - of.context_address;
  block.add(static_cast<std::uint32_t>(std::max<std::size_t>(pieces.size(), 1)));
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : pieces) block.add(end += bytes);
  if (pieces.empty()) block.add(std::numeric_limits<std::uint64_t>::max());
  for (std::size_t i = 0; i < std::max<std::size_t>(pieces.size(), 1); ++i) block.add(pieces.empty() ? 0 : moved);
  block.add(of.constants == nullptr ? 0 : of.constants->address() - of.coefficient_address);
  block.add(std::uint64_t{0});
  block.add(std::uint64_t{0});
  block.add(part.list_bytes);
  std::vector<GivenShape> shapes(part.outputs.size());
  bm_device_mem_t memory = to_memory(part.shapes.address(), shapes.size() * sizeof(GivenShape));
  if (bm_memcpy_s2d(handle, memory, shapes.data()) != BM_SUCCESS) return BM_ERR_FAILURE;
  if (const bm_status_t status =
          tpu_kernel_launch(handle, part.walker->kernel(), block.bytes.data(), block.bytes.size());
      status != BM_SUCCESS)
    return status;
  if (bm_memcpy_d2s(handle, shapes.data(), memory) != BM_SUCCESS) return BM_ERR_FAILURE;
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    KnownTensor& one = find(part.outputs[i]);
    const std::string fault = fault_of(shapes[i], part.outputs[i]);
    if (!fault.empty()) {
      refuse(fmt::format("network \"{}\"", name_).c_str(), fmt::format("its dynamic part {} {}", part.id, fault));
      return BM_ERR_FAILURE;
    }
    one.shape.num_dims = shapes[i].dims;
    std::copy_n(std::begin(shapes[i].extents), shapes[i].dims, std::begin(one.shape.dims));
    if (one.output != nullptr) one.output->shape = one.shape;
  }
  return BM_SUCCESS;
}

}  // namespace softtpu::bmrt
