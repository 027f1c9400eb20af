// From an instruction to the command that the device already knows. Instructions are a second way to ask for the same
// arithmetic: rules, results and observers are those of the command.
#pragma once

#include "device/chip/chip.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op.hpp"
#include "device/stream/instruction.hpp"

namespace softtpu::stream {

// A command, and the function of the API whose name, types and rules it goes by.
struct Issued {
  Op op;
  Command command;
};

// An error names the instruction, the field and its value.
Result<Issued> translate(const Chip& chip, const Instruction& instruction);

}  // namespace softtpu::stream
