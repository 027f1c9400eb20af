#include "device/network/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "device/stream/order.hpp"
#include "device/stream/translate.hpp"

namespace softtpu::network {
namespace {

using stream::Field;
using stream::Instruction;
using stream::Unit;

std::string name_of(const Instruction& instruction) {
  return fmt::format("{} {} {}.{}", to_text(instruction.format->unit), instruction.id(), instruction.format->name,
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

// Where the compiler put global memory, the network's areas lie elsewhere; other memories are where they are.
Result<void> move_addresses(const Chip& chip, Instruction& instruction, std::span<const Area> areas) {
  for (const Field field : {Field::src_addr, Field::dst_addr, Field::mask_addr, Field::index_addr}) {
    // A fill has no source, whatever its bits say.
    if (field == Field::src_addr && instruction[Field::fill_constant_en] != 0) continue;
    std::uint64_t& address = instruction[field];
    if (address < chip.global_mem.start) continue;
    const auto area =
        std::find_if(areas.begin(), areas.end(), [&](const Area& a) { return address >= a.begin && address < a.end; });
    if (area == areas.end()) {
      return Error{ErrorKind::kUsage, fmt::format("{}: {} {:#x} lies outside the network's areas.",
                                                  name_of(instruction), to_text(field), address)};
    }
    address = area->at + (address - area->begin);
  }
  return {};
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

// Takes part in the order, and does nothing.
bool is_nop(const Instruction& instruction) {
  return instruction.format->function_name(instruction.function()) == "nop";
}

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

Result<Program> make_program(const Chip& chip, std::span<const std::uint8_t> tiu_bytes,
                             std::span<const std::uint8_t> dma_bytes, std::span<const Area> areas,
                             std::span<const bmodel::LayerRange> layers) {
  const auto& set = stream::InstructionSet::bm1684x();
  auto tiu = stream::read_stream(set, Unit::kTiu, tiu_bytes);
  if (!tiu) return tiu.error();
  auto dma = stream::read_stream(set, Unit::kDma, dma_bytes);
  if (!dma) return dma.error();
  const auto order = stream::order_streams(*tiu, *dma);
  if (!order) return order.error();

  Program program;
  program.steps.reserve(order->size() + 2);
  program.steps.push_back({Op::tpu_parallel_start, ControlCmd{ControlAction::kParallelStart, 0, 0}, {}});
  // An instruction that the other unit waits for sends one message behind it, and whoever waits for it takes that one.
  const std::array awaited = {find_awaited(*dma, tiu->size()), find_awaited(*tiu, dma->size())};
  std::array messages = {std::vector<int>(tiu->size() + 1), std::vector<int>(dma->size() + 1)};
  std::array<std::uint32_t, 2> waited_for{};  // the highest number of the other unit that a unit has waited for
  int last_message = 0;
  for (const stream::Step& step : *order) {
    const std::size_t own = index_of(step.unit);
    const std::vector<Instruction>& instructions = step.unit == Unit::kTiu ? *tiu : *dma;
    Instruction instruction = instructions[step.index];
    if (const std::uint32_t other = instruction.waits_for(); other > waited_for[own]) {
      waited_for[own] = other;
      program.steps.push_back(wait(step.unit, messages[1 - own][other]));
    }
    if (!is_nop(instruction)) {
      if (auto moved = move_addresses(chip, instruction, areas); !moved)
        return placed(moved.error(), step.unit, instructions, step.index);
      auto issued = stream::translate(chip, instruction);
      if (!issued) return placed(issued.error(), step.unit, instructions, step.index);
      program.steps.push_back(
          {issued->op, std::move(issued->command), keep(name_of(instruction) + layer_of(instruction, layers))});
    }
    if (!awaited[own][instruction.id()]) continue;
    messages[own][instruction.id()] = ++last_message;
    program.steps.push_back(send(step.unit, last_message));
  }
  program.steps.push_back({Op::tpu_parallel_end, ControlCmd{ControlAction::kParallelEnd, 0, 0}, {}});
  return program;
}

}  // namespace softtpu::network
