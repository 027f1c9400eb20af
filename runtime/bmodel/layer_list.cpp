#include "runtime/bmodel/layer_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace softtpu::bmodel {
namespace {

constexpr std::uint32_t kPlain = 0x0f00ffff, kWithHead = 0x1f00ffff;
constexpr std::uint64_t kHeadBytes = 16;
constexpr std::size_t kMostExtents = 8;

// Reads the list from its beginning. What does not fit is kept as the first fault, and everything behind it reads as 0.
class ListReader {
 public:
  explicit ListReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  const std::string& fault() const { return fault_; }
  bool failed() const { return !fault_.empty(); }
  std::size_t at() const { return at_; }
  std::size_t rest() const { return bytes_.size() - at_; }

  void fail(std::string text) {
    if (fault_.empty()) fault_ = fmt::format("byte {}: {}", at_, text);
    at_ = bytes_.size();
  }

  std::span<const std::uint8_t> take(std::uint64_t count, const char* what) {
    if (count > rest()) {
      fail(fmt::format("{} of {} bytes does not fit the {} bytes that are left", what, count, rest()));
      return {};
    }
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }

  template <class T>
  T number(const char* what) {
    T value{};
    const auto part = take(sizeof(T), what);
    if (!part.empty()) std::memcpy(&value, part.data(), sizeof(T));
    return value;
  }

  // A count of items that have at least `least` bytes each.
  std::uint32_t count(const char* what, std::size_t least) {
    const auto value = number<std::uint32_t>(what);
    if (value > rest() / least) fail(fmt::format("{} {} need more bytes than are left ({})", value, what, rest()));
    return failed() ? 0 : value;
  }

  std::vector<std::uint32_t> numbers(std::size_t count, const char* what) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < count && !failed(); ++i) all.push_back(number<std::uint32_t>(what));
    return all;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::string fault_;
};

OperandKind read_kind(ListReader& reader) {
  const auto kind = reader.number<std::uint8_t>("the kind of an operand");
  if (kind > 2) reader.fail(fmt::format("an operand of kind {} is not known", kind));
  return static_cast<OperandKind>(std::min<std::uint8_t>(kind, 2));
}

Extents read_extents(ListReader& reader) {
  Extents extents;
  const auto count = reader.number<std::uint8_t>("the number of dimensions");
  if (count > kMostExtents) reader.fail(fmt::format("an operand has {} dimensions (limit {})", count, kMostExtents));
  for (unsigned i = 0; i < count && !reader.failed(); ++i) {
    extents.push_back(reader.number<std::int32_t>("an extent"));
    if (extents.back() < 0) reader.fail(fmt::format("an extent is {}", extents.back()));
  }
  return extents;
}

Operand read_operand(ListReader& reader, bool local, bool output) {
  Operand operand;
  operand.kind = read_kind(reader);
  operand.id = reader.number<std::uint32_t>("an operand's number");
  const auto type = [&] { operand.type = reader.number<std::uint32_t>("an operand's type"); };
  if (local) {
    operand.address = reader.number<std::uint32_t>("a local address");
    if (output) {
      type();
      reader.number<std::uint8_t>("the number of consumers");
    } else if (operand.kind != OperandKind::kTensor) {
      type();
      operand.extents = read_extents(reader);
    }
    return operand;
  }
  type();
  if (output) {
    operand.address = reader.number<std::uint64_t>("an address");
  } else {
    operand.extents = read_extents(reader);
    if (operand.kind == OperandKind::kConstant) operand.address = reader.number<std::uint64_t>("an address");
  }
  if (operand.kind == OperandKind::kTensor) reader.number<std::uint8_t>("whose tensor it is");
  return operand;
}

ListedLayer read_layer(ListReader& reader, bool local) {
  constexpr std::size_t kLeastOperand = 5;
  ListedLayer layer;
  layer.local = local;
  if (local) reader.number<std::uint32_t>("a layer's stage");
  layer.type = reader.number<std::uint32_t>("a layer's type");
  const auto magic = reader.number<std::uint32_t>("a layer's mark");
  if (magic != kPlain && magic != kWithHead && !reader.failed())
    reader.fail(fmt::format("a layer's mark is {:#x}, not {:#x} or {:#x}", magic, kPlain, kWithHead));
  const auto length = reader.number<std::uint32_t>("a layer's length");
  if (magic == kWithHead) reader.take(kHeadBytes, "a layer's head");
  ListReader inside(reader.take(length, "a layer"));
  for (const bool output : {false, true}) {
    const auto count = inside.count("operands", kLeastOperand);
    for (std::uint32_t i = 0; i < count && !inside.failed(); ++i)
      (output ? layer.outputs : layer.inputs).push_back(read_operand(inside, local, output));
  }
  if (inside.failed() && !reader.failed()) reader.fail(name_of_layer(layer.type) + ": " + inside.fault());
  layer.parameters = inside.take(inside.rest(), "parameters");
  return layer;
}

ListedGroup read_group(ListReader& reader) {
  ListedGroup group;
  const auto steps = reader.number<std::uint32_t>("a group's steps") >> 16;
  reader.number<std::uint8_t>("a group's head");
  const auto inputs = reader.number<std::uint8_t>("the number of a group's inputs");
  const auto outputs = reader.number<std::uint8_t>("the number of a group's outputs");
  const auto flags = reader.number<std::uint8_t>("a group's flags");
  const auto pipeline = reader.number<std::uint8_t>("the stages of a group");
  reader.take(3, "a group's head");
  reader.number<std::uint32_t>("the rows of a slice");
  const bool split = (flags & 1) != 0;
  for (unsigned i = 0; i < inputs && !reader.failed(); ++i) {
    const auto id = reader.number<std::uint32_t>("a group's input");
    group.inputs.push_back(split ? id >> 16 : id);
    if (split) reader.take(12, "a group's input");
  }
  for (unsigned i = 0; i < outputs && !reader.failed(); ++i)
    group.outputs.push_back(reader.number<std::uint32_t>("a group's output") >> 16);
  if (steps == 0 && !reader.failed()) reader.fail("a group has no steps");
  if (steps == 1) {
    group.layers.push_back(read_layer(reader, false));
    return group;
  }
  for (std::uint32_t step = 0; step < steps && !reader.failed(); ++step) {
    const auto layers = reader.count("layers", 24);
    for (std::uint32_t i = 0; i < layers && !reader.failed(); ++i) group.layers.push_back(read_layer(reader, true));
    const auto transfers = reader.count("transfers", 12);
    for (std::uint32_t i = 0; i < transfers && !reader.failed(); ++i) {
      if (pipeline > 1) reader.number<std::uint32_t>("a transfer's stage");
      ListedTransfer transfer;
      transfer.type = reader.number<std::uint32_t>("a transfer's type");
      const auto magic = reader.number<std::uint32_t>("a transfer's mark");
      if (magic != kPlain && !reader.failed()) reader.fail(fmt::format("a transfer's mark is {:#x}", magic));
      transfer.parameters = reader.take(reader.number<std::uint32_t>("a transfer's length"), "a transfer");
      group.transfers.push_back(transfer);
    }
  }
  return group;
}

struct LayerName {
  std::uint32_t type;
  const char* name;
};
constexpr LayerName kNames[] = {{0, "convolution"},
                                {1, "pooling"},
                                {3, "fully connected"},
                                {7, "concatenation"},
                                {11, "relu"},
                                {18, "reshape"},
                                {19, "softmax"},
                                {20, "resize"},
                                {22, "deconvolution"},
                                {24, "multiply and shift"},
                                {26, "padding"},
                                {27, "index of the extreme"},
                                {28, "tile"},
                                {29, "select"},
                                {31, "binary operation"},
                                {32, "binary operation with a constant"},
                                {35, "activation"},
                                {38, "shape of a tensor"},
                                {41, "slice of a shape"},
                                {42, "concatenation of shapes"},
                                {43, "reshape to a shape"},
                                {49, "transpose"},
                                {50, "reduction"},
                                {51, "strided slice"},
                                {57, "top-k"},
                                {65, "batched product"},
                                {66, "nearest upsampling"},
                                {71, "conversion of a shape"},
                                {74, "conversion"},
                                {78, "tensor to shape"},
                                {92, "nonzero"},
                                {96, "gather"},
                                {102, "depth and space"},
                                {106, "table"},
                                {109, "3-D convolution"},
                                {116, "LSTM"},
                                {131, "layer norm"},
                                {132, "quantisation"},
                                {133, "requantisation"},
                                {134, "dequantisation"},
                                {152, "instance norm"},
                                {154, "rms norm"},
                                {155, "product with 4- or 8-bit weights"},
                                {172, "rotary embedding"},
                                {177, "attention"},
                                {10009, "attention over heads"}};

Error refuse(const std::string& why) { return {ErrorKind::kUnsupported, why}; }

std::int64_t elements_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return -1;
  }
  return count;
}

Result<Extents> reshaped(const ListedLayer& layer, const Extents& from) {
  constexpr std::uint32_t kMarked = 0x08000000;
  const auto head = static_cast<std::uint32_t>(layer.word(0));
  const bool marks = (head & kMarked) != 0;
  const std::uint32_t count = head & ~kMarked;
  if (count > kMostExtents) return refuse(fmt::format("it has {} dimensions", count));
  Extents to;
  std::optional<std::size_t> open;  // the one that takes the rest
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int32_t word = layer.word(1 + i);
    if (word == -1) {
      if (open) return refuse("two of its extents are the rest");
      open = i;
      to.push_back(1);
    } else if (marks ? (static_cast<std::uint32_t>(word) & kMarked) == 0 : word == 0) {
      const std::size_t copied = marks ? static_cast<std::size_t>(word) : i;
      if (copied >= from.size()) return refuse(fmt::format("it copies extent {} of {}", copied, from.size()));
      to.push_back(from[copied]);
    } else {
      to.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(word) & ~kMarked));
    }
  }
  const std::int64_t all = elements_of(from);
  const std::int64_t known = elements_of(to);
  if (open && known > 0) to[*open] = all / known;
  if (elements_of(to) != all)
    return refuse(fmt::format("[{}] cannot become [{}]", fmt::join(from, ", "), fmt::join(to, ", ")));
  return to;
}

bool is_whole(std::uint32_t type) { return type >= 2 && type <= 7; }
bool is_float(std::uint32_t type) { return type <= 1 || type == 8; }

}  // namespace

std::int32_t ListedLayer::word(std::size_t i) const {
  std::int32_t value = 0;
  if ((i + 1) * sizeof(value) <= parameters.size())
    std::memcpy(&value, parameters.data() + i * sizeof(value), sizeof(value));
  return value;
}

std::uint64_t ListedLayer::address(std::size_t i) const {
  return static_cast<std::uint32_t>(word(i)) | std::uint64_t{static_cast<std::uint32_t>(word(i + 1))} << 32;
}

Result<LayerList> read_layer_list(std::span<const std::uint8_t> bytes, std::size_t inputs, std::size_t outputs) {
  ListReader reader(bytes);
  LayerList list;
  list.inputs = reader.numbers(inputs, "an input");
  list.outputs = reader.numbers(outputs, "an output");
  const auto groups = reader.count("groups", 16);
  for (std::uint32_t i = 0; i < groups && !reader.failed(); ++i) list.groups.push_back(read_group(reader));
  if (!reader.failed() && reader.rest() != 0) reader.fail(fmt::format("{} bytes belong to nothing", reader.rest()));
  if (reader.failed()) return Error{ErrorKind::kUsage, "its list of layers is damaged: " + reader.fault()};
  return list;
}

std::string name_of_layer(std::uint32_t type) {
  const auto* const found =
      std::find_if(std::begin(kNames), std::end(kNames), [type](const LayerName& one) { return one.type == type; });
  return found == std::end(kNames) ? fmt::format("a layer of type {}", type)
                                   : fmt::format("{} ({})", found->name, type);
}

Result<std::vector<SliceRange>> slices_of(const ListedLayer& layer, const Extents& extents) {
  constexpr std::size_t kBegin = 2, kEnd = 10, kStep = 18, kCount = 26, kRest = 27;
  for (std::size_t i = kRest; i < kRest + 4; ++i) {
    if (layer.word(i) != 0) return refuse("a slice that adds or drops dimensions, or whose borders are tensors");
  }
  if (static_cast<std::size_t>(layer.word(kCount)) != extents.size())
    return refuse(fmt::format("a slice of {} dimensions of {}", layer.word(kCount), extents.size()));
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t step = layer.word(kStep + i);
    if (step < 1) return refuse(fmt::format("a slice with step {}", step));
    const auto place = [&](std::size_t word) {
      const std::int64_t at = layer.word(word + i);
      return std::clamp<std::int64_t>(at < 0 ? at + extents[i] : at, 0, extents[i]);
    };
    const std::int64_t begin = ((layer.word(0) >> i) & 1) != 0 ? 0 : place(kBegin);
    const std::int64_t end = ((layer.word(1) >> i) & 1) != 0 ? extents[i] : place(kEnd);
    ranges.push_back({begin, step, std::max<std::int64_t>(0, (end - begin + step - 1) / step)});
  }
  return ranges;
}

Result<std::vector<ShapedTensor>> results_of(const ListedLayer& layer, std::span<const ShapedTensor> inputs) {
  if (layer.local) return refuse("its operands lie in local memory");
  if (layer.inputs.size() != inputs.size() || layer.outputs.empty() || inputs.empty())
    return refuse(fmt::format("{} inputs and {} outputs", layer.inputs.size(), layer.outputs.size()));
  const ShapedTensor& first = inputs[0];
  const auto rank = static_cast<std::int64_t>(first.extents.size());
  std::vector<ShapedTensor> results;
  for (const Operand& output : layer.outputs) results.push_back({output.type.value_or(first.type), first.extents});
  const auto needs = [&](std::size_t words) { return layer.parameters.size() >= words * sizeof(std::int32_t); };
  const auto same_type = [&] { return results[0].type == first.type; };
  switch (layer.type) {
    case 7: {  // inputs, axis
      const std::int64_t axis = layer.word(1);
      if (!needs(2) || axis < 0 || axis >= rank || !same_type()) return refuse("these parameters");
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        Extents other = inputs[i].extents;
        if (other.size() != first.extents.size() || inputs[i].type != first.type)
          return refuse("inputs of different kinds");
        results[0].extents[static_cast<std::size_t>(axis)] += other[static_cast<std::size_t>(axis)];
        other[static_cast<std::size_t>(axis)] = first.extents[static_cast<std::size_t>(axis)];
        if (other != first.extents) return refuse("inputs of different extents");
      }
      return results;
    }
    case 18: {
      if (!needs(9) || !same_type()) return refuse("these parameters");
      auto to = reshaped(layer, first.extents);
      if (!to) return to.error();
      results[0].extents = *std::move(to);
      return results;
    }
    case 49: {  // u64 buffer, order
      if (!needs(2 + static_cast<std::size_t>(rank)) || !same_type()) return refuse("these parameters");
      std::vector<bool> seen(static_cast<std::size_t>(rank));
      for (std::int64_t i = 0; i < rank; ++i) {
        const std::int32_t from = layer.word(2 + static_cast<std::size_t>(i));
        if (from < 0 || from >= rank || seen[static_cast<std::size_t>(from)]) return refuse("this order");
        seen[static_cast<std::size_t>(from)] = true;
        results[0].extents[static_cast<std::size_t>(i)] = first.extents[static_cast<std::size_t>(from)];
      }
      return results;
    }
    case 51: {
      if (!needs(31) || !same_type()) return refuse("these parameters");
      const auto ranges = slices_of(layer, first.extents);
      if (!ranges) return ranges.error();
      for (std::size_t i = 0; i < ranges->size(); ++i) results[0].extents[i] = (*ranges)[i].count;
      return results;
    }
    case 57: {  // k, axis, descending, unset, values, indices
      const std::int64_t k = layer.word(0);
      if (!needs(8) || rank == 0 || layer.word(1) != rank - 1) return refuse("an axis that is not the last one");
      if (first.type != 0 || results.size() != 2 || results[0].type != 0 || results[1].type != 6)
        return refuse("types other than f32 and i32");
      if (k < 1 || k > first.extents.back())
        return refuse(fmt::format("the largest {} of {} elements", k, first.extents.back()));
      for (ShapedTensor& result : results) result.extents.back() = k;
      return results;
    }
    case 74: {  // from, to, rounding
      if (!needs(3) || layer.word(2) < 0 || layer.word(2) > 6) return refuse("this rounding");
      const std::uint32_t to = results[0].type;
      if ((!is_float(first.type) && !is_whole(first.type)) || (!is_float(to) && !is_whole(to)))
        return refuse("this type");
      return results;
    }
    default: return refuse("this layer");
  }
}

std::vector<std::string> faults_of(const LayerList& list, std::span<const ShapedTensor> inputs) {
  std::vector<std::string> faults;
  std::map<std::uint32_t, std::optional<ShapedTensor>> known;  // empty: made by a layer that is refused
  for (std::size_t i = 0; i < list.inputs.size() && i < inputs.size(); ++i) known[list.inputs[i]] = inputs[i];
  std::size_t number = 0;
  for (const ListedGroup& group : list.groups) {
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
        all = all && (layer.local || found != known.end());
        // Behind a layer that is refused, the greatest shape of the list stands for what it would have made.
        const bool is_known = found != known.end() && found->second;
        given.push_back(is_known ? *found->second : ShapedTensor{input.type.value_or(0), input.extents});
      }
      const auto results = all ? results_of(layer, given) : Error{ErrorKind::kUsage, "an input that nothing makes"};
      if (!results) {
        const std::string name = name_of_layer(layer.type);
        const bool local = layer.local && layer.type != 0;
        faults.push_back(fmt::format("layer {} of its list, {}{}", number, name,
                                     local || results.error().text == "this layer" ? "" : ": " + results.error().text));
      }
      for (std::size_t i = 0; i < layer.outputs.size(); ++i)
        known[layer.outputs[i].id] = results ? std::optional((*results)[i]) : std::nullopt;
    }
  }
  for (const std::uint32_t output : list.outputs) {
    if (known.find(output) == known.end()) faults.emplace_back("nothing makes one of its outputs");
  }
  return faults;
}

}  // namespace softtpu::bmodel
