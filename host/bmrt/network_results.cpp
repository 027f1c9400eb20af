// A launch that shows what each tensor was after its last write: outputs, what lies between layers, and results that
// only local memory holds.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "host/bmrt/network.hpp"

namespace softtpu::bmrt {

// A result of a layer with what is stored of it: parts in local memory, or what instructions write to global memory.
struct MadeResult {
  struct Part {
    std::size_t core = 0, group = 0;
    const bmodel::Layer* layer = nullptr;
    const bmodel::LocalPart* part = nullptr;  // null: in global memory
    std::uint64_t at = 0, bytes = 0;          // in the memory for all parts
  };
  bmodel::Tensor tensor;
  std::uint64_t element_bytes = 0;
  std::vector<Part> parts;
  bool is_local() const { return parts[0].part != nullptr; }

  // Gives the parts their places from `at` on; where they end. Those in global memory have the same place.
  std::uint64_t place(std::uint64_t at) {
    const std::uint64_t first = at;
    for (Part& part : parts) {
      part.at = is_local() ? at : first;
      at = part.at + (part.bytes + 3) / 4 * 4;
    }
    return at;
  }
};

namespace {

bmodel::LocalStore to_store(const MadeResult::Part& of, std::uint64_t element_bytes, std::uint64_t memory) {
  const bmodel::Layer& layer = *of.layer;
  const bmodel::LocalPart& part = *of.part;
  const auto extent = [&](std::size_t i) { return part.end[i] - part.begin[i]; };
  bmodel::LocalStore store;
  store.tiu = layer.tiu_last > layer.tiu_before ? layer.tiu_last : 0;
  store.dma = layer.dma_last > layer.dma_before ? layer.dma_last : 0;
  store.address = part.address;
  store.aligned = part.aligned ? 1 : 0;
  store.element_bytes = static_cast<std::uint32_t>(element_bytes);
  store.n = extent(0);
  store.c = extent(1);
  store.h = extent(3);
  store.w = extent(4);
  store.to_low = static_cast<std::uint32_t>(memory + of.at);
  store.to_high = static_cast<std::uint32_t>((memory + of.at) >> 32);
  return store;
}

// Of a network on several cores each copies what it has written itself: when the others are through is not known to it.
bmodel::GlobalStore to_store(const MadeResult::Part& of, std::uint64_t from, std::uint64_t memory, bool several_cores) {
  const bmodel::Layer& layer = *of.layer;
  return {layer.tiu_last, layer.dma_last, layer.dma_before, several_cores ? 1U : 0U, from, memory + of.at, of.bytes};
}

// Puts the parts together. False: something of the result is in none.
bool join(const MadeResult& result, std::span<const std::uint8_t> memory, std::vector<std::uint8_t>& bytes) {
  const std::uint64_t size = result.element_bytes;
  bytes.assign(result.tensor.bytes, 0);
  std::vector<bool> there(bytes.size() / size);
  for (const MadeResult::Part& of : result.parts) {
    const bmodel::LocalPart& part = *of.part;
    const std::uint8_t* from = memory.data() + of.at;
    const std::uint64_t width = part.end[4] - part.begin[4];
    for (std::uint64_t n = part.begin[0]; n < part.end[0]; ++n) {
      for (std::uint64_t c = part.begin[1]; c < part.end[1]; ++c) {
        for (std::uint64_t h = part.begin[3]; h < part.end[3]; ++h, from += width * size) {
          const std::uint64_t at = ((n * part.whole[1] + c) * part.whole[3] + h) * part.whole[4] + part.begin[4];
          if (at + width > there.size()) return false;
          std::memcpy(bytes.data() + at * size, from, width * size);
          std::fill_n(there.begin() + static_cast<std::ptrdiff_t>(at), width, true);
        }
      }
    }
  }
  return std::find(there.begin(), there.end(), false) == there.end();
}

// Layers of each group of each core.
using Layers = std::vector<std::vector<std::vector<bmodel::Layer>>>;

// visit(core, group, layer)
template <class Visit>
void each_layer(const Layers& cores, Visit visit) {
  for (std::size_t core = 0; core < cores.size(); ++core) {
    for (std::size_t group = 0; group < cores[core].size(); ++group) {
      for (const bmodel::Layer& layer : cores[core][group]) visit(core, group, layer);
    }
  }
}

// Those of `tensors` that layers make in global memory.
std::vector<MadeResult> find_global_results(const Layers& layers, const std::vector<bmodel::Tensor>& tensors) {
  std::vector<MadeResult> found;
  for (const bmodel::Tensor& tensor : tensors) {
    MadeResult result{tensor, 0, {}};
    each_layer(layers, [&](std::size_t core, std::size_t group, const bmodel::Layer& layer) {
      const bool makes = std::any_of(layer.results.begin(), layer.results.end(), [&](const bmodel::LayerTensor& one) {
        return one.name == tensor.name && one.address == tensor.address;
      });
      if (makes && tensor.bytes != 0) result.parts.push_back({core, group, &layer, nullptr, 0, tensor.bytes});
    });
    // One core has the whole with the last of its layers.
    if (layers.size() == 1 && result.parts.size() > 1) result.parts.erase(result.parts.begin(), result.parts.end() - 1);
    if (!result.parts.empty()) found.push_back(std::move(result));
  }
  return found;
}

std::vector<MadeResult> find_local_results(const Layers& layers, const std::vector<std::string>& known) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;  // of one result
  std::vector<MadeResult> found;
  const auto add = [&](std::size_t core, std::size_t group, const bmodel::Layer& layer, const bmodel::LocalPart& part) {
    const auto type = bmodel::type_named(part.type);
    if (!type || bmodel::bits_of(*type) % 8 != 0 || std::find(known.begin(), known.end(), part.name) != known.end())
      return;
    auto result =
        std::find_if(found.begin(), found.end(), [&](const MadeResult& one) { return one.tensor.name == part.name; });
    if (result == found.end()) {
      const auto size = static_cast<std::uint64_t>(bmodel::bits_of(*type) / 8);
      std::uint64_t bytes = size;
      for (const std::uint64_t extent : part.shape) bytes *= extent;  // at most 2^40 elements
      bmodel::Tensor tensor{part.name, *type, part.shape, 0, bytes, 1, 0, {}};
      if (bytes > kMostBytes || !check_tensor(tensor)) return;
      found.push_back({std::move(tensor), size, {}});
      result = std::prev(found.end());
    }
    std::uint64_t bytes = result->element_bytes;
    for (std::size_t i = 0; i < part.whole.size(); ++i) bytes *= part.end[i] - part.begin[i];
    result->parts.push_back({core, group, &layer, &part, 0, bytes});
  };
  each_layer(layers, [&](std::size_t core, std::size_t group, const bmodel::Layer& layer) {
    for (const bmodel::LocalPart& part : layer.local_results) add(core, group, layer, part);
  });
  return found;
}

}  // namespace

bm_status_t Network::launch_and_show(bm_handle_t handle, std::size_t stage, const bm_tensor_t* inputs,
                                     bm_tensor_t* outputs, const Show& show_one) {
  const Stage& of = stages_[stage];
  const Show show = [&](const bmodel::Tensor& tensor, const std::vector<std::uint8_t>& bytes) {
    if (!of.not_made.contains(tensor.name)) show_one(tensor, bytes);
  };
  if (!bring_constants(of)) return BM_ERR_FAILURE;
  if (!of.dynamic_parts.empty()) {
    if (const bm_status_t status = launch(handle, stage, inputs, outputs); status != BM_SUCCESS) return status;
    for (std::size_t i = 0; i < of.outputs.size(); ++i) {
      bmodel::Tensor tensor = of.outputs[i];
      tensor.shape.assign(outputs[i].shape.dims, outputs[i].shape.dims + outputs[i].shape.num_dims);
      std::vector<std::uint8_t> bytes(bmrt_tensor_bytesize(&outputs[i]));
      if (bm_memcpy_d2s_partial(handle, bytes.data(), outputs[i].device_mem, static_cast<unsigned>(bytes.size())) !=
          BM_SUCCESS)
        return BM_ERR_FAILURE;
      show(tensor, bytes);
    }
    return BM_SUCCESS;
  }
  if (of.cores > 1) {
    const auto show_all = [&](const std::vector<bmodel::Tensor>& tensors, const bm_tensor_t* memories) {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        std::vector<std::uint8_t> bytes(tensors[i].bytes);
        if (bm_memcpy_d2s_partial(handle, bytes.data(), memories[i].device_mem, static_cast<unsigned>(bytes.size())) !=
            BM_SUCCESS)
          return false;
        show(tensors[i], bytes);
      }
      return true;
    };
    if (!show_all(of.inputs, inputs)) return BM_ERR_FAILURE;
    {
      const std::lock_guard lock(launching_);
      if (const bm_status_t status = issue_on_cores(handle, of, inputs, outputs, {}, true); status != BM_SUCCESS)
        return status;
    }
    if (!show_all(of.outputs, outputs)) return BM_ERR_FAILURE;
    return show_results(handle, of, inputs, outputs, show);
  }
  const std::vector<MadeResult> made = find_global_results(of.layers, of.between);
  const auto is_made = [&](const bmodel::Tensor& tensor) {
    return std::any_of(made.begin(), made.end(), [&](const MadeResult& one) { return one.tensor.name == tensor.name; });
  };
  std::vector<const bmodel::Tensor*> tensors;
  for (const auto* list : {&of.inputs, &of.between, &of.outputs}) {
    for (const bmodel::Tensor& tensor : *list) {
      if (place(of, tensor.address) != 0 && tensor.bytes != 0 && (list != &of.between || !is_made(tensor)))
        tensors.push_back(&tensor);
    }
  }
  // A launch keeps a few; more are several launches with the same inputs.
  constexpr std::size_t kMostKept = 16;
  for (std::size_t first = 0; first == 0 || first < tensors.size(); first += kMostKept) {
    const std::span some(tensors.data() + first, std::min(kMostKept, tensors.size() - first));
    if (const bm_status_t status = launch_and_show(handle, of, inputs, outputs, some, show); status != BM_SUCCESS)
      return status;
  }
  return show_results(handle, of, inputs, outputs, show);
}

// Results of layers, whose memory the layers behind them may use again: each is stored when the instructions of its
// layer are complete.
bm_status_t Network::show_results(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                  const bm_tensor_t* outputs, const Show& show) {
  std::vector<std::string> known;
  for (const auto* list : {&of.inputs, &of.between, &of.outputs}) {
    for (const bmodel::Tensor& tensor : *list) known.push_back(tensor.name);
  }
  std::vector<MadeResult> results = find_global_results(of.layers, of.between);
  std::erase_if(results, [&](const MadeResult& one) { return place(of, one.tensor.address) == 0; });
  std::vector<MadeResult> local = find_local_results(of.layers, known);
  std::move(local.begin(), local.end(), std::back_inserter(results));
  // As many in a launch as fit this memory; one at least.
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  for (std::size_t first = 0; first < results.size();) {
    std::uint64_t bytes = results[first].place(0);
    std::size_t end = first + 1;
    for (; end < results.size(); ++end) {
      const std::uint64_t behind = results[end].place(bytes);
      if (behind > kMostBytes) break;
      bytes = behind;
    }
    const std::span<const MadeResult> some(results.data() + first, end - first);
    std::vector<std::uint8_t> stored;
    if (const bm_status_t status =
            store_results(handle, of, inputs, outputs, some, std::vector<std::uint8_t>(bytes), stored);
        status != BM_SUCCESS)
      return status;
    // What no instruction writes holds what it held before: of several cores it is not known whether they write all.
    std::vector<std::uint8_t> again = stored;
    const auto is_global = [](const MadeResult& one) { return !one.is_local(); };
    if (of.cores > 1 && std::any_of(some.begin(), some.end(), is_global)) {
      if (const bm_status_t status =
              store_results(handle, of, inputs, outputs, some, std::vector<std::uint8_t>(bytes, 0xFF), again);
          status != BM_SUCCESS)
        return status;
    }
    for (const MadeResult& result : some) {
      const auto at = static_cast<std::ptrdiff_t>(result.parts[0].at),
                 size = static_cast<std::ptrdiff_t>(result.tensor.bytes);
      std::vector<std::uint8_t> whole;
      if (result.is_local()) {
        if (!join(result, stored, whole)) continue;
      } else {
        whole.assign(stored.begin() + at, stored.begin() + at + size);
        if (!std::equal(whole.begin(), whole.end(), again.begin() + at)) continue;
      }
      show(result.tensor, whole);
    }
    first = end;
  }
  return BM_SUCCESS;
}

// One launch, with memory for what is stored that holds `before`.
bm_status_t Network::store_results(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                   const bm_tensor_t* outputs, std::span<const MadeResult> results,
                                   const std::vector<std::uint8_t>& before, std::vector<std::uint8_t>& stored) {
  const auto memory = DeviceMemory::make(handle, before);
  if (!memory) return BM_ERR_NOMEM;
  std::vector<std::vector<bmodel::Stores>> stores;
  for (const auto& groups : of.layers) stores.emplace_back(groups.size());
  for (const MadeResult& result : results) {
    for (const MadeResult::Part& part : result.parts) {
      bmodel::Stores& to = stores[part.core][part.group];
      if (result.is_local()) {
        to.local.push_back(to_store(part, result.element_bytes, memory->address()));
      } else {
        to.global.push_back(to_store(part, place(of, result.tensor.address), memory->address(), of.cores > 1));
      }
    }
  }
  std::vector<DeviceMemory> kept;
  std::vector<Tables> tables;
  for (std::size_t core = 0; core < of.layers.size(); ++core) {
    tables.emplace_back();
    for (std::size_t group = 0; group < of.layers[core].size(); ++group) {
      const auto table = bmodel::pack_layers(of.layers[core][group], stores[core][group]);
      tables[core].emplace_back();
      if (table.empty()) continue;
      auto there = DeviceMemory::make(handle, table);
      if (!there) return BM_ERR_NOMEM;
      tables[core].back() = {there->address(), table.size()};
      kept.push_back(*std::move(there));
    }
  }
  {
    const std::lock_guard lock(launching_);
    const bm_status_t status = of.cores > 1 ? issue_on_cores(handle, of, inputs, outputs, {}, true, tables)
                                            : issue(handle, steps_of(of, inputs, outputs, {}, tables[0]), true);
    if (status != BM_SUCCESS) return status;
  }
  auto bytes = memory->read();
  if (!bytes) return BM_ERR_FAILURE;
  stored = *std::move(bytes);
  return BM_SUCCESS;
}

bm_status_t Network::launch_and_show(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                     const bm_tensor_t* outputs, std::span<const bmodel::Tensor* const> tensors,
                                     const Show& show) {
  std::vector<msg::NetworkCopy> keeps;
  std::vector<DeviceMemory> kept;
  for (const bmodel::Tensor* tensor : tensors) {
    auto memory = DeviceMemory::make(handle, tensor->bytes);
    if (!memory) return BM_ERR_NOMEM;
    keeps.push_back({memory->address(), place(of, tensor->address), tensor->bytes});
    kept.push_back(*std::move(memory));
  }
  {
    const std::lock_guard lock(launching_);
    if (const bm_status_t status = issue(handle, steps_of(of, inputs, outputs, keeps), true); status != BM_SUCCESS)
      return status;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto bytes = kept[i].read();
    if (!bytes) return BM_ERR_FAILURE;
    show(*tensors[i], *bytes);
  }
  return BM_SUCCESS;
}

}  // namespace softtpu::bmrt
