// Dynamic parts of compiled networks: a kernel that walks a part's list of layers with the shapes of this launch, over
// the functions that every kernel has. It takes the block of arguments that the chip's firmware takes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "firmware/dynamic/layers.hpp"
#include "firmware/dynamic/local_group.hpp"

namespace softtpu::dynamic {
namespace {

using bmodel::ListedLayer;
using bmodel::Operand;
using bmodel::OperandKind;

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

// ---- A launch ----

class Launch {
 public:
  void run(Arguments arguments) {
    RunningLayer::clear();
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
    tensors_.constants_moved = arguments.take<std::uint64_t>();
    arguments.take<std::uint64_t>();  // the area of inputs and outputs, which a dynamic part does not use
    arguments.take<std::uint64_t>();
    const auto list_bytes = arguments.take<std::uint32_t>();  // exact; softtpu's own
    // softtpu's runtime places them one behind the other, so that they move alike.
    const auto moves_otherwise = [this](const Piece& piece) { return piece.moved != pieces_[0].moved; };
    if (pieces_.empty() || std::any_of(pieces_.begin(), pieces_.end(), moves_otherwise))
      fail("pieces of a context area that move apart");
    if (list_bytes > list_words * sizeof(std::uint32_t)) fail("the list is longer than its words");

    tensors_.context_moved = pieces_[0].moved;
    tpu_initialize();
    const auto* bytes = static_cast<const std::uint8_t*>(tpu_global_mem_addr(list_at));
    // A copy: what the layers do to memory changes no list.
    const std::vector<std::uint8_t> copy(bytes, bytes + list_bytes);
    const auto list = bmodel::read_layer_list(copy, inputs.size(), outputs.size());
    if (!list) fail(list.error().text);
    for (std::size_t i = 0; i < inputs.size(); ++i) tensors_.known[list->inputs[i]] = inputs[i];
    for (std::size_t i = 0; i < outputs.size(); ++i) tensors_.results[list->outputs[i]] = outputs[i];
    for (const bmodel::ListedGroup& group : list->groups) {
      if (group.steps > 1) {
        run_local_group(group, tensors_);
      } else {
        for (const ListedLayer& layer : group.layers) carry_out_layer(layer);
      }
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

  // What the engines have written to device memory.
  static bmodel::Extents numbers_of(const Tensor& tensor) {
    constexpr std::uint32_t kFloat32 = 0;
    const std::int64_t count = elements_of(tensor.shape.extents);
    tpu_poll();
    tpu_invalidate_cache(tensor.address, static_cast<unsigned>(count * static_cast<std::int64_t>(sizeof(float))));
    const void* const at = tpu_global_mem_addr(tensor.address);
    bmodel::Extents numbers;
    for (std::int64_t i = 0; i < count; ++i) {
      if (tensor.shape.type == kFloat32) {
        const float value = static_cast<const float*>(at)[i];
        if (!(value >= 0 && value < 0x1p31F)) fail(fmt::format("{} is no extent", value));
        numbers.push_back(static_cast<std::int64_t>(value));
      } else {
        numbers.push_back(static_cast<const std::int32_t*>(at)[i]);
      }
    }
    return numbers;
  }

  void carry_out_layer(const ListedLayer& layer) {
    std::vector<Tensor> inputs;
    std::vector<ShapedTensor> shapes;
    for (const Operand& operand : layer.inputs) {
      if (operand.kind == OperandKind::kConstant) {
        inputs.push_back({operand.address + tensors_.constants_moved, {operand.type.value_or(0), operand.extents}});
      } else if (const auto found = tensors_.known.find(operand.id); found != tensors_.known.end()) {
        inputs.push_back(found->second);
      } else {
        fail(fmt::format("{} reads tensor {}, which nothing has made", bmodel::name_of_layer(layer.type), operand.id));
      }
      shapes.push_back(inputs.back().shape);
    }
    const auto results = bmodel::results_of(layer, shapes);
    if (!results) fail(bmodel::name_of_layer(layer.type) + ": " + results.error().text);
    if ((*results)[0].open) fail(bmodel::name_of_layer(layer.type) + ": a shape that nothing has computed");
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < results->size(); ++i) {
      const Operand& operand = layer.outputs[i];
      outputs.push_back({tensors_.place(operand.id, operand.address), (*results)[i]});
    }
    carry_out({layer, inputs, outputs, pieces_[0].moved});
    if (layer.type == bmodel::kTensorToShape) outputs[0].shape.values = numbers_of(inputs[0]);
    for (std::size_t i = 0; i < outputs.size(); ++i) tensors_.known[layer.outputs[i].id] = outputs[i];
  }

  void write_shapes(std::uint64_t address, const std::vector<std::uint32_t>& outputs) {
    constexpr std::size_t kWords = 10;  // dimensions, eight extents, elements
    auto* to = static_cast<std::int32_t*>(tpu_global_mem_addr(address));
    for (const std::uint32_t id : outputs) {
      const Extents& extents = tensors_.known.at(id).shape.extents;
      to[0] = static_cast<std::int32_t>(extents.size());
      for (std::size_t i = 0; i < extents.size() && i < 8; ++i) to[1 + i] = static_cast<std::int32_t>(extents[i]);
      to += kWords;
    }
    tpu_flush_cache(address, static_cast<unsigned>(outputs.size() * kWords * sizeof(std::int32_t)));
  }

  Tensors tensors_;
  std::vector<Piece> pieces_;
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
