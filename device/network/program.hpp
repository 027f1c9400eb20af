// A group of a compiled network, ready to be carried out: both streams decoded, their addresses moved to where the
// network's areas lie, translated to commands, in one legal order with the messages that keep others illegal.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/engines/command.hpp"
#include "device/instruction/address.hpp"
#include "device/instruction/translate.hpp"
#include "device/isa/op.hpp"
#include "runtime/base/result.hpp"
#include "runtime/bmodel/tensor_map.hpp"

namespace softtpu::network {

using stream::Area;

// The streams of one core; those that it does not have are empty.
struct Streams {
  std::span<const std::uint8_t> tiu, dma, sdma;
};

// One command. `instruction` names the instruction that it stands for ("TIU 12 sAR.add", and "... of conv1" where the
// file names layers), and lives as long as the process: what observers keep of a command may outlive its program.
struct ProgramStep {
  Op op{};
  Command command;
  std::string_view instruction;
  std::uint32_t tiu = 0, dma = 0;  // the number of that instruction, of its unit
};

struct Program {
  std::vector<ProgramStep> steps;
};

using stream::Purpose;

// An error names the stream, the offset or the instruction, and what is wrong.
Result<Program> make_program(const Chip& chip, const Streams& streams, std::span<const Area> areas,
                             std::span<const bmodel::LayerRange> layers = {}, Purpose purpose = Purpose::kRun);

}  // namespace softtpu::network
