// The indices of a gather or scatter as flat positions, read the same way by the rules and by the execution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "device/chip/rules.hpp"
#include "device/engines/bdc/gather/command.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {

// An element without a source (functions with exceptions).
inline constexpr std::uint32_t kNoPosition = ~0U;
// An index that names no element.
inline constexpr std::uint32_t kOutside = ~0U - 1;

// Whether indices may name no element: gathers give zeros there, and scatters leave it out.
inline bool takes_indices_beyond(const Chip& chip, const GatherCmd& cmd) {
  return chip.has(Quirk::kGathersFill) && !cmd.exception && cmd.mode != GatherMode::kBatchW;
}

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
    const int total = count();
    const Stride4 stride = cmd_.index.stride;
    if (per_channel()) {
      const auto extent = static_cast<std::uint32_t>(cmd_.mode == GatherMode::kBatchH ? named().h : named().w);
      const auto* from = view_.at<const Index>(n, c, 0, 0);
      return read_every(0, 1, total, positions, [&](int i) { return checked(from[i * stride.w], extent); });
    }
    // NPU by NPU: neighbours lie on different ones, at addresses that throw each other out of the caches.
    const auto extent = static_cast<std::uint32_t>(named().w);
    bool inside = true;
    for (int npu = 0; npu < std::min(npu_num_, total); ++npu) {
      const auto* from = view_.at<const Index>(0, npu, 0, 0);
      const auto next = [&] { return std::exchange(from, from + stride.c); };
      inside &= cmd_.mode == GatherMode::kW
                    ? read_every(npu, npu_num_, total, positions, [&](int) { return checked(*next(), extent); })
                    : read_every(npu, npu_num_, total, positions, [&](int) {
                        const auto* index = next();
                        return place(index[0], index[stride.w]);
                      });
    }
    return inside;
  }
  // Positions first, first + step ... below `total`, as position(i) gives them. Whether none of them is kOutside.
  template <class Position>
  static bool read_every(int first, int step, int total, std::uint32_t* positions, const Position& position) {
    bool inside = true;
    for (int i = first; i < total; i += step) {
      positions[i] = position(i);
      inside &= positions[i] != kOutside;
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
