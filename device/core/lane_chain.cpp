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

// Elements of one tensor in a slice: some tensors of f32 stay in the near caches, and a command has more to do than to
// begin.
constexpr std::int64_t kSliceElements = 8192;
// Below so many elements of a tensor all of them stay in the second-level cache, and smaller slices would only begin
// each command more often.
constexpr std::int64_t kNearElements = 1 << 15;

}  // namespace

void LaneChain::clear() {
  commands_.clear();
  steps_ = most_ = 0;
}

void LaneChain::take_lanes(Memories& mem, const Tensor& dst) {
  const int start = mem.chip().npu_of(dst.addr);
  if (!commands_.empty() && (start != start_npu_ || dst.shape.c != channels_)) run(mem);
  start_npu_ = start;
  channels_ = dst.shape.c;
  steps_ += dst.shape.elements();
  most_ = std::max(most_, dst.shape.elements());
}

void LaneChain::run_lanes(Memories& mem, int first, int last) const {
  const LaneSlice slice{first, last};
  // One command goes through its lanes by itself.
  lane_slice = commands_.size() == 1 ? nullptr : &slice;
  for (const Command& command : commands_) {
    const auto carry_out = [&](const auto& cmd) {
      if constexpr (kTakes<std::decay_t<decltype(cmd)>>) execute(mem, cmd);
    };
    std::visit(carry_out, command);
  }
  lane_slice = nullptr;
}

void LaneChain::run(Memories& mem) {
  if (commands_.empty()) return;
  const FpuScope modes;
  const std::int64_t lanes = std::min(channels_, mem.chip().npu_num);
  const std::int64_t in_slice = most_ > kNearElements ? kSliceElements : most_ / threads_for(steps_);
  const std::int64_t slice = std::clamp<std::int64_t>(in_slice * lanes / std::max<std::int64_t>(1, most_), 1, lanes);
  const std::int64_t slices = commands_.size() == 1 ? 1 : (lanes + slice - 1) / slice;
  parallel_for(static_cast<int>(slices), steps_, [&](int i) {
    // As equal as they can be.
    run_lanes(mem, static_cast<int>(lanes * i / slices), static_cast<int>(lanes * (i + 1) / slices));
  });
  clear();
}

}  // namespace softtpu
