#include "device/footprint/local_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/layout/formulas.hpp"

namespace softtpu {

std::optional<LocalBox> box_of(const Chip& chip, const Tensor& tensor) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  if (tensor.space != Space::kLocal || size == 0 || tensor.shape.elements() == 0) return std::nullopt;
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  const int start = chip.npu_of(tensor.addr);
  const std::int64_t rows = channels_per_npu(chip.npu_num, start, shape.c);
  const std::int64_t last =
      (shape.n - 1) * stride.n + (rows - 1) * stride.c + (shape.h - 1) * stride.h + (shape.w - 1) * stride.w;
  LocalBox box;
  box.begin = chip.offset_of(tensor.addr);
  box.end = static_cast<std::uint32_t>(
      std::min<std::int64_t>(box.begin + (last + 1) * size, static_cast<std::int64_t>(chip.local_bytes)));
  const bool wraps = start + shape.c > chip.npu_num;
  box.first_npu = wraps ? 0 : start;
  box.npus = wraps ? chip.npu_num : shape.c;
  return box;
}

void LocalMap::write(const Chip& chip, const Tensor& tensor, double start_us, double end_us, std::size_t call,
                     const char* operand) {
  const auto box = box_of(chip, tensor);
  if (!box) return;
  for (const Open& each : open_) {
    LocalBlock& block = blocks_[each.block];
    if (!block.covers(*box) || box->covers(block)) continue;
    block.to_us = std::max(block.to_us, end_us);
    return;
  }
  const std::size_t self = blocks_.size();
  blocks_.push_back({*box, start_us, end_us, call,
                     fmt::format("{} {} {}", operand, to_text(tensor.shape), to_text(tensor.dtype)), false});
  const LocalBlock& mine = blocks_.back();
  std::erase_if(open_, [&](const Open& each) { return mine.covers(blocks_[each.block]); });
  for (Open& each : open_) {
    if (mine.meets(blocks_[each.block])) each.taken_by.push_back(self);
  }
  open_.push_back({self, {}});
}

void LocalMap::read(const Chip& chip, const Tensor& tensor, double end_us) {
  const auto box = box_of(chip, tensor);
  if (!box) return;
  for (const Open& each : open_) {
    LocalBlock& block = blocks_[each.block];
    if (!block.meets(*box)) continue;
    // A reader of the taker's bytes alone does not bring the older block back to life.
    const bool taker_only = std::any_of(each.taken_by.begin(), each.taken_by.end(),
                                        [&](std::size_t taker) { return blocks_[taker].covers(*box); });
    if (taker_only) continue;
    block.to_us = std::max(block.to_us, end_us);
    for (const std::size_t taker : each.taken_by) {
      if (!blocks_[taker].meets(*box)) continue;
      block.overlaps = blocks_[taker].overlaps = true;
    }
  }
}

}  // namespace softtpu
