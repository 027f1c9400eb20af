// From an instruction to the command that the device already knows. Instructions are a second way to ask for the same
// arithmetic: rules, results and observers are those of the command.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "device/chip/chip.hpp"
#include "device/engines/command.hpp"
#include "device/instruction/instruction.hpp"
#include "device/isa/op.hpp"

namespace softtpu::stream {

// A command, and the function of the API whose name, types and rules it goes by.
struct Issued {
  Op op;
  Command command;
};

// What instructions of the tensor unit leave for those behind them.
using Registers = std::array<std::uint32_t, 128>;

// kTime: the command is never carried out, and stands for an instruction that takes as long.
enum class Purpose : std::uint8_t { kRun, kTime };

// Translates the instructions of a core's streams, those of the tensor unit in their order. Addresses of DMA are those
// of the system map (resolve_addresses).
class Translator {
 public:
  explicit Translator(const Chip& chip, Purpose purpose = Purpose::kRun) : chip_(chip), purpose_(purpose) {}

  // nullopt: it issues no command (a register, a nop, the end). An error names the instruction, the field and its
  // value.
  Result<std::optional<Issued>> translate(const Instruction& instruction);

 private:
  const Chip& chip_;
  Purpose purpose_;
  Registers registers_{};
};

// An instruction by itself, with all registers 0; one that issues no command is an error.
Result<Issued> translate(const Chip& chip, const Instruction& instruction);

}  // namespace softtpu::stream
