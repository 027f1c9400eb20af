// In which order the instructions of two streams may be carried out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/instruction/instruction.hpp"

namespace softtpu::stream {

// Instruction number `index` of one unit's stream.
struct Step {
  Unit unit = Unit::kTiu;
  std::uint32_t index = 0;
  bool operator==(const Step&) const = default;
};

// One legal order of both streams: each unit's instructions in their own order, none before the one of the other unit
// that it waits for. Seed 0: DMA runs ahead as far as it may; other seeds choose among all legal orders by lot. The
// ends are left out. An error names the instruction that waits for ever, or whose number is not the next one.
Result<std::vector<Step>> order_streams(std::span<const Instruction> tiu, std::span<const Instruction> dma,
                                        std::uint64_t seed = 0);

}  // namespace softtpu::stream
