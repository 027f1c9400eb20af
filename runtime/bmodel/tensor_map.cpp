#include "runtime/bmodel/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/base/json_tree.hpp"
#include "runtime/base/text_file.hpp"

namespace softtpu::bmodel {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kGlobalStart = 0x1'0000'0000;
constexpr std::size_t kMostLabel = 200;
constexpr std::uint32_t kStores = 0xFFFFFFFF;  // in place of a label's length: stores follow

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

// The numbers of "<1x8x1x16x16>" or of "[0:1, 0:8, 0:1, 0:16, 0:16]".
std::vector<std::uint32_t> numbers_in(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  while (!text.empty()) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc()) numbers.push_back(number);
    text.remove_prefix(read.ec == std::errc() ? static_cast<std::size_t>(read.ptr - text.data()) : 1);
  }
  return numbers;
}

// 0: more than any memory has.
template <class Extents>
std::uint64_t elements_of(const Extents& extents) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : extents) {
    if (extent > kMost / elements) return 0;
    elements *= extent;
    if (elements == 0) return 0;
  }
  return elements;
}

std::optional<LocalPart> read_local(const Json& item) {
  constexpr std::size_t kDimensions = 5, kDepth = 2;
  const std::string layout = text_of(item, "layout");
  LocalPart part;
  part.name = text_of(item, "name");
  part.aligned = layout == "eu_align";
  const std::uint64_t address = number_of(item, "address");
  LayerTensor stored;
  if (part.name.empty() || (!part.aligned && layout != "compact") || address >= kGlobalStart ||
      !read_type(text_of(item, "memory_type"), stored))
    return std::nullopt;
  part.type = stored.type;
  part.address = static_cast<std::uint32_t>(address);
  const auto whole = numbers_in(text_of(item, "reshape"));
  const auto slice = numbers_in(text_of(item, "slice"));
  if (whole.size() != kDimensions || slice.size() != 2 * kDimensions) return std::nullopt;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    part.whole[i] = whole[i];
    part.begin[i] = slice[2 * i];
    part.end[i] = slice[2 * i + 1];
    if (part.begin[i] >= part.end[i] || part.end[i] > part.whole[i]) return std::nullopt;
  }
  // How several depths lie in local memory is not known.
  if (part.whole[kDepth] != 1) return std::nullopt;
  const auto shape = item.find("shape");
  if (shape == item.end() || !shape->is_array()) return std::nullopt;
  for (const Json& extent : *shape) {
    if (!extent.is_number_unsigned()) return std::nullopt;
    part.shape.push_back(extent.get<std::uint64_t>());
  }
  const auto elements = elements_of(part.shape);
  if (elements == 0 || elements != elements_of(part.whole)) return std::nullopt;
  return part;
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
    layer.core = static_cast<std::uint32_t>(number_of(item, "core_id"));
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
        if (auto local = read_local(result)) layer.local_results.push_back(*std::move(local));
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

std::vector<std::uint8_t> pack_layers(std::span<const Layer> layers, const Stores& stores) {
  std::vector<std::uint8_t> bytes;
  for (const Layer& layer : layers) {
    const std::string label = layer.label();
    for (const std::uint32_t number : {layer.tiu_before, layer.tiu_last, layer.dma_before, layer.dma_last})
      put(bytes, number);
    put(bytes, static_cast<std::uint32_t>(label.size()));
    bytes.insert(bytes.end(), label.begin(), label.end());
  }
  if (stores.empty()) return bytes;
  put(bytes, static_cast<std::uint32_t>(stores.local.size()));
  for (int i = 0; i < 3; ++i) put(bytes, 0);
  put(bytes, kStores);
  const auto add = [&]<class Store>(const std::vector<Store>& list) {
    static_assert(std::has_unique_object_representations_v<Store>);
    const auto* first = reinterpret_cast<const std::uint8_t*>(list.data());
    bytes.insert(bytes.end(), first, first + list.size() * sizeof(Store));
  };
  add(stores.local);
  add(stores.global);
  return bytes;
}

namespace {

// Takes the layers off the front of `bytes`; visit(numbers, label). How many stores of local memory follow.
template <class Visit>
std::size_t each_layer(std::span<const std::uint8_t>& bytes, Visit visit) {
  constexpr std::size_t kHead = 5 * sizeof(std::uint32_t);
  while (bytes.size() >= kHead) {
    std::array<std::uint32_t, 5> head{};
    std::memcpy(head.data(), bytes.data(), kHead);
    const std::size_t label = head[4];
    if (label != kStores && (label > bytes.size() - kHead || label > kMostLabel)) break;
    bytes = bytes.subspan(kHead);
    if (label == kStores) return head[0];
    visit(head, std::string(reinterpret_cast<const char*>(bytes.data()), label));
    bytes = bytes.subspan(label);
  }
  bytes = {};
  return 0;
}

// Takes as many off the front of `bytes` as are there.
template <class Store>
std::vector<Store> take_stores(std::span<const std::uint8_t>& bytes, std::size_t most) {
  std::vector<Store> stores(std::min(most, bytes.size() / sizeof(Store)));
  if (!stores.empty()) std::memcpy(stores.data(), bytes.data(), stores.size() * sizeof(Store));
  bytes = bytes.subspan(stores.size() * sizeof(Store));
  return stores;
}

}  // namespace

std::vector<LayerRange> unpack_layers(std::span<const std::uint8_t> bytes) {
  std::vector<LayerRange> ranges;
  each_layer(bytes, [&](const auto& head, std::string label) {
    ranges.push_back({head[0], head[1], head[2], head[3], std::move(label)});
  });
  return ranges;
}

Stores unpack_stores(std::span<const std::uint8_t> bytes) {
  const std::size_t local = each_layer(bytes, [](const auto&, const std::string&) {});
  Stores stores;
  stores.local = take_stores<LocalStore>(bytes, local);
  stores.global = take_stores<GlobalStore>(bytes, bytes.size());
  return stores;
}

// Names are put together as text: libstdc++ frees the parts of a path twice when one of its changes finds no memory.
std::string read_map_beside(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  constexpr const char* kName = "tensor_location.json";
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = path.rfind('.');
  const std::string stem = dot == std::string::npos || dot <= name ? path : path.substr(0, dot);
  std::vector<std::string> places = {stem + "/" + kName, path + ".json"};
  if (path.compare(name, std::string::npos, "compilation.bmodel") == 0) places.push_back(path.substr(0, name) + kName);
  for (const std::string& place : places)
    if (auto text = read_text_file(place, kMostBytes); text && !text->empty()) return *std::move(text);
  return {};
}

}  // namespace softtpu::bmodel
