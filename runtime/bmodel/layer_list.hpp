// The list of layers of a dynamic part: what a compiler writes where shapes are known at the launch only. The facts are
// those of BM1684X's compiler of 2026.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::bmodel {

inline constexpr std::size_t kMostExtents = 8;

enum class OperandKind : std::uint8_t { kTensor, kConstant, kShape };

struct Operand {
  OperandKind kind = OperandKind::kTensor;
  std::uint32_t id = 0;
  std::optional<std::uint32_t> type;  // code of DataType, where the list has it
  std::vector<std::int64_t> extents;  // the greatest ones, which are those of a constant
  std::uint64_t address = 0;          // as compiled; of a local operand its local address
};

struct ListedLayer {
  std::uint32_t type = 0;
  bool local = false;                 // operands lie in local memory
  std::uint32_t step = 0, stage = 0;  // of a group of local layers: its place, and the pipeline's stage
  std::vector<Operand> inputs, outputs;
  std::span<const std::uint8_t> parameters;

  // Parameters are words of four bytes; one that is not there is 0.
  std::int32_t word(std::size_t i) const;
  float number(std::size_t i) const;
  std::uint64_t address(std::size_t i) const;  // of two words
};

// A move between global and local memory beside local layers.
enum class TransferType : std::uint32_t { kLoadInput = 0, kStoreOutput = 1, kStore = 3, kLoadConstant = 4, kLoad = 13 };
struct ListedTransfer {
  std::uint32_t type = 0;
  std::uint32_t step = 0, stage = 0;
  std::span<const std::uint8_t> parameters;

  std::uint32_t word(std::size_t i) const;
  std::uint64_t address() const;  // as compiled; of those between groups and of constants
};

// What a transfer moves.
struct MovedTensor {
  std::uint64_t local = 0;
  std::uint32_t id = 0, reference = 0;  // a load: the tensor that it makes, and that in device memory
  std::vector<std::int64_t> constant;   // n, c and the plane of a constant
  std::uint32_t type = 0;               // of a load
};
Result<MovedTensor> moved_tensor(const ListedTransfer& transfer);

struct ListedGroup {
  std::uint32_t steps = 1, stages = 1, rows = 0;  // rows of n in a slice
  bool split = false;                             // slices of h
  std::vector<std::uint32_t> inputs, outputs;
  std::vector<ListedLayer> layers;
  std::vector<ListedTransfer> transfers;
};

struct LayerList {
  std::vector<std::uint32_t> inputs, outputs;  // numbers of tensors
  std::vector<ListedGroup> groups;
};

// Reads a part's list, which has to end where the list ends. Views point into `bytes`.
Result<LayerList> read_layer_list(std::span<const std::uint8_t> bytes, std::size_t inputs, std::size_t outputs);

// Whether a part's list of BM1684, whose layout is another one, is one layer that gathers the rows of its first input
// by the `count` numbers of its second. One such list has been recorded; only what it has counts as one.
bool is_row_gather_of_bm1684(std::span<const std::uint8_t> bytes, std::uint64_t count);

// "top-k (57)"; of an unknown number "a layer of type 300".
std::string name_of_layer(std::uint32_t type);

// The shape of a tensor while a list runs.
using Extents = std::vector<std::int64_t>;
struct ShapedTensor {
  std::uint32_t type = 0;
  Extents extents;
  std::optional<Extents> values = {};  // of a shape that layers compute
  bool open = false;                   // its extents are known at the launch only
};

// Layers that read a shape from device memory.
inline constexpr std::uint32_t kTensorToShape = 78;

// Types of elements by their codes.
bool is_float(std::uint32_t type);
bool is_byte(std::uint32_t type);

// A tensor of up to four dimensions as n, c, h, w; missing ones are 1 behind the others.
std::array<int, 4> local_extents(const Extents& extents);

// Columns of a window over one dimension, whether or not padding lies under them.
std::int64_t windows(std::int64_t extent, std::int64_t before, std::int64_t behind, std::int64_t kernel,
                     std::int64_t step, std::int64_t dilation);

// Whether inputs have the greatest sizes of a list, or those of a launch. Some layers are carried out for sizes below
// their greatest ones only.
enum class WhoseSizes : std::uint8_t { kOfLaunch, kGreatest };

// What a layer makes of inputs with these shapes. An error of kind kUnsupported: this layer is not carried out.
Result<std::vector<ShapedTensor>> results_of(const ListedLayer& layer, std::span<const ShapedTensor> inputs,
                                             WhoseSizes sizes = WhoseSizes::kOfLaunch);

// A group of local layers takes so many rows of the first dimension at once. Tensors with one row are not divided.
struct RowSlices {
  std::int64_t all = 0, most = 0;
  bool divide(const Extents& extents) const { return all > most && !extents.empty() && extents[0] == all; }
};
// The rows of what a group loads; refused are tensors with other numbers of rows than one and the same.
Result<RowSlices> slices_of(const ListedGroup& group, std::span<const Extents> loaded);
// The results of a layer that works slice by slice, in whole; a layer that joins rows of several is refused.
Result<std::vector<ShapedTensor>> results_in_slices(const ListedLayer& layer, std::span<const ShapedTensor> inputs,
                                                    const RowSlices& slices, WhoseSizes sizes = WhoseSizes::kOfLaunch);

// What a strided slice takes of a dimension.
struct SliceRange {
  std::int64_t begin = 0, step = 1, count = 0;
};
Result<std::vector<SliceRange>> slices_of(const ListedLayer& layer, const Extents& extents);

// Why a part with these input shapes cannot run, one sentence for each layer; empty: it runs. With the sizes of a
// launch the sentences end where shapes begin to depend on what layers compute.
std::vector<std::string> faults_of(const LayerList& list, std::span<const ShapedTensor> inputs, WhoseSizes sizes);

}  // namespace softtpu::bmodel
