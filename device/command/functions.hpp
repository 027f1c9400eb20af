// What the core can do with each command: find its first violated rule, and execute it. Both are made of the one list;
// a command's folder below device/engines defines its rules() and execute().
#pragma once

#include <cstdint>

#include "device/command/checks.hpp"
#include "device/command/refusal.hpp"
#include "device/isa/op.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

#define COMMAND(Cmd, Answer)                 \
  struct Cmd;                                \
  void rules(Checks& check, const Cmd& cmd); \
  Answer execute(Memories& mem, const Cmd& cmd);
#include "device/command/list.def"

// First what the command declares of its arguments, then the rules that its family adds.
template <class Cmd>
Violation violation(const Memories& mem, Op op, const Cmd& cmd) {
  Checks check(mem, op);
  cmd.limits([&](const char* argument, std::int64_t value, std::int64_t low,
                 std::int64_t high) { check.in_range(argument, value, low, high); },
             mem.chip());
  if (!check.violation()) rules(check, cmd);
  return check.violation();
}

}  // namespace softtpu
