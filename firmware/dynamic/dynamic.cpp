// Dynamic parts of compiled networks: a kernel that walks a part's list of layers with the shapes of this launch, over
// the functions that every kernel has. It takes the block of arguments that the chip's firmware takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/bmodel/layer_list.hpp"
#include "tpu_kernel.h"

namespace softtpu::dynamic {
namespace {

using bmodel::Extents;
using bmodel::ListedLayer;
using bmodel::Operand;
using bmodel::OperandKind;
using bmodel::ShapedTensor;

// The host refuses a part that cannot run before it launches one; what comes here is a list that has changed since.
[[noreturn]] void fail(const std::string& text) {
  softtpu_kernel_assert_fail(("dynamic part: " + text).c_str(), __FILE__, __LINE__, __func__);
}

// The packed block of arguments, which ends with the list's length, so that a kernel needs no size of it.
class Arguments {
 public:
  explicit Arguments(const void* bytes) : bytes_(static_cast<const std::uint8_t*>(bytes)) {}
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, bytes_, sizeof(T));
    bytes_ += sizeof(T);
    return value;
  }

 private:
  const std::uint8_t* bytes_;
};

struct Tensor {
  system_addr_t address = 0;
  ShapedTensor shape;
};

data_type_t device_type(std::uint32_t type) {
  constexpr std::array kTypes{DT_FP32, DT_FP16, DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_UINT32, DT_BFP16};
  if (type >= kTypes.size()) fail(fmt::format("elements of type {}", type));
  return kTypes[type];
}

std::int64_t elements_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

std::vector<std::int64_t> packed_strides(const Extents& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

// A part of a tensor in device memory; strides count elements.
struct Region {
  system_addr_t address = 0;
  std::vector<std::int64_t> strides;
};

// Copies element by element. Dimensions that lie one behind the other on both sides are one; four of them are a
// command, and those in front of them a loop.
void copy_region(Region to, Region from, Extents extents, std::uint32_t type) {
  if (elements_of(extents) == 0) return;
  for (std::size_t i = extents.size(); i-- > 0;) {
    const bool joins = i + 1 < extents.size() && to.strides[i] == to.strides[i + 1] * extents[i + 1] &&
                       from.strides[i] == from.strides[i + 1] * extents[i + 1] && extents[i] * extents[i + 1] <= 65535;
    const bool single = extents[i] == 1 && extents.size() > 1;
    if (!joins && !single) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (joins) {
      extents[i + 1] *= extents[i];
    }
    extents.erase(extents.begin() + at);
    to.strides.erase(to.strides.begin() + at);
    from.strides.erase(from.strides.begin() + at);
  }
  while (extents.size() < 4) {
    extents.insert(extents.begin(), 1);
    to.strides.insert(to.strides.begin(), 0);
    from.strides.insert(from.strides.begin(), 0);
  }
  const std::int64_t bytes = tpu_data_type_size(device_type(type));
  const std::size_t outer = extents.size() - 4;
  const auto last = [&](const std::vector<std::int64_t>& all) {
    return dim4{static_cast<int>(all[outer]), static_cast<int>(all[outer + 1]), static_cast<int>(all[outer + 2]),
                static_cast<int>(all[outer + 3])};
  };
  constexpr std::int64_t kMostExtent = 65535;
  for (std::size_t i = outer; i < extents.size(); ++i) {
    if (extents[i] <= kMostExtent) continue;
    // A command has no larger extents: in two parts.
    for (std::int64_t done = 0; done < extents[i]; done += kMostExtent) {
      Extents some = extents;
      some[i] = std::min(kMostExtent, extents[i] - done);
      const auto moved = [&](const Region& region) {
        return Region{region.address + static_cast<system_addr_t>(done * region.strides[i] * bytes), region.strides};
      };
      copy_region(moved(to), moved(from), some, type);
    }
    return;
  }
  const dim4 shape = last(extents);
  const dim4 to_stride = last(to.strides);
  const dim4 from_stride = last(from.strides);
  std::vector<std::int64_t> index(outer, 0);
  while (true) {
    std::int64_t to_at = 0;
    std::int64_t from_at = 0;
    for (std::size_t i = 0; i < outer; ++i) {
      to_at += index[i] * to.strides[i];
      from_at += index[i] * from.strides[i];
    }
    tpu_gdma_cpy_S2S(to.address + static_cast<system_addr_t>(to_at * bytes),
                     from.address + static_cast<system_addr_t>(from_at * bytes), &shape, &to_stride, &from_stride,
                     device_type(type));
    std::size_t i = outer;
    while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

void copy_all(system_addr_t to, system_addr_t from, std::int64_t count, std::uint32_t type) {
  if (to != from && count > 0) tpu_gdma_system_cpy(to, from, static_cast<unsigned>(count), device_type(type));
}

// ---- Layers ----

struct LayerRun {
  const ListedLayer& layer;
  const std::vector<Tensor>& inputs;
  const std::vector<Tensor>& outputs;
  std::uint64_t context_moved;  // what is added to addresses in the context area
};

void concatenation(const LayerRun& run) {
  const auto axis = static_cast<std::size_t>(run.layer.word(1));
  const Tensor& to = run.outputs[0];
  const auto strides = packed_strides(to.shape.extents);
  std::int64_t begin = 0;
  for (const Tensor& from : run.inputs) {
    const std::int64_t bytes = tpu_data_type_size(device_type(from.shape.type));
    copy_region({to.address + static_cast<system_addr_t>(begin * strides[axis] * bytes), strides},
                {from.address, packed_strides(from.shape.extents)}, from.shape.extents, from.shape.type);
    begin += from.shape.extents[axis];
  }
}

void reshape(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  copy_all(run.outputs[0].address, from.address, elements_of(from.shape.extents), from.shape.type);
}

void transpose(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const auto strides = packed_strides(from.shape.extents);
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < strides.size(); ++i)
    order.push_back(strides[static_cast<std::size_t>(run.layer.word(2 + i))]);
  copy_region({to.address, packed_strides(to.shape.extents)}, {from.address, order}, to.shape.extents, from.shape.type);
}

void strided_slice(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const auto ranges = bmodel::slices_of(run.layer, from.shape.extents);
  if (!ranges) fail(ranges.error().text);
  auto strides = packed_strides(from.shape.extents);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    begin += (*ranges)[i].begin * strides[i];
    strides[i] *= (*ranges)[i].step;
  }
  const std::int64_t bytes = tpu_data_type_size(device_type(from.shape.type));
  copy_region({to.address, packed_strides(to.shape.extents)},
              {from.address + static_cast<system_addr_t>(begin * bytes), strides}, to.shape.extents, from.shape.type);
}

// Each row is sorted into the buffers that the compiler set aside, and what was found is copied to the results.
void top_k(const LayerRun& run) {
  const Tensor& from = run.inputs[0];
  const std::int64_t length = from.shape.extents.back();
  const std::int64_t k = run.layer.word(0);
  const std::int64_t rows = length == 0 ? 0 : elements_of(from.shape.extents) / length;
  const std::int64_t bytes = tpu_data_type_size(DT_FP32);
  const std::uint64_t values = run.layer.address(4) + run.context_moved;
  const std::uint64_t indices = run.layer.address(6) + run.context_moved;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<system_addr_t>(row * k * bytes);
    tpu_hau_sort_natural_index(values + at, indices + at,
                               from.address + static_cast<system_addr_t>(row * length * bytes),
                               static_cast<int>(length), static_cast<int>(k), run.layer.word(2) != 0, DT_FP32);
  }
  tpu_hau_poll();
  copy_all(run.outputs[0].address, values, rows * k, run.outputs[0].shape.type);
  copy_all(run.outputs[1].address, indices, rows * k, run.outputs[1].shape.type);
}

// Element by element: as many as fit a bank of each NPU at a time.
void conversion(const LayerRun& run) {
  constexpr local_addr_t kSource = 0, kResult = 0x8000;
  constexpr std::int64_t kWidth = 2048;
  const Tensor& from = run.inputs[0];
  const Tensor& to = run.outputs[0];
  const data_type_t source = device_type(from.shape.type);
  const data_type_t result = device_type(to.shape.type);
  const std::int64_t count = elements_of(from.shape.extents);
  const std::int64_t npus = tpu_npu_num();
  if (source == result) return copy_all(to.address, from.address, count, from.shape.type);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t rest = count - done;
    const std::int64_t width = std::min(kWidth, std::max<std::int64_t>(1, rest / npus));
    const dim4 shape{1, static_cast<int>(std::min(npus, rest / width)), 1, static_cast<int>(width)};
    const auto at = [&](const Tensor& tensor, data_type_t type) {
      return tensor.address + static_cast<system_addr_t>(done * tpu_data_type_size(type));
    };
    tpu_gdma_cpy_S2L(kSource, at(from, source), &shape, nullptr, nullptr, source);
    tpu_bdc_cast(kResult, kSource, &shape, nullptr, nullptr, result, source,
                 static_cast<rounding_mode_t>(run.layer.word(2)));
    tpu_gdma_cpy_L2S(at(to, result), kResult, &shape, nullptr, nullptr, result);
    done += std::int64_t{shape.c} * shape.w;
  }
}

void carry_out(const LayerRun& run) {
  switch (run.layer.type) {
    case 7: return concatenation(run);
    case 18: return reshape(run);
    case 49: return transpose(run);
    case 51: return strided_slice(run);
    case 57: return top_k(run);
    case 74: return conversion(run);
    default: fail(bmodel::name_of_layer(run.layer.type) + " is not carried out");
  }
}

// ---- A launch ----

class Launch {
 public:
  void run(Arguments arguments) {
    const auto list_at = arguments.take<std::uint64_t>();
    const auto list_words = arguments.take<std::uint32_t>();
    const auto inputs = read_inputs(arguments);
    std::vector<system_addr_t> outputs(counted(arguments));
    for (system_addr_t& output : outputs) output = arguments.take<std::uint64_t>();
    const bool shapes_wanted = arguments.take<std::uint32_t>() != 0;
    const auto shapes_at = arguments.take<std::uint64_t>();
    arguments.take<std::uint64_t>();  // where the context area was compiled to lie
    pieces_.resize(counted(arguments));
    for (Piece& piece : pieces_) piece.end = arguments.take<std::uint64_t>();
    for (Piece& piece : pieces_) piece.moved = arguments.take<std::uint64_t>();
    constants_moved_ = arguments.take<std::uint64_t>();
    arguments.take<std::uint64_t>();  // the area of inputs and outputs, which a dynamic part does not use
    arguments.take<std::uint64_t>();
    const auto list_bytes = arguments.take<std::uint32_t>();  // exact; softtpu's own
    if (pieces_.size() != 1) fail("a context area in several pieces");
    if (list_bytes > list_words * sizeof(std::uint32_t)) fail("the list is longer than its words");

    tpu_initialize();
    const auto* bytes = static_cast<const std::uint8_t*>(tpu_global_mem_addr(list_at));
    // A copy: what the layers do to memory changes no list.
    const std::vector<std::uint8_t> copy(bytes, bytes + list_bytes);
    const auto list = bmodel::read_layer_list(copy, inputs.size(), outputs.size());
    if (!list) fail(list.error().text);
    for (std::size_t i = 0; i < inputs.size(); ++i) known_[list->inputs[i]] = inputs[i];
    for (std::size_t i = 0; i < outputs.size(); ++i) results_[list->outputs[i]] = outputs[i];
    for (const bmodel::ListedGroup& group : list->groups) {
      for (const ListedLayer& layer : group.layers) carry_out_layer(layer);
    }
    tpu_poll();
    if (shapes_wanted) write_shapes(shapes_at, list->outputs);
  }

 private:
  struct Piece {
    std::uint64_t end = 0, moved = 0;
  };

  static std::uint32_t counted(Arguments& arguments) {
    constexpr std::uint32_t kMost = 128;  // more fit no launch
    const auto count = arguments.take<std::uint32_t>();
    if (count > kMost) fail(fmt::format("{} entries in the arguments", count));
    return count;
  }

  static std::vector<Tensor> read_inputs(Arguments& arguments) {
    std::vector<Tensor> inputs(counted(arguments));
    for (Tensor& input : inputs) {
      input.address = arguments.take<std::uint64_t>();
      const auto head = arguments.take<std::uint32_t>();
      input.shape.type = (head >> 16) & 0xff;
      for (std::uint32_t i = 0; i < (head & 0xffff); ++i) input.shape.extents.push_back(arguments.take<std::int32_t>());
      arguments.take<std::uint32_t>();  // the number of elements, which is not used
    }
    return inputs;
  }

  void carry_out_layer(const ListedLayer& layer) {
    std::vector<Tensor> inputs;
    std::vector<ShapedTensor> shapes;
    for (const Operand& operand : layer.inputs) {
      if (operand.kind == OperandKind::kConstant) {
        inputs.push_back({operand.address + constants_moved_, {operand.type.value_or(0), operand.extents}});
      } else if (const auto found = known_.find(operand.id); found != known_.end()) {
        inputs.push_back(found->second);
      } else {
        fail(fmt::format("{} reads tensor {}, which nothing has made", bmodel::name_of_layer(layer.type), operand.id));
      }
      shapes.push_back(inputs.back().shape);
    }
    const auto results = bmodel::results_of(layer, shapes);
    if (!results) fail(bmodel::name_of_layer(layer.type) + ": " + results.error().text);
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < results->size(); ++i) {
      const Operand& operand = layer.outputs[i];
      const auto found = results_.find(operand.id);
      const system_addr_t at = found != results_.end() ? found->second : operand.address + pieces_[0].moved;
      outputs.push_back({at, (*results)[i]});
    }
    carry_out({layer, inputs, outputs, pieces_[0].moved});
    for (std::size_t i = 0; i < outputs.size(); ++i) known_[layer.outputs[i].id] = outputs[i];
  }

  void write_shapes(std::uint64_t address, const std::vector<std::uint32_t>& outputs) {
    constexpr std::size_t kWords = 10;  // dimensions, eight extents, elements
    auto* to = static_cast<std::int32_t*>(tpu_global_mem_addr(address));
    for (const std::uint32_t id : outputs) {
      const Extents& extents = known_.at(id).shape.extents;
      to[0] = static_cast<std::int32_t>(extents.size());
      for (std::size_t i = 0; i < extents.size() && i < 8; ++i) to[1 + i] = static_cast<std::int32_t>(extents[i]);
      to += kWords;
    }
    tpu_flush_cache(address, static_cast<unsigned>(outputs.size() * kWords * sizeof(std::int32_t)));
  }

  std::map<std::uint32_t, Tensor> known_;
  std::map<std::uint32_t, system_addr_t> results_;  // where the outputs go
  std::vector<Piece> pieces_;
  std::uint64_t constants_moved_ = 0;
};

}  // namespace
}  // namespace softtpu::dynamic

// The name of the firmware's kernel, so that the one may stand for the other.
extern "C" {
void sg_api_dynamic_fullnet(const void* arguments);
void sg_api_dynamic_fullnet(const void* arguments) {
  softtpu::dynamic::Launch().run(softtpu::dynamic::Arguments(arguments));
}
TPUKERNEL_FUNC_REGISTER(sg_api_dynamic_fullnet)
}
