// Where the addresses of DMA instructions lie in the chip's system map.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/chip/chip.hpp"
#include "device/instruction/instruction.hpp"

namespace softtpu::stream {

// Compiled addresses [begin, end) lie at `at` in this device.
struct Area {
  std::uint64_t begin = 0, end = 0, at = 0;
  bool operator==(const Area&) const = default;
};

// How instructions of a chip write addresses and messages.
InstructionCodes codes_of(const Chip& chip);

// The address in the system map that an instruction's address stands for: a tag is replaced by the area that its base
// register points to. Without areas all base registers are 0. nullopt: it stands for none, or for global memory outside
// the areas.
std::optional<std::uint64_t> find_address(const Chip& chip, std::uint64_t written, std::span<const Area> areas);

// Puts addresses of the system map into a DMA instruction. An error names the field.
Result<void> resolve_addresses(const Chip& chip, Instruction& instruction, std::span<const Area> areas);

}  // namespace softtpu::stream
