// A .bmodel file: what a compiled network holds, as plain values. Every offset and size of the file is checked before
// it is used; parts are views into the file's bytes, which must stay.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/bmodel/tensor_map.hpp"

namespace softtpu::bmodel {

using Bytes = std::span<const std::uint8_t>;

// Element types with the codes of the file (and of bm_data_type_t).
enum class DataType : std::uint8_t {
  kFloat32,
  kFloat16,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kBfloat16,
  kInt4,
  kUint4,
};
inline constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 40;  // of one tensor; more than any chip's memory
// Bits of one element; "f32" ...
int bits_of(DataType type);
std::string_view to_text(DataType type);
// By the name in a map of tensors, "si8"; nullopt: none of these.
std::optional<DataType> type_named(const std::string& mlir);

// An input, an output, or a tensor between two parts of a network. The network reads an input as
// round(value * scale + zero_point), and an output stands for (value - zero_point) * scale.
struct Tensor {
  std::string name;
  DataType type = DataType::kFloat32;
  std::vector<std::uint64_t> shape;
  std::uint64_t address = 0;  // as compiled
  std::uint64_t bytes = 0;    // shape x type
  float scale = 1;
  int zero_point = 0;
  std::optional<std::uint32_t> base_id;  // address mode 4: the number that relocations name it by
};

// Address mode 4: the five bytes at `offset` of a group's DMA stream are the address of a tensor, plus `add`.
struct Relocation {
  std::uint32_t base_id = 0, add = 0, offset = 0;
};

// The streams of one core, which run side by side. Groups of a core run one after the other.
struct CommandGroup {
  std::uint32_t tiu_count = 0, dma_count = 0;  // instructions, the ends included
  Bytes tiu, dma;
  std::vector<Relocation> relocations;
  std::uint32_t part = 0;  // of the network that it belongs to
  std::uint32_t core = 0;
  Bytes sdma;  // of chips with SDMA
};

// A layer of a part for the host's processor (host_layer.hpp).
struct HostLayer {
  std::int32_t type = 0;  // number in the published list
  Bytes parameters;       // its record
};

// A part without instructions: layers that are walked with the shapes of a launch, or one that the host's processor
// carries out.
struct DynamicPart {
  std::uint32_t id = 0;
  Bytes list;                           // layer_list.hpp
  std::vector<Tensor> inputs, outputs;  // with their greatest shapes
  std::size_t groups_before = 0;        // of the stage's command groups that run before it
  std::size_t position = 0;             // in the file's list of parts
  bool gathers_rows = false;            // BM1684: of the first input, by the numbers in the second
  std::string fault;                    // why softtpu's own layers do not carry it out; empty: they do
  std::optional<HostLayer> host;        // of the host's processor; then there is no list
  std::string label;                    // of that layer, as people read it: "layer top_k, operation 17"
  std::vector<std::pair<std::string, Bytes>> constants;  // of that layer, by the name of an input
  std::vector<bool> read_later;                          // of each output of that layer: instructions behind it read it
};

// What a part of a network reads and makes, by name, in the order of the file.
struct PartTensors {
  std::vector<std::string> inputs, outputs;
};

// Who walks the lists of dynamic parts.
enum class Walker {
  kOwn,       // softtpu's layers; parts with others cannot run
  kFirmware,  // a chip's firmware, which has all layers
};

// Address modes of a network: where its inputs and outputs lie.
inline constexpr int kIoInContext = 0, kIoAlone = 1, kIoTag = 2, kIoTagFuse = 3, kIoRelocated = 4;

// A network for one set of input shapes.
struct Stage {
  std::vector<Tensor> inputs, outputs;
  std::uint64_t coefficient_address = 0;  // where the compiler put the coefficients
  Bytes coefficients;
  std::uint64_t context_address = 0, context_bytes = 0;  // tensors between layers
  std::vector<std::uint64_t> context_pieces;             // sizes; empty: one piece
  std::uint64_t io_address = 0, io_bytes = 0;            // 0: inputs and outputs lie in the context area
  std::vector<CommandGroup> groups;
  std::uint32_t cores = 1;                 // that it runs on, at the same time
  std::vector<DynamicPart> dynamic_parts;  // with lists that firmware can walk, and layers that the host carries out
  bool dynamic = false;                    // inputs may be smaller than their shapes
  std::vector<Tensor> between;             // tensors that parts of the network hand to each other
  std::set<std::string>
      on_host_alone;  // tensors that only layers of the host's processor have: they need no device memory
  std::vector<std::string> refusals;  // why this stage cannot run
  std::vector<std::string> left_out;  // parts that cannot run (the host's, layers that nothing here carries out)
  std::vector<PartTensors> parts;
  std::set<std::size_t> missing;  // of them those that are left out
  std::vector<Layer> layers;      // of the file's map of tensors
  std::string map_fault;          // why that map is not read

  // All reasons; what is left out counts unless only the static parts are wanted.
  std::vector<std::string> reasons(bool static_parts, Walker walker = Walker::kOwn) const;
  // Parts that cannot run.
  std::vector<std::string> parts_without(Walker walker) const;
  // Tensors that are not right without these parts: what they make, and what other parts make of it.
  std::set<std::string> not_made(const std::set<std::size_t>& missing_parts) const;
};

struct Network {
  std::string name;
  int address_mode = 0;
  std::vector<Stage> stages;
};

struct Model {
  std::string chip, version, time;
  std::string firmware_name;
  Bytes firmware;  // the chip's firmware, a kernel module for its control processor; empty: the file has none
  std::vector<Network> networks;
  std::vector<std::vector<std::uint8_t>> decrypted;  // what views of parts that were encrypted point into
};

// The layers of a map of tensors, and what they make as tensors of the stage.
void add_layers(Stage& stage, std::vector<Layer> layers);
// The same of a file that the compiler has written beside the network. An error says why it is no map of this stage.
Result<void> use_tensor_map(Stage& stage, std::string_view json);
// Whether the stage has no map, or one with fewer layers, and this one is its: then it has this one.
bool try_tensor_map(Stage& stage, std::string_view json);

// Makes plain bytes of encrypted ones.
using Decrypt = std::function<Result<std::vector<std::uint8_t>>(Bytes)>;

// Brings bytes of a file that are not there yet.
using Fetch = std::function<Result<void>(Bytes)>;

// Reads a file's bytes. An error says which part is wrong, and where. With `decrypt` the whole file, its tables or its
// constants may be encrypted. With `fetch` only header and tables need be there, and coefficients that are not
// encrypted are not fetched.
Result<Model> read_model(Bytes file, const Decrypt& decrypt = {}, const Fetch& fetch = {});

// Device memory that the networks of a file need, by use; each piece takes a multiple of `step`.
struct MemorySizes {
  std::uint64_t instructions = 0, moving_instructions = 0, between = 0, constants = 0, inputs_and_outputs = 0;
};
// Reads the header and the tables alone: nothing behind them need be there.
Result<MemorySizes> read_memory_sizes(Bytes head, std::uint64_t step);
// Header and tables together have so many bytes.
Result<std::uint64_t> head_bytes(Bytes header, std::uint64_t file_bytes);

}  // namespace softtpu::bmodel
