// softtpu bmodel disasm: the instructions of a compiled network as text or JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "device/chip/chip.hpp"
#include "device/chip/names.hpp"
#include "device/instruction/address.hpp"
#include "device/instruction/translate.hpp"
#include "runtime/bmodel/runs.hpp"
#include "tools/softtpu/bmodel.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/network_time.hpp"

namespace softtpu::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Entry {
  stream::Instruction instruction;
  std::uint64_t offset = 0;
};

using Areas = std::vector<stream::Area>;

// What the stage's instructions may point to, each where the compiler has put it.
Areas areas_of(const bmodel::Stage& stage) {
  Areas areas;
  const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
    if (bytes > 0 && begin + bytes > begin) areas.push_back({begin, begin + bytes, begin});
  };
  add(stage.coefficient_address, stage.coefficients.size());
  add(stage.context_address, stage.context_bytes);
  add(stage.io_address, stage.io_bytes);
  for (const auto* tensors : {&stage.inputs, &stage.outputs})
    for (const bmodel::Tensor& tensor : *tensors) add(tensor.address, tensor.bytes);
  return areas;
}

// For chips that can be carried out. Each core has its own.
struct Translating {
  Translating(const Chip& of, const Areas& reached) : chip(of), areas(reached), translator(of) {}
  const Chip& chip;
  const Areas& areas;
  stream::Translator translator;
};

// The operands as the command that the instruction stands for has them; empty: it stands for none.
struct Meaning {
  std::string function;
  std::vector<std::string> operands;
};

Meaning meaning_of(Translating* translating, stream::Instruction instruction) {
  if (translating == nullptr) return {};
  if (instruction.format->unit == stream::Unit::kDma) {
    if (auto resolved = stream::resolve_addresses(translating->chip, instruction, translating->areas); !resolved)
      return {"", {resolved.error().text}};
  }
  const auto translated = translating->translator.translate(instruction);
  if (!translated) return {"", {translated.error().text}};
  if (!*translated) return {};
  const stream::Issued* issued = &**translated;
  Meaning meaning{std::string(info(issued->op).name), {}};
  const auto add = [&](Access access, const char* name, const Operand& operand) {
    const char* kind = access == Access::kRead ? "reads" : access == Access::kWrite ? "writes" : "adds to";
    meaning.operands.push_back(fmt::format("{} {} {}", kind, name, to_text(operand)));
  };
  for_each_operand(issued->command, add);
  return meaning;
}

void print_text(Translating* translating, const Entry& entry) {
  print_escaped("{:6}  {}\n", entry.offset, stream::disassemble(entry.instruction));
  const Meaning meaning = meaning_of(translating, entry.instruction);
  if (!meaning.function.empty()) print_escaped("          = {}\n", meaning.function);
  for (const std::string& operand : meaning.operands) print_escaped("            {}\n", operand);
}

void print_json(Translating* translating, const Entry& entry, std::uint32_t core) {
  const stream::Instruction& instruction = entry.instruction;
  const stream::Format& format = *instruction.format;
  OrderedJson fields = OrderedJson::object();
  for (const stream::BitField& place : format.places) {
    if (!place.reserved()) fields[std::string(to_text(place.field))] = instruction[place.field];
  }
  const Meaning meaning = meaning_of(translating, instruction);
  const OrderedJson line = {{"unit", to_text(instruction.unit())},
                            {"core", core},
                            {"offset", entry.offset},
                            {"id", instruction.id()},
                            {"waits_for", instruction.waits_for()},
                            {"instruction", format.name},
                            {"operation", format.function_name(instruction.function())},
                            {"function", meaning.function},
                            {"operands", meaning.operands},
                            {"fields", fields}};
  fmt::print("{}\n", line.dump());
}

Result<std::vector<Entry>> read(const stream::InstructionSet& set, stream::Unit unit, bmodel::Bytes bytes) {
  if (bytes.empty()) return std::vector<Entry>();
  auto instructions = stream::read_stream(set, unit, bytes);
  if (!instructions) return instructions.error();
  std::vector<Entry> entries;
  std::uint64_t offset = 0;
  for (stream::Instruction& instruction : *instructions) {
    const std::uint64_t next = offset + instruction.format->room;
    entries.push_back({std::move(instruction), offset});
    offset = next;
  }
  return entries;
}

// Whether the instructions of a stream give its bytes again. An error names the first that does not.
Result<void> encode_again(const std::vector<Entry>& entries, bmodel::Bytes bytes) {
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    const auto again = stream::encode(entry.instruction);
    if (!again) return again.error();
    std::vector<std::uint8_t> whole = *again;
    whole.resize(entry.instruction.format->room);
    const bmodel::Bytes there = bytes.subspan(entry.offset, std::min(whole.size(), bytes.size() - entry.offset));
    if (!std::equal(there.begin(), there.end(), whole.begin()))
      return Error{ErrorKind::kUsage,
                   fmt::format("{} {}: its fields do not give its bytes at offset {} again",
                               to_text(entry.instruction.unit()), entry.instruction.id(), entry.offset)};
    end = entry.offset + there.size();
  }
  const bmodel::Bytes rest = bytes.subspan(end);
  if (std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; }))
    return Error{ErrorKind::kUsage, fmt::format("the bytes from offset {} on belong to no instruction", end)};
  return {};
}

}  // namespace

int disassemble_model(const BmodelOptions& options) {
  const auto loaded = load_model(options.file);
  if (!loaded) return fail(loaded.error());
  const std::string name = chip_name(loaded->model.chip);
  const auto* set = stream::InstructionSet::find_chip(name);
  if (set == nullptr) set = stream::InstructionSet::find_chip(canonical_chip_name(name));
  if (set == nullptr)
    return fail(
        Error{ErrorKind::kUsage, fmt::format("{}: no instructions of {} are known", options.file, loaded->model.chip)});
  // Of other chips only the fields are known, not what is carried out.
  const bool runs = bmodel::find_runs(name) != nullptr;
  const auto chip = load_chip(name);
  bool found = false;
  std::size_t encoded = 0;
  for (const bmodel::Network& network : loaded->model.networks) {
    if (!options.network.empty() && network.name != options.network) continue;
    for (const bmodel::Stage& stage : network.stages) {
      if (!options.encode && options.stage != &stage - network.stages.data()) continue;
      found = true;
      const Areas areas = areas_of(stage);
      for (const bmodel::CommandGroup& group : stage.groups) {
        std::optional<Translating> translating;
        if (chip && runs) translating.emplace(*chip, areas);
        if (stage.cores > 1 && !options.json && !options.encode) fmt::print("core {}\n", group.core);
        for (const auto& [unit, bytes] :
             {std::pair(stream::Unit::kTiu, group.tiu), std::pair(stream::Unit::kDma, group.dma),
              std::pair(stream::Unit::kSdma, group.sdma)}) {
          const auto entries = read(*set, unit, bytes);
          if (!entries) return fail(entries.error());
          if (options.encode) {
            if (auto same = encode_again(*entries, bytes); !same)
              return fail(Error{same.error().kind, fmt::format("network \"{}\", {} stream of core {}: {}", network.name,
                                                               to_text(unit), group.core, same.error().text)});
            encoded += entries->size();
            continue;
          }
          Translating* const of = translating ? &*translating : nullptr;
          for (const Entry& entry : *entries) options.json ? print_json(of, entry, group.core) : print_text(of, entry);
        }
      }
    }
  }
  if (found && options.encode) fmt::print("{} instructions give their bytes again\n", encoded);
  if (found) return kDone;
  return fail(Error{ErrorKind::kUsage, fmt::format("{} has no such network or stage", options.file)});
}

}  // namespace softtpu::cli
