// Element-wise commands that are kept and then carried out together: all of them on a few lanes, then on the next ones,
// so that one command finds in the cache what the one before has written. A lane sees the commands in their order, and
// none looks at another lane, so the memory afterwards is the same.
#pragma once

#include <vector>

#include "device/engines/command.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

class LaneChain {
 public:
  // Commands of which every lane reads and writes only its own local memory.
  template <class Cmd>
  static constexpr bool kTakes = Cmd::kTraits.lane_local;
  // Whether a command's rules look at memory, which has to be what the commands before leave.
  template <class Cmd>
  static constexpr bool rules_read(const Cmd& cmd) {
    if constexpr (requires { cmd.rules_read_memory(); }) {
      return cmd.rules_read_memory();
    } else {
      return !kTakes<Cmd>;
    }
  }

  // Keeps a command. Those kept so far are carried out first if their lanes are others.
  template <class Cmd>
  void add(Memories& mem, const Cmd& cmd) {
    static_assert(kTakes<Cmd>);
    take_lanes(mem, cmd.dst);
    commands_.emplace_back(cmd);
  }
  // Carries out what is kept.
  void run(Memories& mem);
  void clear() { commands_.clear(); }

 private:
  void take_lanes(Memories& mem, const Tensor& dst);
  void run_lanes(Memories& mem, int first, int last) const;

  std::vector<Command> commands_;
  int start_npu_ = 0;
  Dim4 shape_;
};

}  // namespace softtpu
