// What a command declares about itself beside its operands, so that tools need not know it by name.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "device/isa/types.hpp"

namespace softtpu {

struct Chip;

struct CommandTraits {
  bool elementwise = false;  // every element of `dst` is made of the operands' elements at its place
  bool by_lanes = false;     // every lane reads and writes only its own local memory, all of it through for_each_row()
  bool gives_meaning = false;  // the result's type says what its bits mean; a copy only says how many there are
  bool is_product = false;     // its operations are those of the matrix unit
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

// `limits` of a command whose arguments have none of their own.
struct NoLimits {
  template <class F>
  constexpr void operator()(const F&, const Chip&) const {}
};

// The extents of the shape from which other limits of a command are made: they are looked at first.
template <class F>
void limit_shape(F& f, const Dim4& shape) {
  f("shape.n", shape.n, 1, kMaxExtent);
  f("shape.c", shape.c, 1, kMaxExtent);
  f("shape.h", shape.h, 1, kMaxExtent);
  f("shape.w", shape.w, 1, kMaxExtent);
}

// What every command has. limits(f, chip) calls f(argument, value, low, high) for each argument whose range the chip or
// the command's other members give.
template <class Cmd>
concept CommandStructure = std::equality_comparable<Cmd> && std::default_initializable<Cmd> &&
    requires(const Cmd& cmd, const Chip& chip) {
  { Cmd::kTraits } -> std::convertible_to<CommandTraits>;
  cmd.operands([](auto&&...) {});
  cmd.limits([](const char*, std::int64_t, std::int64_t, std::int64_t) {}, chip);
};

}  // namespace softtpu
