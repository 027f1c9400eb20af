// A launch that shows what each tensor was after its last write: outputs, what lies between layers, and results that
// only local memory holds.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "host/bmrt/network.hpp"

namespace softtpu::bmrt {
namespace {

// A result of a layer in local memory, with the parts that are stored of it.
struct LocalResult {
  struct Part {
    std::size_t group = 0;
    const bmodel::Layer* layer = nullptr;
    const bmodel::LocalPart* part = nullptr;
    std::uint64_t at = 0, bytes = 0;  // in the memory for all parts
  };
  bmodel::Tensor tensor;
  std::uint64_t element_bytes = 0;
  std::vector<Part> parts;

  std::uint64_t stored_bytes() const {
    std::uint64_t bytes = 0;
    for (const Part& part : parts) bytes += part.bytes;
    return bytes;
  }
};

bmodel::LocalStore to_store(const LocalResult::Part& of, std::uint64_t element_bytes, std::uint64_t memory) {
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

// Puts the parts together. False: something of the result is in none.
bool join(const LocalResult& result, std::span<const std::uint8_t> memory, std::vector<std::uint8_t>& bytes) {
  const std::uint64_t size = result.element_bytes;
  bytes.assign(result.tensor.bytes, 0);
  std::vector<bool> there(bytes.size() / size);
  for (const LocalResult::Part& of : result.parts) {
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

std::vector<LocalResult> find_local_results(std::span<const std::vector<bmodel::Layer>> groups,
                                            std::vector<std::string> known) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;  // of one result
  std::vector<LocalResult> found;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const bmodel::Layer& layer : groups[group]) {
      for (const bmodel::LocalPart& part : layer.local_results) {
        const auto type = bmodel::type_named(part.type);
        if (!type || bmodel::bits_of(*type) % 8 != 0 || std::find(known.begin(), known.end(), part.name) != known.end())
          continue;
        auto result = std::find_if(found.begin(), found.end(),
                                   [&](const LocalResult& one) { return one.tensor.name == part.name; });
        if (result == found.end()) {
          const auto size = static_cast<std::uint64_t>(bmodel::bits_of(*type) / 8);
          std::uint64_t bytes = size;
          for (const std::uint64_t extent : part.shape) bytes *= extent;  // at most 2^40 elements
          bmodel::Tensor tensor{part.name, *type, part.shape, 0, bytes, 1, 0, {}};
          if (bytes > kMostBytes || !check_tensor(tensor)) continue;
          found.push_back({std::move(tensor), size, {}});
          result = std::prev(found.end());
        }
        std::uint64_t bytes = result->element_bytes;
        for (std::size_t i = 0; i < part.whole.size(); ++i) bytes *= part.end[i] - part.begin[i];
        result->parts.push_back({group, &layer, &part, 0, bytes});
      }
    }
  }
  return found;
}

}  // namespace

bm_status_t Network::launch_and_show(bm_handle_t handle, std::size_t stage, const bm_tensor_t* inputs,
                                     bm_tensor_t* outputs, const Show& show) {
  const Stage& of = stages_[stage];
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
    // What lies between layers is complete at a moment that the streams of several cores do not tell.
    const std::lock_guard lock(launching_);
    if (const bm_status_t status = issue_on_cores(handle, of, inputs, outputs, {}, true); status != BM_SUCCESS)
      return status;
    for (std::size_t i = 0; i < of.outputs.size(); ++i) {
      std::vector<std::uint8_t> bytes(of.outputs[i].bytes);
      bm_device_mem_t memory = outputs[i].device_mem;
      if (bm_memcpy_d2s_partial(handle, bytes.data(), memory, static_cast<unsigned>(bytes.size())) != BM_SUCCESS)
        return BM_ERR_FAILURE;
      show(of.outputs[i], bytes);
    }
    return BM_SUCCESS;
  }
  std::vector<const bmodel::Tensor*> tensors;
  for (const auto* list : {&of.inputs, &of.between, &of.outputs}) {
    for (const bmodel::Tensor& tensor : *list) {
      if (place(of, tensor.address) != 0 && tensor.bytes != 0) tensors.push_back(&tensor);
    }
  }
  // A launch keeps a few; more are several launches with the same inputs.
  constexpr std::size_t kMostKept = 16;
  for (std::size_t first = 0; first == 0 || first < tensors.size(); first += kMostKept) {
    const std::span some(tensors.data() + first, std::min(kMostKept, tensors.size() - first));
    if (const bm_status_t status = launch_and_show(handle, of, inputs, outputs, some, show); status != BM_SUCCESS)
      return status;
  }
  return show_local(handle, of, inputs, outputs, show);
}

// Results that lie in local memory until the layers behind them have read them: each part is stored when the
// instructions of its layer are complete.
bm_status_t Network::show_local(bm_handle_t handle, const Stage& of, const bm_tensor_t* inputs,
                                const bm_tensor_t* outputs, const Show& show) {
  std::vector<std::string> known;
  for (const auto* list : {&of.inputs, &of.between, &of.outputs}) {
    for (const bmodel::Tensor& tensor : *list) known.push_back(tensor.name);
  }
  std::vector<LocalResult> results = find_local_results(of.layers, std::move(known));
  // As many in a launch as fit this memory; one at least.
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  for (std::size_t first = 0; first < results.size();) {
    std::uint64_t bytes = 0;
    std::size_t end = first;
    for (; end < results.size() && (end == first || bytes + results[end].stored_bytes() <= kMostBytes); ++end) {
      for (LocalResult::Part& part : results[end].parts) {
        part.at = bytes;
        bytes += (part.bytes + 3) / 4 * 4;
      }
    }
    const auto memory = DeviceMemory::make(handle, bytes);
    if (!memory) return BM_ERR_NOMEM;
    std::vector<std::vector<bmodel::LocalStore>> stores(of.layers.size());
    for (std::size_t i = first; i < end; ++i) {
      for (const LocalResult::Part& part : results[i].parts)
        stores[part.group].push_back(to_store(part, results[i].element_bytes, memory->address()));
    }
    std::vector<DeviceMemory> kept;
    std::vector<msg::MemoryRange> tables;
    for (std::size_t group = 0; group < of.layers.size(); ++group) {
      const auto table = bmodel::pack_layers(of.layers[group], stores[group]);
      tables.emplace_back();
      if (table.empty()) continue;
      auto there = DeviceMemory::make(handle, table);
      if (!there) return BM_ERR_NOMEM;
      tables.back() = {there->address(), table.size()};
      kept.push_back(*std::move(there));
    }
    {
      const std::lock_guard lock(launching_);
      if (const bm_status_t status = issue(handle, steps_of(of, inputs, outputs, {}, tables), true);
          status != BM_SUCCESS)
        return status;
    }
    const auto stored = memory->read();
    if (!stored) return BM_ERR_FAILURE;
    for (; first < end; ++first) {
      std::vector<std::uint8_t> whole;
      if (join(results[first], *stored, whole)) show(results[first].tensor, whole);
    }
  }
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
