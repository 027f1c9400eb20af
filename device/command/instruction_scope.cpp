#include "device/command/instruction_scope.hpp"

#include <utility>

namespace softtpu {
namespace {

thread_local bool instructions = false;

}  // namespace

InstructionScope::InstructionScope() : outer_(std::exchange(instructions, true)) {}
InstructionScope::~InstructionScope() { instructions = outer_; }

bool submits_instructions() { return instructions; }

}  // namespace softtpu
