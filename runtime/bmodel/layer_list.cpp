#include "runtime/bmodel/layer_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace softtpu::bmodel {
namespace {

constexpr std::uint32_t kPlain = 0x0f00ffff, kWithHead = 0x1f00ffff;
constexpr std::uint64_t kHeadBytes = 16;

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
  if (local) layer.stage = reader.number<std::uint32_t>("a layer's stage") >> 16;
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
  group.steps = steps;
  group.stages = pipeline;
  group.rows = reader.number<std::uint32_t>("the rows of a slice");
  const bool split = (flags & 1) != 0;
  group.split = split;
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
    for (std::uint32_t i = 0; i < layers && !reader.failed(); ++i) {
      group.layers.push_back(read_layer(reader, true));
      group.layers.back().step = step;
    }
    const auto transfers = reader.count("transfers", 12);
    for (std::uint32_t i = 0; i < transfers && !reader.failed(); ++i) {
      ListedTransfer transfer;
      transfer.step = step;
      if (pipeline > 1) transfer.stage = reader.number<std::uint32_t>("a transfer's stage") >> 16;
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
constexpr LayerName kNames[] = {
#define SOFTTPU_LAYER(number, name, rule, global, local, work) {number, name},
#include "runtime/bmodel/layers.def"
};

}  // namespace

std::int32_t ListedLayer::word(std::size_t i) const {
  std::int32_t value = 0;
  if ((i + 1) * sizeof(value) <= parameters.size())
    std::memcpy(&value, parameters.data() + i * sizeof(value), sizeof(value));
  return value;
}

float ListedLayer::number(std::size_t i) const {
  float value = 0;
  const std::int32_t bits = word(i);
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::uint64_t ListedLayer::address(std::size_t i) const {
  return static_cast<std::uint32_t>(word(i)) | std::uint64_t{static_cast<std::uint32_t>(word(i + 1))} << 32;
}

std::uint32_t ListedTransfer::word(std::size_t i) const {
  std::uint32_t value = 0;
  if ((i + 1) * sizeof(value) <= parameters.size())
    std::memcpy(&value, parameters.data() + i * sizeof(value), sizeof(value));
  return value;
}

std::uint64_t ListedTransfer::address() const { return word(0) | std::uint64_t{word(1)} << 32; }

Result<MovedTensor> moved_tensor(const ListedTransfer& transfer) {
  constexpr std::uint32_t kHalf = 0xffff;
  const auto refuse = [&](const char* why) {
    return Error{ErrorKind::kUnsupported, fmt::format("a transfer of type {}{}", transfer.type, why)};
  };
  const auto low = [&](std::size_t i) { return transfer.word(i) & kHalf; };
  const auto high = [&](std::size_t i) { return transfer.word(i) >> 16; };
  const auto has = [&](std::size_t bytes) { return transfer.parameters.size() >= bytes; };
  MovedTensor moved;
  constexpr const char* kPart = " that moves some channels of a tensor";
  switch (static_cast<TransferType>(transfer.type)) {
    case TransferType::kLoadInput:
      if (!has(20)) return refuse(" that is too short");
      if (high(2) != 0 || transfer.word(3) != 0) return refuse(kPart);
      moved = {transfer.word(0), low(1), low(2), {}, transfer.word(4)};
      return moved;
    case TransferType::kLoad:
      if (!has(36)) return refuse(" that is too short");
      if (transfer.word(5) != 0 || transfer.word(7) != 0) return refuse(kPart);
      moved = {transfer.word(2), transfer.word(4), transfer.word(6), {}, transfer.word(8)};
      return moved;
    case TransferType::kStoreOutput:
      if (!has(16)) return refuse(" that is too short");
      if (transfer.word(2) != 0 || transfer.word(3) != 0) return refuse(kPart);
      moved = {transfer.word(0), low(1), low(1), {}, 0};
      return moved;
    case TransferType::kStore:
      if (!has(24)) return refuse(" that is too short");
      if (transfer.word(4) != 0 || transfer.word(5) != 0) return refuse(kPart);
      moved = {transfer.word(2), low(3), low(3), {}, 0};
      return moved;
    case TransferType::kLoadConstant:
      if (!has(28)) return refuse(" that is too short");
      moved = {transfer.word(2), 0, 0, {high(3), low(3), std::int64_t{high(4)} * low(4)}, transfer.word(6)};
      return moved;
    default: return refuse("");
  }
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

bool is_row_gather_of_bm1684(std::span<const std::uint8_t> bytes, std::uint64_t count) {
  constexpr std::size_t kWords = 29;
  std::array<std::uint32_t, kWords> words{};
  if (bytes.size() != sizeof(words)) return false;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  // Numbers of the tensors, then the head of a group with one layer.
  const std::uint32_t table = words[0];
  const std::uint32_t indices = words[1];
  const std::uint32_t result = words[2];
  constexpr std::uint32_t kHead = 0x220102FF;  // two inputs, one output
  const bool heads = words[3] == 1 && words[4] == 0 && words[5] == 1U << 16 && words[6] == kHead &&
                     (words[7] & 0xFF) == 1 && words[9] == table && words[10] == indices && words[11] >> 16 == result;
  // [8]: rows of a slice, [19] and [20]: a buffer, [21]: the axis.
  constexpr std::uint32_t kGather = 96;
  constexpr std::array<std::pair<std::size_t, std::uint32_t>, 14> kRecorded{{{12, kGather},
                                                                             {13, 0},
                                                                             {14, 0},
                                                                             {15, 0},
                                                                             {16, 24},
                                                                             {17, 0},
                                                                             {18, 0},
                                                                             {21, 0},
                                                                             {23, 1},
                                                                             {24, 0},
                                                                             {25, 1},
                                                                             {26, 1},
                                                                             {27, 1},
                                                                             {28, 2}}};
  return heads && words[22] == count && std::all_of(kRecorded.begin(), kRecorded.end(), [&](const auto& one) {
           return words[one.first] == one.second;
         });
}

std::string name_of_layer(std::uint32_t type) {
  const auto* const found =
      std::find_if(std::begin(kNames), std::end(kNames), [type](const LayerName& one) { return one.type == type; });
  return found == std::end(kNames) ? fmt::format("a layer of type {}", type)
                                   : fmt::format("{} ({})", found->name, type);
}

}  // namespace softtpu::bmodel
