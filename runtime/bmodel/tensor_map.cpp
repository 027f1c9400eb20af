#include "runtime/bmodel/tensor_map.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

#include "runtime/base/json_tree.hpp"

namespace softtpu::bmodel {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kGlobalStart = 0x1'0000'0000;
constexpr std::size_t kMostLabel = 200;

std::string text_of(const Json& item, const char* name) {
  const auto found = item.find(name);
  return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const Json& item, const char* name) {
  const auto found = item.find(name);
  return found != item.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

// "<1x3x28x28xf32>": the extents, then the type.
bool read_type(std::string_view text, LayerTensor& tensor) {
  if (text.size() < 2 || text.front() != '<' || text.back() != '>') return false;
  text = text.substr(1, text.size() - 2);
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
    const std::size_t end = text.find('x');
    std::uint64_t extent = 0;
    const std::string_view digits = text.substr(0, end);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (end == std::string_view::npos || read.ec != std::errc() || read.ptr != digits.data() + digits.size())
      return false;
    tensor.shape.push_back(extent);
    text.remove_prefix(end + 1);
  }
  tensor.type = std::string(text.substr(0, text.find(',')));
  return !tensor.type.empty();
}

std::optional<LayerTensor> read_result(const Json& item) {
  LayerTensor tensor{text_of(item, "name"), {}, {}, number_of(item, "address"), {}};
  tensor.mlir = text_of(item, "type");
  if (tensor.name.empty() || tensor.address < kGlobalStart) return std::nullopt;
  if (!read_type(text_of(item, "memory_type"), tensor)) return std::nullopt;
  // Elements that do not stand one behind the other, as the packed ones of BM1684, are no plain array.
  const std::string layout = text_of(item, "layout");
  if (!layout.empty() && layout != "continuous") return std::nullopt;
  return tensor;
}

// The pair of instruction numbers, [TIU, DMA]; older compilers call the TIU BDC and the DMA GDMA.
bool read_numbers(const Json& item, const char* which, std::uint32_t& tiu, std::uint32_t& dma) {
  for (const char* units : {"tiu_dma_id", "bdc_gdma_id"}) {
    const auto pair = item.find(fmt::format("{}({})", units, which));
    if (pair == item.end() || !pair->is_array() || pair->size() != 2) continue;
    if (!pair->at(0).is_number_unsigned() || !pair->at(1).is_number_unsigned()) return false;
    tiu = pair->at(0).get<std::uint32_t>();
    dma = pair->at(1).get<std::uint32_t>();
    return true;
  }
  return false;
}

void put(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

std::string Layer::label() const {
  std::string text = name.empty() ? operation : operation.empty() ? name : fmt::format("{} ({})", name, operation);
  text.resize(std::min(text.size(), kMostLabel));
  return text;
}

Result<std::vector<Layer>> read_tensor_map(std::string_view json) {
  JsonTree tree = JsonTree::parse(json);
  const Json& map = *tree;
  if (map.is_discarded()) return Error{ErrorKind::kUsage, "the map of tensors is not JSON"};
  if (!map.is_array()) return Error{ErrorKind::kUsage, "the map of tensors is not a list of layers"};
  std::vector<Layer> layers;
  for (const Json& item : map) {
    if (!item.is_object()) return Error{ErrorKind::kUsage, "the map of tensors is not a list of layers"};
    Layer layer;
    layer.operation = text_of(item, "opcode");
    layer.part = static_cast<std::uint32_t>(number_of(item, "subnet_id"));
    if (!read_numbers(item, "before", layer.tiu_before, layer.dma_before) ||
        !read_numbers(item, "after", layer.tiu_last, layer.dma_last)) {
      return Error{ErrorKind::kUsage,
                   fmt::format("layer {} of the map of tensors names no instructions", layers.size())};
    }
    const auto results = item.find("results");
    if (results != item.end() && results->is_array()) {
      for (const Json& result : *results) {
        if (!result.is_object()) continue;
        if (layer.name.empty()) {
          layer.name = text_of(result, "name");
          layer.mlir = text_of(result, "type");
          LayerTensor first;
          if (read_type(text_of(result, "memory_type"), first)) layer.type = first.type;
        }
        if (auto tensor = read_result(result)) layer.results.push_back(*std::move(tensor));
      }
    }
    const auto operands = item.find("operands");
    if (operands != item.end() && operands->is_array()) {
      for (const Json& operand : *operands) {
        if (!operand.is_object()) continue;
        if (std::string name = text_of(operand, "name"); !name.empty()) layer.operands.push_back(std::move(name));
      }
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::vector<std::uint8_t> pack_layers(std::span<const Layer> layers) {
  std::vector<std::uint8_t> bytes;
  for (const Layer& layer : layers) {
    const std::string label = layer.label();
    for (const std::uint32_t number : {layer.tiu_before, layer.tiu_last, layer.dma_before, layer.dma_last})
      put(bytes, number);
    put(bytes, static_cast<std::uint32_t>(label.size()));
    bytes.insert(bytes.end(), label.begin(), label.end());
  }
  return bytes;
}

std::vector<LayerRange> unpack_layers(std::span<const std::uint8_t> bytes) {
  std::vector<LayerRange> ranges;
  constexpr std::size_t kHead = 5 * sizeof(std::uint32_t);
  while (bytes.size() >= kHead) {
    std::uint32_t head[5];
    std::memcpy(head, bytes.data(), kHead);
    bytes = bytes.subspan(kHead);
    if (head[4] > bytes.size() || head[4] > kMostLabel) break;
    ranges.push_back(
        {head[0], head[1], head[2], head[3], std::string(reinterpret_cast<const char*>(bytes.data()), head[4])});
    bytes = bytes.subspan(head[4]);
  }
  return ranges;
}

}  // namespace softtpu::bmodel
