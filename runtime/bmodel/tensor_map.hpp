// The compiler's map of tensors (NetParameter.tensor_loc, or tensor_location.json beside the file): which instructions
// belong to which layer, and where each layer's results lie.
#pragma once

#include <array>
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

// A part of a layer's result that lies in local memory until the layers behind it have read it: extents are those of N,
// C, D, H and W.
struct LocalPart {
  std::string name, type;
  std::vector<std::uint64_t> shape;  // of the whole result
  std::array<std::uint32_t, 5> whole{}, begin{}, end{};
  std::uint32_t address = 0;
  bool aligned = false;  // channels begin at EUs; else one behind the other
};

// A layer: the instructions behind number `before` up to `last` of each unit.
struct Layer {
  std::string name;        // of its first result
  std::string operation;   // "tpu.Conv2D"
  std::string type, mlir;  // of its first result, wherever that lies
  std::uint32_t part = 0;
  std::uint32_t tiu_before = 0, tiu_last = 0, dma_before = 0, dma_last = 0;
  std::uint32_t core = 0;
  std::vector<LayerTensor> results;
  std::vector<LocalPart> local_results;
  std::vector<std::string> operands;  // their names

  std::string label() const;  // "conv1 (tpu.Conv2D)"
};

// An error says what the text is not. Members that are not known are left out.
Result<std::vector<Layer>> read_tensor_map(std::string_view json);

// Copies a part from local memory as soon as both instructions are complete; 0: none of that unit.
struct LocalStore {
  std::uint32_t tiu = 0, dma = 0;
  std::uint32_t address = 0, aligned = 0, element_bytes = 0;
  std::uint32_t n = 0, c = 0, h = 0, w = 0;
  std::uint32_t to_low = 0, to_high = 0;  // where in global memory
  std::uint64_t to() const { return to_low | std::uint64_t{to_high} << 32; }
};

// Copies a result in global memory: all of it as soon as both instructions are complete, or (`written`) what the DMA
// instructions behind `dma_before` up to `dma` write of it, behind each of them.
struct GlobalStore {
  std::uint32_t tiu = 0, dma = 0;
  std::uint32_t dma_before = 0, written = 0;
  std::uint64_t from = 0, to = 0, bytes = 0;
};

struct Stores {
  std::vector<LocalStore> local;
  std::vector<GlobalStore> global;
  bool empty() const { return local.empty() && global.empty(); }
};

// Layers of one group of instructions as a launch hands them to the core, and back, with what of their results is to be
// stored. What is damaged ends the list.
std::vector<std::uint8_t> pack_layers(std::span<const Layer> layers, const Stores& stores = {});
struct LayerRange {
  std::uint32_t tiu_before = 0, tiu_last = 0, dma_before = 0, dma_last = 0;
  std::string label;
  bool operator==(const LayerRange&) const = default;
};
std::vector<LayerRange> unpack_layers(std::span<const std::uint8_t> bytes);
Stores unpack_stores(std::span<const std::uint8_t> bytes);

// What the compiler has written beside the file at `path`: NET/tensor_location.json, NET.bmodel.json, and beside
// compilation.bmodel tensor_location.json. Empty: there is none that can be read.
std::string read_map_beside(const std::string& path);

}  // namespace softtpu::bmodel
