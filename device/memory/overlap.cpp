#include "device/memory/overlap.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

// Steps of the channel stride from the first to the last channel.
std::int64_t channel_steps(const Chip& chip, const Tensor& tensor) {
  if (tensor.space != Space::kLocal) return tensor.shape.c - 1;
  return row_of_channel(chip.npu_num, chip.npu_of(tensor.addr), tensor.shape.c - 1);
}

bool ranges_meet(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// Whether some NPU holds channels of both.
bool share_an_npu(const Chip& chip, const Tensor& a, const Tensor& b) {
  const int distance = remainder(chip.npu_of(b.addr) - chip.npu_of(a.addr) + chip.npu_num, chip.npu_num);
  return distance < a.shape.c || chip.npu_num - distance < b.shape.c;
}

}  // namespace

std::uint64_t span_bytes(const Chip& chip, const Tensor& tensor) {
  const auto& [shape, stride] = std::tie(tensor.shape, tensor.stride);
  const std::int64_t last = (shape.n - 1) * stride.n + channel_steps(chip, tensor) * stride.c +
                            (shape.h - 1) * stride.h + (shape.w - 1) * stride.w;
  return static_cast<std::uint64_t>((last + 1) * size_of(tensor.dtype));
}

bool may_overlap(const Chip& chip, const Tensor& a, const Tensor& b) {
  if (a.space == Space::kLocal && b.space == Space::kLocal) {
    return share_an_npu(chip, a, b) &&
           ranges_meet(chip.offset_of(a.addr), span_bytes(chip, a), chip.offset_of(b.addr), span_bytes(chip, b));
  }
  if (a.space == b.space) return ranges_meet(a.addr, span_bytes(chip, a), b.addr, span_bytes(chip, b));
  if (a.space == Space::kStatic || b.space == Space::kStatic) return false;
  // A system address may point into the window onto local memory.
  return chip.local_mem.contains(a.space == Space::kSystem ? a.addr : b.addr);
}

bool writes_each_byte_once(const Chip& chip, const Tensor& tensor) {
  struct Step {
    std::int64_t count, stride;
  };
  const Dim4& shape = tensor.shape;
  if (shape.elements() == 1) return true;
  std::array<Step, 4> steps{{{shape.n - 1, tensor.stride.n},
                             {channel_steps(chip, tensor), tensor.stride.c},
                             {shape.h - 1, tensor.stride.h},
                             {shape.w - 1, tensor.stride.w}}};
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
  std::int64_t occupied = 1;
  for (const Step& step : steps) {
    if (step.count == 0) continue;
    if (step.stride < occupied) return false;
    occupied += step.count * step.stride;
  }
  return true;
}

}  // namespace softtpu
