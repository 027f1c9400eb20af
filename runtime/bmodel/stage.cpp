// What a stage of a network says about itself once it is read, and how the layers of a map of tensors get into it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/bmodel/container.hpp"

namespace softtpu::bmodel {

std::optional<DataType> type_named(const std::string& mlir) {
  constexpr std::pair<std::string_view, DataType> kNames[] = {
      {"f32", DataType::kFloat32}, {"f16", DataType::kFloat16}, {"bf16", DataType::kBfloat16},
      {"i8", DataType::kInt8},     {"si8", DataType::kInt8},    {"ui8", DataType::kUint8},
      {"i16", DataType::kInt16},   {"si16", DataType::kInt16},  {"ui16", DataType::kUint16},
      {"i32", DataType::kInt32},   {"si32", DataType::kInt32},  {"ui32", DataType::kUint32},
  };
  for (const auto& [name, type] : kNames) {
    if (name == mlir) return type;
  }
  return std::nullopt;
}

void add_layers(Stage& stage, std::vector<Layer> layers) {
  std::set<std::string> known;
  for (const auto* tensors : {&stage.inputs, &stage.outputs, &stage.between}) {
    for (const Tensor& tensor : *tensors) known.insert(tensor.name);
  }
  for (const Layer& layer : layers) {
    for (const LayerTensor& result : layer.results) {
      const auto type = type_named(result.type);
      if (!type || !known.insert(result.name).second) continue;
      Tensor tensor{result.name, *type, result.shape, result.address, 0, 1, 0, {}};
      std::uint64_t elements = 1;
      bool fits = true;
      for (const std::uint64_t extent : result.shape) {
        fits = fits && (extent == 0 || elements <= kMaxElements / extent);
        elements = fits ? elements * extent : 0;
      }
      tensor.bytes = (elements * static_cast<unsigned>(bits_of(*type)) + 7) / 8;
      if (fits) stage.between.push_back(std::move(tensor));
    }
  }
  stage.layers = std::move(layers);
}

bool try_tensor_map(Stage& stage, std::string_view json) {
  Stage with = stage;
  if (json.empty() || !use_tensor_map(with, json) || with.layers.size() <= stage.layers.size()) return false;
  stage = std::move(with);
  return true;
}

Result<void> use_tensor_map(Stage& stage, std::string_view json) {
  auto layers = read_tensor_map(json);
  if (!layers) return layers.error();
  const auto other = [](std::string why) {
    return Error{ErrorKind::kUsage, fmt::format("the map of tensors is of another network: {}", why)};
  };
  bool names_output = false;
  for (const Layer& layer : *layers) {
    std::uint32_t tiu = 0;
    std::uint32_t dma = 0;
    for (const CommandGroup& group : stage.groups) {
      if (group.part != layer.part) continue;
      tiu = std::max(tiu, group.tiu_count);
      dma = std::max(dma, group.dma_count);
    }
    if (tiu + dma > 0 && (layer.tiu_last > tiu || layer.dma_last > dma))
      return other(fmt::format("layer {} ends with TIU {} and DMA {}, part {} has {} and {} instructions",
                               layer.label(), layer.tiu_last, layer.dma_last, layer.part, tiu, dma));
    for (const LayerTensor& result : layer.results) {
      names_output = names_output || std::any_of(stage.outputs.begin(), stage.outputs.end(),
                                                 [&](const Tensor& output) { return output.name == result.name; });
    }
  }
  if (!names_output && !stage.outputs.empty())
    return other(fmt::format("no layer has the output \"{}\"", stage.outputs[0].name));
  stage.map_fault.clear();
  add_layers(stage, *std::move(layers));
  return {};
}

std::vector<std::string> Stage::parts_without(Walker walker) const {
  std::vector<std::string> all = left_out;
  for (const DynamicPart& part : dynamic_parts) {
    if (walker == Walker::kOwn && !part.fault.empty()) all.push_back(part.fault);
  }
  return all;
}

// Branches may lead back: until nothing is added.
std::set<std::string> Stage::not_made(const std::set<std::size_t>& missing_parts) const {
  std::set<std::string> names;
  std::size_t before = 0;
  do {
    before = names.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto is_in = [&](const std::string& name) { return names.contains(name); };
      if (missing_parts.contains(i) || std::any_of(parts[i].inputs.begin(), parts[i].inputs.end(), is_in))
        names.insert(parts[i].outputs.begin(), parts[i].outputs.end());
    }
  } while (names.size() > before);
  return names;
}

std::vector<std::string> Stage::reasons(bool static_parts, Walker walker) const {
  std::vector<std::string> all = refusals;
  const auto runs = [walker](const DynamicPart& part) { return walker == Walker::kFirmware || part.fault.empty(); };
  if (!static_parts || (groups.empty() && std::none_of(dynamic_parts.begin(), dynamic_parts.end(), runs))) {
    const auto without = parts_without(walker);
    all.insert(all.end(), without.begin(), without.end());
  }
  return all;
}

int bits_of(DataType type) {
  switch (type) {
    case DataType::kFloat32:
    case DataType::kInt32:
    case DataType::kUint32: return 32;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16: return 16;
    case DataType::kInt8:
    case DataType::kUint8: return 8;
    case DataType::kInt4:
    case DataType::kUint4: return 4;
  }
  return 0;
}

std::string_view to_text(DataType type) {
  constexpr std::string_view kNames[] = {"f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "bf16", "i4", "u4"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace softtpu::bmodel
