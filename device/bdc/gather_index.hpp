// The indices of a gather or scatter as flat positions, read the same way by the rules and by the execution.
#pragma once

#include <cstdint>

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
      : cmd_(cmd), view_(mem, cmd.index), npu_num_(mem.chip().npu_num) {
    if (cmd.exception) exception_ = cmd.index.dtype == Dtype::kUint8 ? 0xFFU : 0xFFFFU;
  }

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

  // The positions for batch n and channel c: columns, places h * w + column, or rows; count() of them. Whether none of
  // them is kOutside.
  bool read(int n, int c, std::uint32_t* positions) const {
    if (cmd_.index.dtype == Dtype::kUint8) return read<std::uint8_t>(n, c, positions);
    return read<std::uint16_t>(n, c, positions);
  }

 private:
  template <class Index>
  bool read(int n, int c, std::uint32_t* positions) const {
    bool inside = true;
    const auto put = [&](int i, std::uint32_t position) {
      positions[i] = position;
      inside &= position != kOutside;
    };
    if (per_channel()) {
      const auto extent = static_cast<std::uint32_t>(cmd_.mode == GatherMode::kBatchH ? named().h : named().w);
      const auto* from = view_.at<const Index>(n, c, 0, 0);
      for (int i = 0; i < count(); ++i) put(i, checked(from[i * cmd_.index.stride.w], extent));
      return inside;
    }
    // NPU by NPU: neighbours lie on different ones, at addresses that throw each other out of the caches.
    const auto extent = static_cast<std::uint32_t>(named().w);
    for (int npu = 0; npu < npu_num_; ++npu) {
      for (int i = npu; i < count(); i += npu_num_) {
        const auto* index = view_.at<const Index>(0, i, 0, 0);
        put(i, cmd_.mode == GatherMode::kW ? checked(*index, extent) : place(index[0], index[cmd_.index.stride.w]));
      }
    }
    return inside;
  }
  std::uint32_t checked(std::uint32_t index, std::uint32_t extent) const {
    if (index == exception_) return kNoPosition;
    return index < extent ? index : kOutside;
  }
  std::uint32_t place(std::uint32_t column, std::uint32_t row) const {
    if (column == exception_ || row == exception_) return kNoPosition;
    const auto width = static_cast<std::uint32_t>(named().w);
    return column < width && row < static_cast<std::uint32_t>(named().h) ? row * width + column : kOutside;
  }

  const GatherCmd& cmd_;
  TensorView view_;
  int npu_num_;
  std::uint32_t exception_ = ~0U;  // the index without a source, which no index is where there are no exceptions
};

}  // namespace softtpu
