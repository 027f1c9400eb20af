#include "runtime/layout/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/base/text.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

std::optional<std::string> find_bad_shape(const Dim4& shape) {
  const std::pair<char, int> extents[] = {{'N', shape.n}, {'C', shape.c}, {'H', shape.h}, {'W', shape.w}};
  for (const auto& [name, extent] : extents) {
    if (extent < 1 || extent > kMaxExtent) {
      return fmt::format("shape: {} is {}, outside 1..{}", name, extent, kMaxExtent);
    }
  }
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;  // far above any memory; keeps offsets within 64 bits
  if (std::int64_t{shape.n} * shape.c > kMaxElements / (std::int64_t{shape.h} * shape.w)) {
    return fmt::format("shape: {} x {} x {} x {} elements are more than {}", shape.n, shape.c, shape.h, shape.w,
                       kMaxElements);
  }
  return std::nullopt;
}

// Negative strides and those that could overflow an offset are refused.
std::optional<std::string> find_bad_stride(const Stride4& stride) {
  constexpr std::int64_t kMaxStride = std::int64_t{1} << 32;
  const std::pair<char, std::int64_t> steps[] = {{'N', stride.n}, {'C', stride.c}, {'H', stride.h}, {'W', stride.w}};
  for (const auto& [name, step] : steps) {
    if (step < 0 || step > kMaxStride) return fmt::format("stride: {} is {}, outside 0..{}", name, step, kMaxStride);
  }
  return std::nullopt;
}

Stride4 make_stride(const Placement& place, LayoutKind kind, const Stride4& given) {
  const Dim4 units = packed_shape(place.shape, place.pack);
  // A row of execution units always holds at least one unit: 64IC units fill one exactly.
  const int eu_num = std::max(1, place.lanes.eu_bytes / (place.element_bytes * place.pack));
  switch (kind) {
    case LayoutKind::kAligned: return aligned_stride(place.lanes.npu_num, place.start_npu(), units, eu_num);
    case LayoutKind::kCompact: return compact_stride(place.lanes.npu_num, place.start_npu(), units);
    case LayoutKind::kLineAligned: return line_aligned_stride(place.lanes.npu_num, place.start_npu(), units, eu_num);
    case LayoutKind::kFree:
    case LayoutKind::kFreeContinuous: return given;
    case LayoutKind::kWeight: return weight_stride(place.shape, place.pack);
    case LayoutKind::kContinuous: return continuous_stride(units);
  }
  unreachable(kind);
}

std::optional<std::string> find_bad_address(const Placement& place, LayoutKind kind) {
  const std::uint64_t bytes = std::uint64_t{place.lanes.local_bytes} * static_cast<std::uint64_t>(place.lanes.npu_num);
  if (place.addr >= bytes) {
    return fmt::format("address {} is outside the local memories ({} NPUs with {} each, together {})", place.addr,
                       place.lanes.npu_num, to_size_text(place.lanes.local_bytes), to_size_text(bytes));
  }
  const bool aligned = kind == LayoutKind::kAligned || kind == LayoutKind::kLineAligned;
  const std::int64_t offset = split_local_address(place.lanes, place.addr).offset;
  if (aligned && offset % place.lanes.eu_bytes != 0) {
    return fmt::format("address {} is not divisible by {}, as the aligned layouts require", place.addr,
                       place.lanes.eu_bytes);
  }
  return std::nullopt;
}

}  // namespace

LocalSpot Placement::spot(int n, int c, int h, int w) const {
  const LocalSpot start = local ? split_local_address(lanes, addr) : LocalSpot{0, static_cast<std::int64_t>(addr)};
  const std::int64_t row = local ? row_of_channel(lanes.npu_num, start.npu, c) : c;
  const std::int64_t unit = n / pack * stride.n + row * stride.c + h * stride.h + w * stride.w;
  return {local ? npu_of_channel(lanes.npu_num, start.npu, c) : 0,
          start.offset + (unit * pack + n % pack) * element_bytes};
}

std::int64_t Placement::end_offset() const {
  // The furthest channel is in the last row, whichever NPU that is.
  const Dim4 units = packed_shape(shape, pack);
  const LocalSpot start = local ? split_local_address(lanes, addr) : LocalSpot{0, static_cast<std::int64_t>(addr)};
  const std::int64_t rows = local ? channels_per_npu(lanes.npu_num, start.npu, shape.c) : shape.c;
  const std::int64_t unit =
      (units.n - 1) * stride.n + (rows - 1) * stride.c + (units.h - 1) * stride.h + (units.w - 1) * stride.w + 1;
  return start.offset + unit * pack * element_bytes;
}

std::int64_t Placement::reserved_bytes() const {
  const std::int64_t start = local ? split_local_address(lanes, addr).offset : static_cast<std::int64_t>(addr);
  return std::max(packed_shape(shape, pack).n * stride.n * pack * element_bytes, end_offset() - start);
}

Result<Placement> make_placement(const Lanes& lanes, LayoutKind kind, std::uint64_t addr, const Dim4& shape, int pack,
                                 int element_bytes, const std::optional<Stride4>& stride) {
  const bool local = kind != LayoutKind::kContinuous && kind != LayoutKind::kFreeContinuous;
  Placement place{lanes, local, addr, shape, pack, {}, element_bytes};
  if (auto bad = find_bad_shape(shape)) return Error{ErrorKind::kUsage, *bad};
  if (stride) {
    if (auto bad = find_bad_stride(*stride)) return Error{ErrorKind::kUsage, *bad};
  }
  if (local) {
    if (auto bad = find_bad_address(place, kind)) return Error{ErrorKind::kUsage, *bad};
  }
  place.stride = make_stride(place, kind, stride.value_or(Stride4{}));
  if (local && place.end_offset() > std::int64_t{lanes.local_bytes}) {
    const std::int64_t offset = split_local_address(lanes, addr).offset;
    return Error{ErrorKind::kResource,
                 fmt::format("does not fit: the tensor needs {} per NPU from offset {}; an NPU has {}",
                             to_size_text(static_cast<std::uint64_t>(place.end_offset() - offset)), offset,
                             to_size_text(lanes.local_bytes))};
  }
  return place;
}

}  // namespace softtpu
