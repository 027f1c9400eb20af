// All commands as one value type, made of device/command/list.def. A new family adds its header here.
#pragma once

#include <variant>

#include "device/command/control.hpp"
#include "device/command/traits.hpp"
#include "device/engines/bdc/bm1684_bytes/command.hpp"
#include "device/engines/bdc/bm1684_fixed/command.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/engines/bdc/bm1684_words/command.hpp"
#include "device/engines/bdc/compare/command.hpp"
#include "device/engines/bdc/convert/command.hpp"
#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/gather/command.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/engines/bdc/outer/command.hpp"
#include "device/engines/bdc/product/command.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/engines/bdc/window/command.hpp"
#include "device/engines/dma/compress/command.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "device/engines/dma/reduce/command.hpp"
#include "device/engines/dma/select/command.hpp"
#include "device/engines/hau/lines/command.hpp"
#include "device/engines/hau/nms/command.hpp"
#include "device/engines/hau/sort/command.hpp"

namespace softtpu {

using Command = std::variant<
#define COMMAND(Cmd, Answer) Cmd,
#include "device/command/list.def"
    ControlCmd>;

#define COMMAND(Cmd, Answer)           \
  static_assert(CommandStructure<Cmd>, \
                #Cmd " needs operands(), numbers, traits and operator==: see device/engines/README.md");
#include "device/command/list.def"
static_assert(CommandStructure<ControlCmd>);

template <class Visit>
void for_each_operand(const Command& command, Visit&& visit) {
  std::visit([&](const auto& cmd) { for_each_operand(cmd, visit); }, command);
}

// In the order of the variant.
inline constexpr CommandTraits kCommandTraits[] = {
#define COMMAND(Cmd, Answer) Cmd::kTraits,
#include "device/command/list.def"
    ControlCmd::kTraits};

inline const CommandTraits& traits_of(const Command& command) { return kCommandTraits[command.index()]; }

}  // namespace softtpu
