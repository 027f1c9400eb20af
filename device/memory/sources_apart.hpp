// Commands whose result lies upon what they still have to read. The units read all operands before they write
// (golden-bmodel: instr_2 ar/0039, ar/0261, ...); walks do not.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "device/memory/memories.hpp"

namespace softtpu {

// Whether writing `dst` element by element may overwrite what is still to be read of `source`: they share bytes of
// local memory, and an element does not lie where the result's lies that is made of it.
bool is_overwritten(const Chip& chip, const Tensor& dst, const Tensor& source);
inline bool is_overwritten(const Chip& chip, const Tensor& dst, const Operand& source) {
  const auto* tensor = std::get_if<Tensor>(&source);
  return tensor != nullptr && is_overwritten(chip, dst, *tensor);
}

// The second result of a command that has two; nullptr: it has one.
template <class Cmd>
const Tensor* second_result(const Cmd& cmd) {
  if constexpr (requires { cmd.winner; }) {
    if (cmd.winner) return &*cmd.winner;
  }
  return nullptr;
}
// Whether one of the command's results may overwrite what is still to be read of `source`.
template <class Cmd, class Source>
bool overwrites(const Chip& chip, const Cmd& cmd, const Source& source) {
  const Tensor* second = second_result(cmd);
  return is_overwritten(chip, cmd.dst, source) || (second != nullptr && is_overwritten(chip, *second, source));
}

// Where operands that a result overwrites may be read from instead: offsets in the NPUs' memories that neither the
// result nor an operand takes.
class RoomApart {
 public:
  RoomApart(const Chip& chip, const Tensor& dst) : chip_(chip) { take(dst); }

  void take(const Tensor& tensor);
  void take(const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) take(*tensor);
  }
  // The address at which `source` would lie there, which is taken from now on. False: there is no room.
  bool find(const Tensor& source, std::uint64_t& address);

 private:
  const Chip& chip_;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken_;
};

// While one stands, sources that its result would overwrite lie elsewhere in local memory, which then has its bytes
// again.
class SourcesApart {
 public:
  SourcesApart(Memories& mem, const Tensor& dst, const Tensor* second = nullptr);
  ~SourcesApart();
  SourcesApart(const SourcesApart&) = delete;
  SourcesApart& operator=(const SourcesApart&) = delete;

  RoomApart& room() { return room_; }
  // Where there is no room the source stays; instructions are refused then (Translator).
  void move(Tensor& source);
  void move(Operand& source) {
    if (auto* tensor = std::get_if<Tensor>(&source)) move(*tensor);
  }

 private:
  Memories& mem_;
  const Tensor dst_;
  const std::optional<Tensor> second_;
  RoomApart room_;
  std::vector<std::pair<std::uint8_t*, std::vector<std::uint8_t>>> kept_;
};

// carry_out(command), with sources that the result does not overwrite. `sources` are the command's members.
template <class Cmd, class CarryOut, class... Sources>
void with_sources_apart(Memories& mem, const Cmd& cmd, const CarryOut& carry_out, Sources... sources) {
  if (!(overwrites(mem.chip(), cmd, cmd.*sources) || ...)) return carry_out(cmd);
  Cmd apart = cmd;
  SourcesApart moved(mem, cmd.dst, second_result(cmd));
  (moved.room().take(cmd.*sources), ...);
  (moved.move(apart.*sources), ...);
  carry_out(std::as_const(apart));
}

}  // namespace softtpu
