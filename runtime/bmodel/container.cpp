#include "runtime/bmodel/container.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "model_generated.h"
#include "runtime/bmodel/host_layer.hpp"
#include "runtime/bmodel/layer_list.hpp"

namespace softtpu::bmodel {
namespace {

constexpr std::uint32_t kMagic = 0xFF55AAEE;
constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint32_t kMostCores = 64;

Error bad(std::string text) { return {ErrorKind::kUsage, "not a .bmodel file that can be read: " + std::move(text)}; }

std::uint32_t word(Bytes file, std::uint64_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, file.data() + offset, sizeof(value));
  return value;
}

template <class T>
std::string text(const T* value) {
  return value != nullptr ? value->str() : std::string();
}

// Elements of a vector that may be missing.
template <class T>
std::vector<const T*> items(const flatbuffers::Vector<flatbuffers::Offset<T>>* list) {
  std::vector<const T*> result;
  if (list == nullptr) return result;
  for (const T* item : *list) {
    if (item != nullptr) result.push_back(item);
  }
  return result;
}

// Numbers of a vector that may be missing. The verifier of FlatBuffers looks at where a vector's length stands, not at
// where its numbers do: a file may have them at an address that is no multiple of eight.
std::vector<std::uint64_t> numbers(const flatbuffers::Vector<std::uint64_t>* list) {
  std::vector<std::uint64_t> result(list == nullptr ? 0 : list->size());
  if (!result.empty()) std::memcpy(result.data(), list->Data(), result.size() * sizeof(std::uint64_t));
  return result;
}

// Reads the tables. What is wrong is kept as the first sentence, so that the readers need no branches.
class Reader {
 public:
  Reader(Bytes binary, const Decrypt& decrypt, const Fetch& fetch)
      : binary_(binary), decrypt_(decrypt), fetch_(fetch) {}

  const std::string& fault() const { return fault_; }

  Model model(const fbs::Model& from) {
    Model model;
    model.chip = chip_ = text(from.chip());
    model.version = text(from.version());
    model.time = text(from.time());
    if (const fbs::KernelModule* module = from.kernel_module(); module != nullptr) {
      model.firmware_name = text(module->file_name());
      model.firmware = part(module->binary(), "the firmware");
    }
    for (const fbs::Net* net : items(from.net())) model.networks.push_back(network(*net));
    model.decrypted = std::move(decrypted_);
    return model;
  }

 private:
  void fail(std::string sentence) {
    if (fault_.empty()) fault_ = std::move(sentence);
  }

  Bytes part(const fbs::Binary* range, const std::string& what) {
    const Bytes found = find(range, what);
    fetch(found, what);
    return found;
  }

  void fetch(Bytes part, const std::string& what) {
    if (!fetch_ || part.empty()) return;
    if (auto fetched = fetch_(part); !fetched) fail(fmt::format("{}: {}", what, fetched.error().text));
  }

  Bytes find(const fbs::Binary* range, const std::string& what) {
    if (range == nullptr || range->size() == 0) return {};
    if (range->start() > binary_.size() || range->size() > binary_.size() - range->start()) {
      fail(fmt::format("{} would be bytes {} to {}, but the part has {} bytes", what, range->start(),
                       range->start() + range->size(), binary_.size()));
      return {};
    }
    return binary_.subspan(range->start(), range->size());
  }

  Network network(const fbs::Net& from) {
    Network network{text(from.name()), from.addr_mode(), {}};
    for (const fbs::NetParameter* stage : items(from.parameter()))
      network.stages.push_back(read_stage(network.name, *stage));
    return network;
  }

  Stage read_stage(const std::string& name, const fbs::NetParameter& from) {
    const std::string where = "network \"" + name + "\"";
    Stage stage;
    for (const fbs::Tensor* tensor : items(from.input_tensor())) stage.inputs.push_back(read_tensor(where, *tensor));
    for (const fbs::Tensor* tensor : items(from.output_tensor())) stage.outputs.push_back(read_tensor(where, *tensor));
    if (const fbs::CoeffMem* memory = from.coeff_mem(); memory != nullptr) {
      stage.coefficient_address = memory->address();
      stage.coefficients = find(memory->binary_coeff(), where + ": the coefficients");
      if (memory->encrypt_mode() != 0) decrypt_coefficients(where, memory->decrypt_size(), stage);
    }
    stage.context_address = from.ctx_addr();
    stage.context_bytes = from.ctx_size();
    stage.context_pieces = numbers(from.ctx_sizes());
    stage.io_address = from.io_addr();
    stage.io_bytes = from.io_size();
    stage.dynamic = from.is_dynamic() != 0;
    const auto dynamic_parts = items(from.sub_net());
    if (stage.dynamic && std::none_of(dynamic_parts.begin(), dynamic_parts.end(),
                                      [](const fbs::SubNet* part) { return part->is_dynamic() != 0; }))
      stage.refusals.push_back("it is compiled for dynamic shapes, which need the chip's firmware");
    if (const Bytes map = part(from.tensor_loc(), where + ": the map of tensors"); !map.empty()) {
      auto layers = read_tensor_map({reinterpret_cast<const char*>(map.data()), map.size()});
      if (layers)
        stage.layers = *std::move(layers);
      else
        stage.map_fault = layers.error().text;
    }
    stage.cores = std::max(1U, from.core_num());
    if (stage.cores > kMostCores)
      return fail(fmt::format("{} is compiled for {} cores (limit {})", where, stage.cores, kMostCores)), stage;
    read_parts(where, from, stage);
    return stage;
  }

  void decrypt_coefficients(const std::string& where, std::uint64_t bytes, Stage& stage) {
    if (!decrypt_) return stage.refusals.push_back("its coefficients are encrypted");
    fetch(stage.coefficients, where + ": the coefficients");
    if (!fault_.empty()) return;
    auto plain = decrypt_(stage.coefficients);
    if (!plain) return fail(fmt::format("{}: the coefficients: {}", where, plain.error().text));
    if (bytes != 0 && plain->size() != bytes)
      return fail(
          fmt::format("{}: the coefficients have {} bytes when decrypted, not {}", where, plain->size(), bytes));
    stage.coefficients = decrypted_.emplace_back(*std::move(plain));
  }

  // The commands: of the parts where there are any, else of the stage itself.
  void read_parts(const std::string& where, const fbs::NetParameter& from, Stage& stage) {
    const auto parts = items(from.sub_net());
    if (parts.empty()) read_groups(where, from.cmd_group(), 0, stage);
    std::set<std::string> known;
    for (const auto* tensors : {&stage.inputs, &stage.outputs}) {
      for (const Tensor& tensor : *tensors) known.insert(tensor.name);
    }
    std::size_t position = 0;
    for (const fbs::SubNet* part : parts) {
      for (const auto* tensors : {part->input_tensor(), part->output_tensor()}) {
        for (const fbs::Tensor* tensor : items(tensors)) {
          if (known.insert(text(tensor->name())).second) stage.between.push_back(read_tensor(where, *tensor));
        }
      }
      constexpr const char* kKinds[] = {"", "", "merges branches", "switches between branches"};
      const int kind = part->subnet_mode();
      const std::size_t known_parts = stage.dynamic_parts.size();
      const std::size_t known_left_out = stage.left_out.size();
      stage.parts.push_back({names_of(part->input_tensor()), names_of(part->output_tensor())});
      if (kind == 1) {
        read_host_part(where, *part, stage);
      } else if (kind != 0) {
        stage.left_out.push_back(fmt::format("part {} {}{}", part->id(),
                                             kind > 0 && kind < 4 ? kKinds[kind] : "is of an unknown kind",
                                             layers_of(*part, stage)));
      } else if (part->is_dynamic() != 0) {
        read_dynamic_part(where, from, *part, stage);
      } else if (part->core_commands() != nullptr && part->core_commands()->size() > 0) {
        read_cores(where, *part, stage);
      } else {
        read_groups(where, part->cmd_group(), part->id() < 0 ? 0U : static_cast<std::uint32_t>(part->id()), stage);
      }
      if (stage.dynamic_parts.size() > known_parts) stage.dynamic_parts.back().position = position;
      if (stage.left_out.size() > known_left_out) stage.missing.insert(position);
      ++position;
    }
    find_readers(parts, stage);
    add_layers(stage, std::move(stage.layers));
    if (stage.groups.empty() && stage.refusals.empty() && stage.left_out.empty() && stage.dynamic_parts.empty())
      stage.refusals.push_back("it has no instructions");
  }

  static std::vector<std::string> names_of(const flatbuffers::Vector<flatbuffers::Offset<fbs::Tensor>>* tensors) {
    std::vector<std::string> names;
    for (const fbs::Tensor* tensor : items(tensors)) names.push_back(text(tensor->name()));
    return names;
  }

  // One layer, which is known by its number alone.
  void read_host_part(const std::string& where, const fbs::SubNet& part, Stage& stage) {
    const auto leave_out = [&](const std::string& why) {
      stage.left_out.push_back(
          fmt::format("part {} runs on the host's processor{}{}", part.id(), layers_of(part, stage), why));
    };
    const auto operations = items(part.cpu_param());
    if (operations.size() != 1) {
      const std::size_t count = operations.size();
      return leave_out(count == 0 ? ": the file does not say which layer"
                                  : fmt::format(": {} layers, whose operands are not decoded", count));
    }
    const fbs::CpuParam& operation = *operations[0];
    if (operation.is_custom() != 0) return leave_out(": what a library of custom layers exports is not published");
    if (stage.cores > 1) return leave_out(fmt::format(": the network is compiled for {} cores", stage.cores));
    DynamicPart read;
    read.id = part.id() < 0 ? 0U : static_cast<std::uint32_t>(part.id());
    for (const fbs::Tensor* tensor : items(part.input_tensor())) read.inputs.push_back(read_tensor(where, *tensor));
    for (const fbs::Tensor* tensor : items(part.output_tensor())) read.outputs.push_back(read_tensor(where, *tensor));
    for (const fbs::CpuConst* constant : items(operation.cpu_const())) {
      const std::string name = text(constant->name());
      const auto input =
          std::find_if(read.inputs.begin(), read.inputs.end(), [&](const Tensor& one) { return one.name == name; });
      if (input == read.inputs.end())
        return leave_out(fmt::format(": its constant \"{}\" is none of its inputs", name));
      const Bytes bytes = this->part(constant->const_data(), where + ": a constant of the host's processor");
      if (bytes.size() != input->bytes)
        return leave_out(
            fmt::format(": its constant \"{}\" has {} bytes, the input {}", name, bytes.size(), input->bytes));
      read.constants.emplace_back(name, bytes);
    }
    read.host = HostLayer{operation.op_type(), this->part(operation.binary_param(), where + ": a layer's parameters")};
    if (const std::string why = why_not_on_host(*read.host, read.inputs, read.outputs); !why.empty())
      return leave_out(": " + why);
    read.label = fmt::format("part {}{}", part.id(), layers_of(part, stage));
    read.groups_before = stage.groups.size();
    stage.dynamic_parts.push_back(std::move(read));
  }

  // Which results of the host's processor go on to instructions, and which tensors the device never has.
  static void find_readers(const std::vector<const fbs::SubNet*>& parts, Stage& stage) {
    std::set<std::string> of_others;
    std::set<std::string> of_host;
    std::set<std::string> read;  // by instructions, from the last part to the first
    auto next = stage.dynamic_parts.rbegin();
    for (std::size_t i = parts.size(); i-- > 0;) {
      const fbs::SubNet& part = *parts[i];
      for (; next != stage.dynamic_parts.rend() && next->position == i; ++next) {
        for (const Tensor& output : next->outputs) next->read_later.push_back(read.contains(output.name));
      }
      const bool on_host = part.subnet_mode() == 1;
      const bool is_static = part.subnet_mode() == 0 && part.is_dynamic() == 0;
      for (const auto* tensors : {part.input_tensor(), part.output_tensor()}) {
        for (const fbs::Tensor* tensor : items(tensors)) {
          (on_host ? of_host : of_others).insert(text(tensor->name()));
          if (is_static && tensors == part.input_tensor()) read.insert(text(tensor->name()));
        }
      }
    }
    std::set_difference(of_host.begin(), of_host.end(), of_others.begin(), of_others.end(),
                        std::inserter(stage.on_host_alone, stage.on_host_alone.end()));
  }

  void read_dynamic_part(const std::string& where, const fbs::NetParameter& from, const fbs::SubNet& part,
                         Stage& stage) {
    DynamicPart read;
    read.id = part.id() < 0 ? 0U : static_cast<std::uint32_t>(part.id());
    for (const fbs::Tensor* tensor : items(part.input_tensor())) read.inputs.push_back(read_tensor(where, *tensor));
    for (const fbs::Tensor* tensor : items(part.output_tensor())) read.outputs.push_back(read_tensor(where, *tensor));
    const Bytes lists = this->part(from.binary_ir(), where + ": the lists of layers");
    if (part.ir_offset() <= lists.size() && part.ir_len() <= lists.size() - part.ir_offset())
      read.list = lists.subspan(part.ir_offset(), part.ir_len());
    read.gathers_rows = chip_ == "BM1684" && gathers_rows(read);
    const std::string why = read.gathers_rows ? std::string() : why_not(read, stage.cores);
    if (!why.empty())
      read.fault = fmt::format("part {} needs the chip's firmware{}{}", part.id(), layers_of(part, stage), why);
    read.groups_before = stage.groups.size();
    if (read.gathers_rows || (!read.list.empty() && is_known_chip() && stage.cores == 1))
      return stage.dynamic_parts.push_back(std::move(read));
    stage.left_out.push_back(std::move(read.fault));
  }

  bool is_known_chip() const { return chip_ == "BM1684X"; }

  static bool gathers_rows(const DynamicPart& part) {
    if (part.inputs.size() != 2 || part.outputs.size() != 1) return false;
    const Tensor& table = part.inputs[0];
    const Tensor& indices = part.inputs[1];
    const Tensor& result = part.outputs[0];
    if (table.shape.empty() || table.type != result.type || bits_of(table.type) % 8 != 0 ||
        indices.type != DataType::kInt32)
      return false;
    std::vector<std::uint64_t> wanted = indices.shape;
    wanted.insert(wanted.end(), table.shape.begin() + 1, table.shape.end());
    return wanted == result.shape && is_row_gather_of_bm1684(part.list, indices.bytes / sizeof(std::int32_t));
  }

  // ": ..." with the layers that softtpu's own module does not carry out.
  std::string why_not(const DynamicPart& part, std::uint32_t cores) const {
    if (part.list.empty()) return ": it has no list of layers";
    if (cores > 1) return fmt::format(": it is compiled for {} cores", cores);
    if (!is_known_chip()) return ": lists of layers are known for BM1684X only, but one that gathers rows on BM1684";
    const auto list = read_layer_list(part.list, part.inputs.size(), part.outputs.size());
    if (!list) return ": " + list.error().text;
    std::vector<ShapedTensor> inputs;
    for (const Tensor& tensor : part.inputs)
      inputs.push_back({static_cast<std::uint32_t>(tensor.type), {tensor.shape.begin(), tensor.shape.end()}});
    const auto faults = faults_of(*list, inputs, WhoseSizes::kGreatest);
    return faults.empty() ? "" : fmt::format(": {}", fmt::join(faults, "; "));
  }

  // The layers of a part that cannot run, " (layer top_k, operation 12)". The map of tensors has them all; without it
  // the file has the names of the part's results, which compilers give after their layers, and the number of an
  // operation for the host's processor.
  static std::string layers_of(const fbs::SubNet& part, const Stage& stage) {
    std::vector<std::string> names;
    for (const Layer& layer : stage.layers) {
      if (part.id() >= 0 && layer.part == static_cast<std::uint32_t>(part.id())) names.push_back(layer.label());
    }
    if (names.empty()) {
      for (const fbs::Tensor* tensor : items(part.output_tensor())) names.push_back(text(tensor->name()));
    }
    return in_brackets(names, operations_of(part));
  }

  static std::string operations_of(const fbs::SubNet& part) {
    std::string all;
    for (const fbs::CpuParam* operation : items(part.cpu_param()))
      all += fmt::format(", {}operation {}", operation->is_custom() != 0 ? "custom " : "", operation->op_type());
    return all;
  }

  static std::string in_brackets(const std::vector<std::string>& names, const std::string& operations) {
    constexpr std::size_t kShown = 12;
    if (names.empty()) return operations.empty() ? "" : " (" + operations.substr(2) + ")";
    const std::size_t shown = std::min(names.size(), kShown);
    std::string all = fmt::format(" (layer{} {}", names.size() == 1 ? "" : "s",
                                  fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < names.size()) all += fmt::format(" and {} more", names.size() - shown);
    return all + operations + ")";
  }

  void read_groups(const std::string& where, const flatbuffers::Vector<flatbuffers::Offset<fbs::CmdGroup>>* list,
                   std::uint32_t part, Stage& stage) {
    for (const fbs::CmdGroup* from : items(list)) {
      CommandGroup group{from->bdc_num(), from->gdma_num(), {}, {}, {}, part, 0, {}};
      group.tiu = stream(from->binary_bdc(), from->bdc_cmd_byte(), where + ": the TIU instructions");
      group.dma = stream(from->binary_gdma(), from->gdma_cmd_byte(), where + ": the DMA instructions");
      read_relocations(where, *from, group);
      stage.groups.push_back(std::move(group));
    }
  }

  // Each core has its own streams; the groups of one number run at the same time.
  void read_cores(const std::string& where, const fbs::SubNet& from, Stage& stage) {
    const std::uint32_t part = from.id() < 0 ? 0U : static_cast<std::uint32_t>(from.id());
    std::uint32_t core = 0;
    for (const fbs::CoreCommands* commands : items(from.core_commands())) {
      if (core >= stage.cores) {
        if (core >= kMostCores) return fail(fmt::format("{} has commands of more than {} cores", where, kMostCores));
        stage.cores = core + 1;
      }
      const std::size_t first = stage.groups.size();
      read_groups(where, commands->gdma_tiu_commands(), part, stage);
      std::size_t sdma = 0;
      if (commands->sdma_commands() != nullptr) {
        for (const fbs::Binary* range : *commands->sdma_commands()) {
          if (first + sdma == stage.groups.size()) stage.groups.emplace_back().part = part;
          stage.groups[first + sdma++].sdma = this->part(range, where + ": the SDMA instructions");
        }
      }
      for (std::size_t i = first; i < stage.groups.size(); ++i) stage.groups[i].core = core;
      for (const auto* list : {commands->hau_commands(), commands->cdma_commands()}) {
        if (list == nullptr) continue;
        if (std::any_of(list->begin(), list->end(), [](const fbs::Binary* one) { return one->size() != 0; }))
          stage.left_out.push_back(fmt::format("core {} has instructions for HAU or CDMA", core));
      }
      ++core;
    }
  }

  void read_relocations(const std::string& where, const fbs::CmdGroup& from, CommandGroup& group) {
    constexpr std::uint64_t kAddressBytes = 5;
    if (from.reloc_entries() == nullptr) return;
    for (const fbs::RelEntry* entry : *from.reloc_entries()) {
      if (entry->cmd_offset() + kAddressBytes > group.dma.size()) {
        fail(fmt::format("{}: an address at byte {} does not fit the DMA instructions ({} bytes)", where,
                         entry->cmd_offset(), group.dma.size()));
        return;
      }
      group.relocations.push_back({entry->base_addr_id(), entry->addr_offset(), entry->cmd_offset()});
    }
  }

  Bytes stream(const fbs::Binary* range, std::uint32_t bytes, const std::string& what) {
    const Bytes all = part(range, what);
    if (bytes == 0) return all;
    if (bytes > all.size()) {
      fail(fmt::format("{} have {} bytes, their part of the file has {}", what, bytes, all.size()));
      return {};
    }
    return all.subspan(0, bytes);
  }

  Tensor read_tensor(const std::string& where, const fbs::Tensor& from) {
    Tensor tensor{text(from.name()), DataType::kFloat32, {}, from.device_addr(), 0,
                  from.scale(),      from.zero_point(),  {}};
    if (from.relentry() != nullptr) tensor.base_id = from.relentry()->base_addr_id();
    if (from.gmem_stmode() != 0)
      fail(fmt::format("{}, tensor \"{}\": storage mode {} is not known", where, tensor.name, from.gmem_stmode()));
    if (from.data_type() > static_cast<std::uint32_t>(DataType::kUint4)) {
      fail(fmt::format("{}, tensor \"{}\": data type {} is not known", where, tensor.name, from.data_type()));
      return tensor;
    }
    tensor.type = static_cast<DataType>(from.data_type());
    std::uint64_t elements = 1;
    const auto shapes = items(from.shape());
    if (!shapes.empty()) {
      for (const std::uint64_t extent : numbers(shapes[0]->dim())) {
        if (extent != 0 && elements > kMaxElements / extent) {
          fail(fmt::format("{}, tensor \"{}\" has more than {} elements", where, tensor.name, kMaxElements));
          return tensor;
        }
        elements *= extent;
        tensor.shape.push_back(extent);
      }
    }
    tensor.bytes = (elements * static_cast<unsigned>(bits_of(tensor.type)) + 7) / 8;
    return tensor;
  }

  Bytes binary_;
  const Decrypt& decrypt_;
  const Fetch& fetch_;
  std::vector<std::vector<std::uint8_t>> decrypted_;
  std::string chip_, fault_;
};

constexpr std::string_view kPointer = "version https://git-lfs";

// What is wrong with a header; its bytes are there.
Result<void> check_header(Bytes file, std::uint64_t file_bytes) {
  if (file.size() < kHeaderBytes)
    return bad(fmt::format("it has {} bytes, a header has {}", file.size(), kHeaderBytes));
  if (std::string_view(reinterpret_cast<const char*>(file.data()), kPointer.size()) == kPointer)
    return bad("it is a pointer of Git LFS, which stands for the file: \"git lfs pull\" fetches it");
  if (word(file, 0) != kMagic) return bad(fmt::format("it begins with {:#010x}, not {:#010x}", word(file, 0), kMagic));
  const std::uint64_t header = word(file, 4);
  const std::uint64_t tables = word(file, 8);
  if (header < kHeaderBytes || header > file_bytes || tables > file_bytes - header) {
    return bad(fmt::format("its header of {} bytes and its tables of {} are longer than the file of {}", header, tables,
                           file_bytes));
  }
  return {};
}

// Flatbuffers are read in place, and their numbers have to be aligned.
std::vector<std::uint8_t> tables_of(Bytes file) {
  const std::uint64_t header = word(file, 4);
  const auto from = file.begin() + static_cast<std::ptrdiff_t>(header);
  return {from, from + word(file, 8)};
}

bool are_tables(const std::vector<std::uint8_t>& bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  return fbs::VerifyModelBuffer(verifier);
}

}  // namespace

Result<std::uint64_t> head_bytes(Bytes header, std::uint64_t file_bytes) {
  if (auto good = check_header(header, file_bytes); !good) return good.error();
  return std::uint64_t{word(header, 4)} + word(header, 8);
}

Result<Model> read_model(Bytes file, const Decrypt& decrypt, const Fetch& fetch) {
  std::vector<std::uint8_t> whole;
  Fetch fetch_part = fetch;
  if (decrypt && file.size() >= kHeaderBytes && word(file, 0) != kMagic) {
    if (fetch) {
      if (auto fetched = fetch(file); !fetched) return bad(fetched.error().text);
      fetch_part = {};
    }
    auto plain = decrypt(file);
    if (!plain) return bad(plain.error().text);
    whole = *std::move(plain);
    file = whole;
  }
  if (auto good = check_header(file, file.size()); !good) return good.error();
  std::vector<std::uint8_t> copy = tables_of(file);
  const std::size_t length = copy.size();
  if (!are_tables(copy)) {
    if (!decrypt) return bad("its tables are damaged");
    auto plain = decrypt(copy);
    if (!plain) return bad("its tables: " + plain.error().text);
    copy = *std::move(plain);
    if (!are_tables(copy)) return bad("its tables are damaged, or the function does not decrypt them");
  }
  Reader reader(file.subspan(word(file, 4) + length), decrypt, fetch_part);
  Model model = reader.model(*fbs::GetModel(copy.data()));
  if (!reader.fault().empty()) return bad(reader.fault());
  if (!whole.empty()) model.decrypted.push_back(std::move(whole));
  return model;
}

namespace {

class Sizes {
 public:
  explicit Sizes(std::uint64_t step) : step_(step) {}
  const MemorySizes& all() const { return all_; }

  void add(const fbs::Net& net, const fbs::NetParameter& stage) {
    const auto whole = [this](std::uint64_t bytes) { return (bytes + step_ - 1) / step_ * step_; };
    all_.between += whole(stage.ctx_size());
    all_.inputs_and_outputs += whole(stage.io_size());
    if (net.addr_mode() == kIoTag || net.addr_mode() == kIoTagFuse) {
      for (const auto* tensors : {stage.input_tensor(), stage.output_tensor()}) {
        for (const fbs::Tensor* tensor : items(tensors)) all_.inputs_and_outputs += whole(bytes_of(*tensor));
      }
    }
    if (const fbs::CoeffMem* memory = stage.coeff_mem(); memory != nullptr && memory->binary_coeff() != nullptr) {
      const std::uint64_t bytes = memory->encrypt_mode() != 0 && memory->decrypt_size() != 0
                                      ? memory->decrypt_size()
                                      : memory->binary_coeff()->size();
      if (constants_.insert({memory->binary_coeff()->start(), bytes}).second) all_.constants += whole(bytes);
    }
    add(stage.cmd_group(), whole);
    for (const fbs::SubNet* part : items(stage.sub_net())) {
      add(part->cmd_group(), whole);
      if (part->is_dynamic() != 0) all_.instructions += whole((std::uint64_t{part->ir_len()} + 3) / 4 * 4);
      for (const fbs::CoreCommands* commands : items(part->core_commands())) {
        add(commands->gdma_tiu_commands(), whole);
        if (commands->sdma_commands() == nullptr) continue;
        for (const fbs::Binary* range : *commands->sdma_commands()) all_.moving_instructions += whole(range->size());
      }
    }
  }

 private:
  template <class Whole>
  void add(const flatbuffers::Vector<flatbuffers::Offset<fbs::CmdGroup>>* groups, Whole whole) {
    for (const fbs::CmdGroup* group : items(groups)) {
      if (group->binary_bdc() != nullptr) all_.instructions += whole(group->binary_bdc()->size());
      if (group->binary_gdma() != nullptr) all_.moving_instructions += whole(group->binary_gdma()->size());
    }
  }

  // At most four bytes an element: types of more are not known.
  static std::uint64_t bytes_of(const fbs::Tensor& tensor) {
    constexpr std::uint64_t kWidest = 4;
    std::uint64_t bytes = kWidest;
    const auto shapes = items(tensor.shape());
    for (const std::uint64_t extent : numbers(shapes.empty() ? nullptr : shapes[0]->dim())) {
      if (extent == 0 || bytes > kMaxElements / extent) return 0;  // refused when the network is loaded
      bytes *= extent;
    }
    return bytes;
  }

  std::uint64_t step_;
  MemorySizes all_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> constants_;
};

}  // namespace

Result<MemorySizes> read_memory_sizes(Bytes head, std::uint64_t step) {
  if (auto good = check_header(head, head.size()); !good) return good.error();
  const std::vector<std::uint8_t> copy = tables_of(head);
  if (!are_tables(copy)) return bad("its tables are damaged");
  Sizes sizes(step);
  for (const fbs::Net* net : items(fbs::GetModel(copy.data())->net())) {
    for (const fbs::NetParameter* stage : items(net->parameter())) sizes.add(*net, *stage);
  }
  return sizes.all();
}

}  // namespace softtpu::bmodel
