// The indices of a gather or scatter as flat positions, read the same way by the rules and by the execution.
#pragma once

#include <cstdint>
#include <vector>

#include "device/isa/commands/gather.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// An element without a source (functions with exceptions).
inline constexpr std::uint32_t kNoPosition = ~0U;
// An index that names no element.
inline constexpr std::uint32_t kOutside = ~0U - 1;

class GatherIndex {
 public:
  GatherIndex(const Memories& mem, const GatherCmd& cmd)
      : cmd_(cmd), view_(mem, cmd.index), largest_(cmd.index.dtype == Dtype::kUint8 ? 0xFFU : 0xFFFFU) {}

  // Whether every batch and channel has its own indices.
  bool per_channel() const { return cmd_.mode == GatherMode::kBatchW || cmd_.mode == GatherMode::kBatchH; }
  // The side whose positions the indices name, and the side that is walked.
  const Dim4& named() const { return cmd_.scatter ? cmd_.dst.shape : cmd_.param.shape; }
  const Dim4& walked() const { return cmd_.scatter ? cmd_.param.shape : cmd_.dst.shape; }

  // Number of indices for one batch and channel.
  int count() const {
    if (cmd_.mode == GatherMode::kHw) return walked().h * walked().w;
    return cmd_.mode == GatherMode::kBatchH ? walked().h : walked().w;
  }

  // The positions for batch n and channel c: columns, places h * w + column, or rows.
  void read(int n, int c, std::vector<std::uint32_t>& positions) const {
    positions.resize(static_cast<std::size_t>(count()));
    const std::uint32_t extent = static_cast<std::uint32_t>(cmd_.mode == GatherMode::kBatchH ? named().h : named().w);
    for (int i = 0; i < count(); ++i) {
      std::uint32_t& position = positions[static_cast<std::size_t>(i)];
      if (per_channel()) {
        position = checked(value(n, c, 0, i), extent);
      } else if (cmd_.mode == GatherMode::kW) {
        position = checked(value(0, i, 0, 0), extent);
      } else {
        position = place(value(0, i, 0, 0), value(0, i, 0, 1));
      }
    }
  }

 private:
  std::uint32_t value(int n, int c, int h, int w) const {
    if (cmd_.index.dtype == Dtype::kUint8) return *view_.at<std::uint8_t>(n, c, h, w);
    return *view_.at<std::uint16_t>(n, c, h, w);
  }
  std::uint32_t checked(std::uint32_t index, std::uint32_t extent) const {
    if (cmd_.exception && index == largest_) return kNoPosition;
    return index < extent ? index : kOutside;
  }
  std::uint32_t place(std::uint32_t column, std::uint32_t row) const {
    if (cmd_.exception && (column == largest_ || row == largest_)) return kNoPosition;
    const auto width = static_cast<std::uint32_t>(named().w);
    return column < width && row < static_cast<std::uint32_t>(named().h) ? row * width + column : kOutside;
  }

  const GatherCmd& cmd_;
  TensorView view_;
  std::uint32_t largest_;
};

}  // namespace softtpu
