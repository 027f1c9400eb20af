// softtpu bmodel disasm: the instructions of a compiled network as text or JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "device/chip/chip.hpp"
#include "device/cli/bmodel.hpp"
#include "device/cli/command.hpp"
#include "device/stream/translate.hpp"

namespace softtpu::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
  stream::Instruction instruction;
  std::uint64_t offset = 0;
};

// The operands as the command that the instruction stands for has them; empty: it stands for none.
struct Meaning {
  std::string function;
  std::vector<std::string> operands;
};

Meaning meaning_of(const Chip& chip, const stream::Instruction& instruction) {
  if (instruction.is_end()) return {};
  const auto issued = stream::translate(chip, instruction);
  if (!issued) return {"", {issued.error().text}};
  Meaning meaning{std::string(info(issued->op).name), {}};
  const auto add = [&](Access access, const char* name, const Operand& operand) {
    const char* kind = access == Access::kRead ? "reads" : access == Access::kWrite ? "writes" : "adds to";
    meaning.operands.push_back(fmt::format("{} {} {}", kind, name, to_text(operand)));
  };
  for_each_operand(issued->command, add);
  return meaning;
}

void print_text(const Chip& chip, const Entry& entry) {
  fmt::print("{:6}  {}\n", entry.offset, stream::disassemble(entry.instruction));
  const Meaning meaning = meaning_of(chip, entry.instruction);
  if (!meaning.function.empty()) fmt::print("          = {}\n", meaning.function);
  for (const std::string& operand : meaning.operands) fmt::print("            {}\n", operand);
}

void print_json(const Chip& chip, const Entry& entry) {
  const stream::Instruction& instruction = entry.instruction;
  const stream::Format& format = *instruction.format;
  Json fields = Json::object();
  for (const stream::FieldPlace& place : format.places) {
    if (!place.reserved()) fields[std::string(to_text(place.field))] = instruction[place.field];
  }
  const Meaning meaning = meaning_of(chip, instruction);
  const Json line = {{"unit", to_text(format.unit)},
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

Result<std::vector<Entry>> read(stream::Unit unit, bmodel::Bytes bytes) {
  auto instructions = stream::read_stream(stream::InstructionSet::bm1684x(), unit, bytes);
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

}  // namespace

int disassemble_model(const BmodelOptions& options) {
  const auto loaded = load_model(options.file);
  if (!loaded) return fail(loaded.error());
  const auto chip = load_chip("bm1684x");
  if (!chip) return fail(chip.error());
  bool found = false;
  for (const bmodel::Network& network : loaded->model.networks) {
    if (!options.network.empty() && network.name != options.network) continue;
    for (const bmodel::Stage& stage : network.stages) {
      if (options.stage != &stage - network.stages.data()) continue;
      found = true;
      for (const bmodel::CommandGroup& group : stage.groups) {
        for (const auto& [unit, bytes] :
             {std::pair(stream::Unit::kTiu, group.tiu), std::pair(stream::Unit::kDma, group.dma)}) {
          const auto entries = read(unit, bytes);
          if (!entries) return fail(entries.error());
          for (const Entry& entry : *entries) options.json ? print_json(*chip, entry) : print_text(*chip, entry);
        }
      }
    }
  }
  if (found) return kDone;
  return fail(Error{ErrorKind::kUsage, fmt::format("{} has no such network or stage", options.file)});
}

}  // namespace softtpu::cli
