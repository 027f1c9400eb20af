#include "device/core/lane_chain.hpp"

#include <algorithm>
#include <type_traits>

#include "device/command/functions.hpp"
#include "device/engines/command.hpp"
#include "device/memory/lane_slice.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// Elements of one tensor in a slice: four tensors of f32 stay in a first-level cache of 32 KiB.
constexpr std::int64_t kSliceElements = 2048;

}  // namespace

void LaneChain::take_lanes(Memories& mem, const Tensor& dst) {
  const int start = mem.chip().npu_of(dst.addr);
  if (!commands_.empty() && (start != start_npu_ || dst.shape.c != shape_.c)) run(mem);
  start_npu_ = start;
  shape_ = dst.shape;
}

void LaneChain::run_lanes(Memories& mem, int first, int last) const {
  const std::int64_t in_lane = std::max<std::int64_t>(1, shape_.elements() / std::min(shape_.c, mem.chip().npu_num));
  const int lanes = static_cast<int>(std::clamp<std::int64_t>(kSliceElements / in_lane, 1, last - first));
  for (int lane = first; lane < last; lane += lanes) {
    const LaneSlice slice{lane, std::min(lane + lanes, last)};
    lane_slice = &slice;
    for (const Command& command : commands_) {
      const auto carry_out = [&](const auto& cmd) {
        if constexpr (kTakes<std::decay_t<decltype(cmd)>>) execute(mem, cmd);
      };
      std::visit(carry_out, command);
    }
    lane_slice = nullptr;
  }
}

void LaneChain::run(Memories& mem) {
  if (commands_.empty()) return;
  const FpuScope modes;
  const int lanes = std::min(shape_.c, mem.chip().npu_num);
  const std::int64_t steps = shape_.elements() * static_cast<std::int64_t>(commands_.size());
  parallel_ranges(lanes, steps, [&](int first, int last) { run_lanes(mem, first, last); });
  commands_.clear();
}

}  // namespace softtpu
