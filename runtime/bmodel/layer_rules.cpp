#include "runtime/bmodel/layer_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace softtpu::bmodel {

namespace rules {

std::int64_t elements_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return -1;
  }
  return count;
}

Shapes not_carried_out(const Asked& /*asked*/) { return refuse(kNotCarriedOut); }

}  // namespace rules

namespace {

using rules::refuse;

struct RuleOf {
  std::uint32_t type;
  rules::Shapes (*rule)(const rules::Asked&);
  bool global, local;  // whether it is carried out there
};

constexpr bool is_there(std::string_view function) { return function != "none"; }

constexpr RuleOf kRules[] = {
#define SOFTTPU_LAYER(number, name, rule, global, local, work) \
  {number, rules::rule, is_there(#global), is_there(#local)},
#include "runtime/bmodel/layers.def"
};

// What a command counts, so that no product of extents overflows.
bool has_usual_size(const ShapedTensor& tensor) {
  constexpr std::int64_t kMostElements = INT32_MAX;
  const std::int64_t elements = rules::elements_of(tensor.extents);
  return elements >= 0 && elements <= kMostElements &&
         std::all_of(tensor.extents.begin(), tensor.extents.end(),
                     [](std::int64_t extent) { return extent >= 0 && extent <= INT32_MAX; });
}

// Bytes of a tensor in the local memory of one NPU.
std::int64_t local_bytes(const ShapedTensor& tensor) {
  constexpr std::int64_t kLine = 64, kNpus = 64;
  const auto extents = local_extents(tensor.extents);
  const std::int64_t size = is_byte(tensor.type) ? 1 : tensor.type == 1 || tensor.type == 8 ? 2 : 4;
  const std::int64_t plane = (std::int64_t{extents[2]} * extents[3] * size + kLine - 1) / kLine * kLine;
  return plane * extents[0] * ((extents[1] + kNpus - 1) / kNpus);
}

}  // namespace

bool is_float(std::uint32_t type) { return type <= 1 || type == 8; }
bool is_byte(std::uint32_t type) { return type == 2 || type == 3; }

std::array<int, 4> local_extents(const Extents& extents) {
  std::array<int, 4> all{1, 1, 1, 1};
  for (std::size_t i = 0; i < extents.size() && i < all.size(); ++i) all[i] = static_cast<int>(extents[i]);
  return all;
}

std::int64_t windows(std::int64_t extent, std::int64_t before, std::int64_t behind, std::int64_t kernel,
                     std::int64_t step, std::int64_t dilation) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t free = extent + before + behind - span;
  return free < 0 ? 0 : free / step + 1;
}

Result<std::vector<ShapedTensor>> results_of(const ListedLayer& layer, std::span<const ShapedTensor> inputs,
                                             WhoseSizes sizes) {
  if (layer.inputs.size() != inputs.size() || layer.outputs.empty() || inputs.empty())
    return refuse(fmt::format("{} inputs and {} outputs", layer.inputs.size(), layer.outputs.size()));
  const auto* const found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const RuleOf& one) { return one.type == layer.type; });
  if (found == std::end(kRules) || !(found->global || found->local)) return refuse(rules::kNotCarriedOut);
  if (layer.local && !found->local) return refuse("this layer with operands in local memory");
  if (!layer.local && !found->global) return refuse("this layer with operands in device memory");
  rules::Asked asked{layer, inputs, sizes, {}};
  for (const Operand& output : layer.outputs)
    asked.like.push_back({output.type.value_or(inputs[0].type), inputs[0].extents});
  if (!std::all_of(inputs.begin(), inputs.end(), has_usual_size)) return refuse("tensors of this size");
  auto results = found->rule(asked);
  if (!results) return results;
  if (!std::all_of(results->begin(), results->end(), has_usual_size)) return refuse("tensors of this size");
  if (!layer.local) return results;
  constexpr std::size_t kMostLocalExtents = 4;
  constexpr std::int64_t kMostLocalBytes = 0x10000;  // four banks
  for (const auto& all : {std::vector<ShapedTensor>(inputs.begin(), inputs.end()), *results}) {
    for (const ShapedTensor& one : all) {
      if (one.extents.size() > kMostLocalExtents) return refuse(fmt::format("{} dimensions", one.extents.size()));
      if (rules::elements_of(one.extents) == 0) return refuse("tensors without elements");
      const bool fits_commands = std::all_of(one.extents.begin(), one.extents.end(),
                                             [](std::int64_t extent) { return extent <= rules::kMostOfCommand; });
      if (local_bytes(one) > kMostLocalBytes || !fits_commands) return refuse("tensors of this size");
    }
  }
  return results;
}

Result<RowSlices> slices_of(const ListedGroup& group, std::span<const Extents> loaded) {
  RowSlices slices{0, group.rows};
  for (const Extents& extents : loaded) slices.all = std::max(slices.all, extents.empty() ? 1 : extents[0]);
  if (slices.all <= slices.most) return slices;
  if (slices.most < 1) return refuse("slices of no rows");
  for (const Extents& extents : loaded) {
    const std::int64_t rows = extents.empty() ? 1 : extents[0];
    if (rows != 1 && rows != slices.all)
      return refuse(fmt::format("{} and {} rows in slices of {}", rows, slices.all, slices.most));
  }
  return slices;
}

Result<std::vector<ShapedTensor>> results_in_slices(const ListedLayer& layer, std::span<const ShapedTensor> inputs,
                                                    const RowSlices& slices, WhoseSizes sizes) {
  std::vector<ShapedTensor> parts(inputs.begin(), inputs.end());
  bool divided = false;
  for (std::size_t i = 0; i < parts.size() && i < layer.inputs.size(); ++i) {
    if (layer.inputs[i].kind == OperandKind::kConstant || !slices.divide(parts[i].extents)) continue;
    parts[i].extents[0] = slices.most;
    divided = true;
  }
  auto results = results_of(layer, parts, sizes);
  if (!results || !divided) return results;
  for (ShapedTensor& result : *results) {
    if (result.extents.empty() || result.extents[0] != slices.most) return refuse("rows of several slices in one");
    result.extents[0] = slices.all;
  }
  return results;
}

// Tensors while a list is judged; empty: made by a layer that is refused.
using Known = std::map<std::uint32_t, std::optional<ShapedTensor>>;

// A convolution that merges its kernel spreads its input out over the input's own memory. Whether something reads that
// input behind it: another layer, or a transfer that stores it.
static bool is_read_behind_spreading(const ListedGroup& group, std::size_t convolution) {
  const ListedLayer& layer = group.layers[convolution];
  constexpr std::uint32_t kConvolution = 0;
  if (layer.type != kConvolution || layer.inputs.empty() ||
      (layer.word(ConvolutionWords::kMerged) & ConvolutionWords::kMergedTaps) == 0)
    return false;
  const std::uint32_t input = layer.inputs[0].id;
  const auto turn = [&](std::size_t i) { return std::tuple(group.layers[i].stage, group.layers[i].step, i); };
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    const std::vector<Operand>& read = group.layers[i].inputs;
    const bool reads = std::any_of(read.begin(), read.end(), [&](const Operand& operand) {
      return operand.kind == OperandKind::kTensor && operand.id == input;
    });
    if (reads && turn(i) > turn(convolution)) return true;
  }
  return std::any_of(group.transfers.begin(), group.transfers.end(), [&](const ListedTransfer& transfer) {
    const auto type = static_cast<TransferType>(transfer.type);
    const auto moved = moved_tensor(transfer);
    return (type == TransferType::kStore || type == TransferType::kStoreOutput) && moved && moved->id == input &&
           std::pair(transfer.stage, transfer.step) >= std::pair(layer.stage, layer.step);
  });
}

// Why the moves of a group cannot run; empty: they do. What they load gets its shape.
static std::string fault_of(const ListedGroup& group, Known& known, RowSlices& slices) {
  if (group.steps == 1) return {};
  if (group.split) return "slices along h";
  if (group.stages < 1 || group.stages > 3) return fmt::format("a pipeline of {} stages", group.stages);
  for (const ListedLayer& layer : group.layers) {
    if (layer.stage >= group.stages) return fmt::format("stage {} of {}", layer.stage, group.stages);
  }
  for (std::size_t i = 0; i < group.layers.size(); ++i) {
    if (is_read_behind_spreading(group, i))
      return name_of_layer(group.layers[i].type) + " spreads out an input that is read again";
  }
  std::vector<Extents> loaded;
  for (const ListedTransfer& transfer : group.transfers) {
    if (transfer.stage >= group.stages) return fmt::format("stage {} of {}", transfer.stage, group.stages);
    const auto moved = moved_tensor(transfer);
    if (!moved) return moved.error().text;
    const auto type = static_cast<TransferType>(transfer.type);
    if (type != TransferType::kLoad && type != TransferType::kLoadInput) continue;
    const auto found = known.find(moved->reference);
    if (found == known.end()) return fmt::format("it loads tensor {}, which nothing has made", moved->reference);
    if (found->second) loaded.push_back(found->second->extents);
    if (found->second && found->second->extents.size() > 4) return "it loads more than four dimensions";
    // A copy: the entry that it makes may be the same one.
    const std::optional<ShapedTensor> shape = found->second;
    known[moved->id] = shape;
  }
  const auto found = slices_of(group, loaded);
  if (!found) return found.error().text;
  slices = *found;
  return {};
}

// Whether something writes a tensor to device memory.
static bool is_written(const LayerList& list, std::uint32_t id) {
  return std::any_of(list.groups.begin(), list.groups.end(), [id](const ListedGroup& group) {
    const bool made = std::any_of(group.layers.begin(), group.layers.end(), [id](const ListedLayer& layer) {
      return !layer.local && std::any_of(layer.outputs.begin(), layer.outputs.end(), [id](const Operand& output) {
        return output.id == id && output.kind == OperandKind::kTensor;
      });
    });
    const bool stored =
        std::any_of(group.transfers.begin(), group.transfers.end(), [id](const ListedTransfer& transfer) {
          const auto type = static_cast<TransferType>(transfer.type);
          const auto moved = moved_tensor(transfer);
          return moved && moved->id == id && (type == TransferType::kStore || type == TransferType::kStoreOutput);
        });
    return made || stored;
  });
}

std::vector<std::string> faults_of(const LayerList& list, std::span<const ShapedTensor> inputs, WhoseSizes sizes) {
  std::vector<std::string> faults;
  Known known;
  for (std::size_t i = 0; i < list.inputs.size() && i < inputs.size(); ++i) known[list.inputs[i]] = inputs[i];
  std::size_t number = 0;
  for (const ListedGroup& group : list.groups) {
    RowSlices slices;
    if (std::string why = fault_of(group, known, slices); !why.empty())
      faults.push_back(fmt::format("the group of layer {} of its list: {}", number + 1, why));
    for (const ListedLayer& layer : group.layers) {
      ++number;
      std::vector<ShapedTensor> given;
      bool all = true;
      for (const Operand& input : layer.inputs) {
        if (input.kind == OperandKind::kConstant) {
          given.push_back({input.type.value_or(0), input.extents});
          continue;
        }
        const auto found = known.find(input.id);
        all = all && found != known.end();
        // Behind a layer that is refused, the greatest shape of the list stands for what it would have made.
        const bool is_known = found != known.end() && found->second;
        given.push_back(is_known ? *found->second : ShapedTensor{input.type.value_or(0), input.extents});
      }
      const auto results = all ? results_in_slices(layer, given, slices, sizes)
                               : Error{ErrorKind::kUsage, "an input that nothing makes"};
      if (!results) {
        const std::string& why = results.error().text;
        faults.push_back(fmt::format("layer {} of its list, {}{}", number, name_of_layer(layer.type),
                                     why == rules::kNotCarriedOut ? "" : ": " + why));
      }
      const bool open = results && std::any_of(results->begin(), results->end(),
                                               [](const ShapedTensor& result) { return result.open; });
      if (sizes == WhoseSizes::kOfLaunch && (!results || open)) return faults;
      for (std::size_t i = 0; i < layer.outputs.size(); ++i)
        known[layer.outputs[i].id] = results && !(*results)[i].open ? std::optional((*results)[i]) : std::nullopt;
    }
  }
  for (const std::uint32_t output : list.outputs) {
    if (!is_written(list, output)) faults.emplace_back("nothing makes one of its outputs");
  }
  return faults;
}

}  // namespace softtpu::bmodel
