// What the core can do with each command: find its first violated rule, and execute it. Both overload sets are made of
// the one list; a command's folder below device/engines defines its pair.
#pragma once

#include <cstdint>

#include "device/command/refusal.hpp"
#include "device/isa/op.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

#define COMMAND(Cmd, Answer)                                       \
  struct Cmd;                                                      \
  Violation violation(const Memories& mem, Op op, const Cmd& cmd); \
  Answer execute(Memories& mem, const Cmd& cmd);
#include "device/command/list.def"

}  // namespace softtpu
