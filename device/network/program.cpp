#include "device/network/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "device/core/own_messages.hpp"
#include "device/instruction/order.hpp"
#include "device/instruction/translate.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu::network {
namespace {

using stream::Field;
using stream::Instruction;
using stream::Unit;

std::string name_of(const Instruction& instruction) {
  return fmt::format("{} {} {}.{}", to_text(instruction.unit()), instruction.id(), instruction.format->name,
                     instruction.format->function_name(instruction.function()));
}

// The layer that an instruction belongs to; empty: none is known.
std::string layer_of(const Instruction& instruction, std::span<const bmodel::LayerRange> layers) {
  const bool tiu = instruction.format->unit == Unit::kTiu;
  for (const bmodel::LayerRange& layer : layers) {
    const std::uint32_t before = tiu ? layer.tiu_before : layer.dma_before;
    const std::uint32_t last = tiu ? layer.tiu_last : layer.dma_last;
    if (instruction.id() > before && instruction.id() <= last) return " of " + layer.label;
  }
  return {};
}

// The same text for good. There are as many as instructions of a network have different numbers and functions.
std::string_view keep(std::string text) {
  static auto& kept = *new std::set<std::string, std::less<>>;
  return *kept.insert(std::move(text)).first;
}

// What is wrong with an instruction, and where it stands.
Error placed(const Error& error, Unit unit, std::span<const Instruction> instructions, std::size_t index) {
  return {error.kind,
          fmt::format("{} stream, {}: {}", to_text(unit), stream::place_in(instructions, index), error.text)};
}

ProgramStep send(Unit unit, int message) {
  const Op op = unit == Unit::kTiu ? Op::tpu_bdc_send_msg : Op::tpu_gdma_send_msg;
  return {op, ControlCmd{ControlAction::kSendMessage, message, 1}, {}};
}
ProgramStep wait(Unit unit, int message) {
  const Op op = unit == Unit::kTiu ? Op::tpu_bdc_wait_msg : Op::tpu_gdma_wait_msg;
  return {op, ControlCmd{ControlAction::kWaitMessage, message, 1}, {}};
}
std::size_t index_of(Unit unit) { return unit == Unit::kTiu ? 0 : 1; }

// Numbers of the instructions of `unit` that the other one waits for first: a message is sent behind each.
std::vector<bool> find_awaited(std::span<const Instruction> waiting, std::size_t awaited_count) {
  std::vector<bool> awaited(awaited_count + 1);
  std::uint32_t seen = 0;
  for (const Instruction& instruction : waiting) {
    if (instruction.is_end() || instruction.waits_for() <= seen) continue;
    seen = instruction.waits_for();
    if (seen <= awaited_count) awaited[seen] = true;
  }
  return awaited;
}

}  // namespace

namespace {

class Maker {
 public:
  Maker(const Chip& chip, std::span<const Area> areas, std::span<const bmodel::LayerRange> layers, Purpose purpose)
      : chip_(chip), areas_(areas), layers_(layers), translator_(chip, purpose) {}

  Result<Program> make(const Streams& streams) {
    const auto* set = stream::InstructionSet::find_chip(chip_.name);
    if (set == nullptr) return Error{ErrorKind::kUsage, fmt::format("no instructions of {} are known.", chip_.name)};
    auto tiu = read(*set, Unit::kTiu, streams.tiu);
    if (!tiu) return tiu.error();
    auto dma = read(*set, Unit::kDma, streams.dma);
    if (!dma) return dma.error();
    auto sdma = read(*set, Unit::kSdma, streams.sdma);
    if (!sdma) return sdma.error();
    const auto order = stream::order_streams(*tiu, *dma);
    if (!order) return order.error();
    program_.steps.reserve(order->size() + sdma->size() + 2);
    program_.steps.push_back({Op::tpu_parallel_start, ControlCmd{ControlAction::kParallelStart, 0, 0}, {}});
    // SDMA is ordered by messages alone.
    for (std::size_t i = 0; i < sdma->size(); ++i) {
      if (auto added = add(*sdma, Unit::kSdma, i); !added) return added.error();
    }
    if (auto added = add_ordered(*tiu, *dma, *order); !added) return added.error();
    program_.steps.push_back({Op::tpu_parallel_end, ControlCmd{ControlAction::kParallelEnd, 0, 0}, {}});
    return std::move(program_);
  }

 private:
  using Stream = std::vector<Instruction>;

  static Result<Stream> read(const stream::InstructionSet& set, Unit unit, std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return Stream();
    return stream::read_stream(set, unit, bytes);
  }

  Result<void> add(const Stream& instructions, Unit unit, std::size_t index) {
    Instruction instruction = instructions[index];
    if (instruction.is_end()) return {};
    if (instruction.format->unit == Unit::kDma) {
      if (auto resolved = stream::resolve_addresses(chip_, instruction, areas_); !resolved) {
        const std::string text = fmt::format("{}: {}.", name_of(instruction), resolved.error().text);
        return placed({ErrorKind::kUsage, text}, unit, instructions, index);
      }
    }
    auto issued = translator_.translate(instruction);
    if (!issued) return placed(issued.error(), unit, instructions, index);
    if (!*issued) return {};
    ProgramStep& step = program_.steps.emplace_back(ProgramStep{
        (*issued)->op, std::move((*issued)->command), keep(name_of(instruction) + layer_of(instruction, layers_))});
    if (unit == Unit::kTiu) step.tiu = instruction.id();
    if (unit == Unit::kDma) step.dma = instruction.id();
    return {};
  }

  // An instruction that the other unit waits for sends one message behind it, which the waiting unit takes.
  Result<void> add_ordered(const Stream& tiu, const Stream& dma, const std::vector<stream::Step>& order) {
    const std::array awaited = {find_awaited(dma, tiu.size()), find_awaited(tiu, dma.size())};
    std::array messages = {std::vector<int>(tiu.size() + 1), std::vector<int>(dma.size() + 1)};
    std::array<std::uint32_t, 2> waited_for{};  // the highest number of the other unit that a unit has waited for
    int last_message = kOwnMessages;
    for (const stream::Step& step : order) {
      const std::size_t own = index_of(step.unit);
      const Stream& instructions = step.unit == Unit::kTiu ? tiu : dma;
      const Instruction& instruction = instructions[step.index];
      if (const std::uint32_t other = instruction.waits_for(); other > waited_for[own]) {
        waited_for[own] = other;
        program_.steps.push_back(wait(step.unit, messages[1 - own][other]));
      }
      if (auto added = add(instructions, step.unit, step.index); !added) return added;
      if (!awaited[own][instruction.id()]) continue;
      messages[own][instruction.id()] = ++last_message;
      program_.steps.push_back(send(step.unit, last_message));
    }
    return {};
  }

  const Chip& chip_;
  std::span<const Area> areas_;
  std::span<const bmodel::LayerRange> layers_;
  stream::Translator translator_;
  Program program_;
};

}  // namespace

Result<Program> make_program(const Chip& chip, const Streams& streams, std::span<const Area> areas,
                             std::span<const bmodel::LayerRange> layers, Purpose purpose) {
  return Maker(chip, areas, layers, purpose).make(streams);
}

}  // namespace softtpu::network
