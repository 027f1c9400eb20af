#include "device/memory/sources_apart.hpp"

#include <algorithm>
#include <cstring>

#include "device/memory/lane_slice.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

// A place may begin at a multiple of this; tensors keep what their addresses leave of it.
constexpr std::int64_t kPlace = 128;

// Whether each element of `dst`, which begins where `source` does, lies no higher than that of `source`, and these in
// the order n, c, h, w: what is still to be read lies behind what has been written.
bool falls_from(const Chip& chip, const Tensor& source, const Tensor& dst) {
  if (dst.addr != source.addr) return false;
  const std::int64_t read = size_of(source.dtype), written = size_of(dst.dtype);
  std::int64_t extent = 1;  // elements of the source that the dimensions so far span
  const auto falls = [&](int count, std::int64_t from_step, std::int64_t to_step) {
    if (count <= 1) return true;
    const bool no_higher = from_step >= extent && to_step >= 0 && to_step * written <= from_step * read;
    extent = (count - 1) * from_step + extent;
    return no_higher;
  };
  const Dim4& shape = dst.shape;
  const int groups = quotient(chip.npu_of(dst.addr) + shape.c - 1, chip.npu_num) + 1;
  const Stride4 &from = source.stride, &to = dst.stride;
  return written <= read && falls(shape.w, from.w, to.w) && falls(shape.h, from.h, to.h) &&
         falls(groups, from.c, to.c) && falls(shape.n, from.n, to.n);
}

}  // namespace

bool is_overwritten(const Chip& chip, const Tensor& dst, const Tensor& source) {
  if (dst.space != Space::kLocal || source.space != Space::kLocal || dst.shape.elements() == 1) return false;
  const auto same = [](int extent, std::int64_t a, std::int64_t b) { return extent <= 1 || a == b; };
  const Dim4& shape = dst.shape;
  const bool in_place = dst.addr == source.addr && size_of(dst.dtype) == size_of(source.dtype) &&
                        same(shape.n, dst.stride.n, source.stride.n) && same(shape.c, dst.stride.c, source.stride.c) &&
                        same(shape.h, dst.stride.h, source.stride.h) && same(shape.w, dst.stride.w, source.stride.w) &&
                        writes_each_byte_once(chip, dst);
  return !in_place && may_overlap(chip, dst, source) && !falls_from(chip, source, dst);
}

void RoomApart::take(const Tensor& tensor) {
  if (tensor.space != Space::kLocal) return;
  const auto start = static_cast<std::int64_t>(chip_.offset_of(tensor.addr));
  taken_.emplace_back(start, start + static_cast<std::int64_t>(span_bytes(chip_, tensor)));
}

bool RoomApart::find(const Tensor& source, std::uint64_t& address) {
  const auto bytes = static_cast<std::int64_t>(span_bytes(chip_, source));
  const std::int64_t beyond = static_cast<std::int64_t>(chip_.offset_of(source.addr)) % kPlace;
  std::vector<std::int64_t> places{0};
  for (const auto& [start, end] : taken_) places.push_back((end + kPlace - 1) / kPlace * kPlace);
  for (const std::int64_t place : places) {
    const std::int64_t first = place + beyond;
    const std::int64_t last = first + bytes;
    const bool is_free = std::none_of(taken_.begin(), taken_.end(),
                                      [&](const auto& range) { return range.first < last && first < range.second; });
    if (last > chip_.local_bytes || !is_free) continue;
    taken_.emplace_back(first, last);
    address = std::uint64_t{chip_.local_bytes} * static_cast<unsigned>(chip_.npu_of(source.addr)) +
              static_cast<std::uint64_t>(first);
    return true;
  }
  return false;
}

SourcesApart::SourcesApart(Memories& mem, const Tensor& dst, const Tensor* second)
    : mem_(mem), dst_(dst), second_(second != nullptr ? std::optional(*second) : std::nullopt), room_(mem.chip(), dst) {
  if (second_) room_.take(*second_);
}

SourcesApart::~SourcesApart() {
  for (const auto& [place, bytes] : kept_) std::memcpy(place, bytes.data(), bytes.size());
}

void SourcesApart::move(Tensor& source) {
  const Chip& chip = mem_.chip();
  std::uint64_t address = 0;
  const bool is_kept = !is_overwritten(chip, dst_, source) && !(second_ && is_overwritten(chip, *second_, source));
  if (is_kept || !room_.find(source, address)) return;
  const auto bytes = static_cast<std::size_t>(span_bytes(chip, source));
  LaneSlice lanes{0, std::min(dst_.shape.c, chip.npu_num)};
  if (lane_slice != nullptr) lanes = *lane_slice;
  for (int lane = lanes.first; lane < lanes.last; ++lane) {
    const int npu = remainder(chip.npu_of(source.addr) + lane, chip.npu_num);
    std::uint8_t* place = mem_.local(npu) + chip.offset_of(address);
    kept_.emplace_back(place, std::vector<std::uint8_t>(place, place + bytes));
    std::memcpy(place, mem_.local(npu) + chip.offset_of(source.addr), bytes);
  }
  source.addr = address;
}

}  // namespace softtpu
