// What the core can do with each command: find its first violated rule, and execute it. Both are made of the one list;
// a command's folder below device/engines defines its rules() and execute().
#pragma once

#include <cstdint>

#include "device/command/checks.hpp"
#include "device/command/numbers.hpp"
#include "device/command/refusal.hpp"
#include "device/isa/op.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

#define COMMAND(Cmd, Answer)                 \
  struct Cmd;                                \
  void rules(Checks& check, const Cmd& cmd); \
  Answer execute(Memories& mem, const Cmd& cmd);
#include "device/command/list.def"

// First the limits of the operation's row, then the rules that the command's family adds.
template <class Cmd>
Violation violation(const Memories& mem, Op op, const Cmd& cmd) {
  Checks check(mem, op);
  const Numbers numbers(cmd);
  const char* unlimited = numbers.empty() ? nullptr : check.limits(numbers);
  if (!check.violation()) rules(check, cmd);
  if (unlimited != nullptr) check.no_limit(unlimited);
  return check.violation();
}

}  // namespace softtpu
