// Element-wise commands that are kept and then carried out together: all of them on a few lanes, then on the next ones,
// so that one command finds in the cache what the one before has written, and threads meet once for all of them. A lane
// sees the commands in their order, and none looks at another lane, so the memory afterwards is the same.
#pragma once

#include <cstdint>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/command.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/float_unit.hpp"

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

  // Keeps a command, or carries it out where lanes are not independent: where a result lies upon an operand in another
  // way. Those kept so far are carried out first if their lanes are others.
  template <class Cmd>
  void add(Memories& mem, const Cmd& cmd) {
    static_assert(kTakes<Cmd>);
    if (!is_apart(mem.chip(), cmd)) {
      run(mem);
      const FpuScope modes;
      return execute(mem, cmd);
    }
    take_lanes(mem, cmd.dst);
    commands_.emplace_back(cmd);
  }
  // Carries out what is kept.
  void run(Memories& mem);
  void clear();

 private:
  // Whether each operand lies apart from the result, or is the result element by element.
  template <class Cmd>
  static bool is_apart(const Chip& chip, const Cmd& cmd) {
    bool apart = second_result(cmd) == nullptr;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (access != Access::kRead || tensor == nullptr || !apart) return;
      const bool same = tensor->addr == cmd.dst.addr && tensor->shape == cmd.dst.shape &&
                        tensor->stride == cmd.dst.stride && size_of(tensor->dtype) == size_of(cmd.dst.dtype);
      apart = same || !may_overlap(chip, cmd.dst, *tensor);
    });
    return apart;
  }
  void take_lanes(Memories& mem, const Tensor& dst);
  void run_lanes(Memories& mem, int first, int last) const;

  std::vector<Command> commands_;
  int start_npu_ = 0;
  int channels_ = 0;
  std::int64_t steps_ = 0;  // elements of all results
  std::int64_t most_ = 0;   // of one result
};

}  // namespace softtpu
