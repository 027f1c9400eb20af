// The compiler's map of tensors (NetParameter.tensor_loc, or tensor_location.json beside the file): which instructions
// belong to which layer, and where each layer's results lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::bmodel {

// A result of a layer that lies in global memory.
struct LayerTensor {
  std::string name;
  std::string type;  // as in MLIR: "f32"
  std::vector<std::uint64_t> shape;
  std::uint64_t address = 0;  // as compiled
  std::string mlir;           // "tensor<1x3x!quant.uniform<i8:f32, 0.03:5>>", where the map has it
};

// A layer: the instructions behind number `before` up to `last` of each unit.
struct Layer {
  std::string name;        // of its first result
  std::string operation;   // "tpu.Conv2D"
  std::string type, mlir;  // of its first result, wherever that lies
  std::uint32_t part = 0;
  std::uint32_t tiu_before = 0, tiu_last = 0, dma_before = 0, dma_last = 0;
  std::vector<LayerTensor> results;
  std::vector<std::string> operands;  // their names

  std::string label() const;  // "conv1 (tpu.Conv2D)"
};

// An error says what the text is not. Members that are not known are left out.
Result<std::vector<Layer>> read_tensor_map(std::string_view json);

// Layers of one group of instructions as a launch hands them to the core, and back. What is damaged ends the list.
std::vector<std::uint8_t> pack_layers(std::span<const Layer> layers);
struct LayerRange {
  std::uint32_t tiu_before = 0, tiu_last = 0, dma_before = 0, dma_last = 0;
  std::string label;
  bool operator==(const LayerRange&) const = default;
};
std::vector<LayerRange> unpack_layers(std::span<const std::uint8_t> bytes);

}  // namespace softtpu::bmodel
