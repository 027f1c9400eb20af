// Whether commands come from instructions of a network. The SDK's functions refuse some arguments that the engines
// take; such rules are asked of calls alone.
#pragma once

namespace softtpu {

// While one stands, the commands that its thread submits are instructions.
class InstructionScope {
 public:
  InstructionScope();
  ~InstructionScope();
  InstructionScope(const InstructionScope&) = delete;
  InstructionScope& operator=(const InstructionScope&) = delete;

 private:
  bool outer_;
};

bool submits_instructions();

}  // namespace softtpu
