// What a command declares about itself beside its operands, so that tools need not know it by name.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "device/isa/types.hpp"

namespace softtpu {

struct CommandTraits {
  bool elementwise = false;   // every element of `dst` is made of the operands' elements at its place
  bool lane_local = false;    // every lane reads and writes only its own local memory, all of it through for_each_row()
  bool typed_result = false;  // the result's type says what its bits mean; a copy only says how many there are
  bool is_product = false;    // its operations are those of the matrix unit
};

// What a command does with the elements of one operand, where its Access alone says too much.
struct Role {
  bool all = true;          // false: some elements may not be touched; which ones depends on data
  int last_channel = 0;     // of the last channel only so many elements of a row are used; 0: all
  int lanes = 0;            // only in these NPUs (of `lanes` channels from the tensor's start); 0: all
  bool fixed_type = false;  // the function fixes the type, whatever the others have
};
inline constexpr Role kFixedType{.fixed_type = true};
inline constexpr Role kSomeElements{.all = false};

// Elements of the last channel when `columns` lie `per_channel` to a channel; 0 where there is no such channel.
constexpr int last_channel_of(std::int64_t columns, std::int64_t per_channel) {
  if (columns < 1 || per_channel < 1) return 0;
  return static_cast<int>(columns - (columns - 1) / per_channel * per_channel);
}

// Calls visit(access, name, operand), or visit(access, name, operand, role), for each operand of one command.
template <class Cmd, class Visit>
void for_each_operand(const Cmd& cmd, Visit&& visit) {
  cmd.operands([&](Access access, const char* name, const Operand& operand, const Role& role = {}) {
    if constexpr (std::is_invocable_v<Visit&, Access, const char*, const Operand&, const Role&>) {
      visit(access, name, operand, role);
    } else {
      visit(access, name, operand);
    }
  });
}

// `numbers` of a command whose rows have no limits.
struct NoNumbers {
  template <class F>
  constexpr void operator()(const F&) const {}
};

template <class F>
void number_shape(F& f, const Dim4& shape) {
  f("shape.n", shape.n);
  f("shape.c", shape.c);
  f("shape.h", shape.h);
  f("shape.w", shape.w);
}

// What every command has. numbers(f) calls f(argument, value) for each argument that the limits of a row of the
// operations table hold for (device/isa/limits.def).
template <class Cmd>
concept CommandStructure = std::equality_comparable<Cmd> && std::default_initializable<Cmd> &&
    requires(const Cmd& cmd) {
  { Cmd::kTraits } -> std::convertible_to<CommandTraits>;
  cmd.operands([](auto&&...) {});
  cmd.numbers([](const char*, std::int64_t) {});
};

}  // namespace softtpu
