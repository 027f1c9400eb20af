#include "firmware/dynamic/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace softtpu::dynamic {

namespace {
thread_local const ListedLayer* running_layer = nullptr;
}  // namespace

RunningLayer::RunningLayer(const ListedLayer& layer) : outer_(std::exchange(running_layer, &layer)) {}
RunningLayer::~RunningLayer() { running_layer = outer_; }
void RunningLayer::clear() { running_layer = nullptr; }

void fail(const std::string& text) {
  const std::string layer = running_layer == nullptr ? "" : bmodel::name_of_layer(running_layer->type) + ": ";
  softtpu_kernel_assert_fail(("dynamic part: " + layer + text).c_str(), __FILE__, __LINE__, __func__);
}

data_type_t device_type(std::uint32_t type) {
  constexpr std::array kTypes{DT_FP32, DT_FP16, DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_UINT32, DT_BFP16};
  if (type >= kTypes.size()) fail(fmt::format("elements of type {}", type));
  return kTypes[type];
}

std::int64_t elements_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

std::vector<std::int64_t> packed_strides(const Extents& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

dim4 packed_strides(const dim4& extents) {
  return {extents.c * extents.h * extents.w, extents.h * extents.w, extents.w, 1};
}

dim4 to_dim4(const Extents& extents) {
  const auto all = bmodel::local_extents(extents);
  return {all[0], all[1], all[2], all[3]};
}

dim4 strides_of(const LocalTensor& tensor) {
  dim4 strides{};
  if (tensor.compact)
    tpu_compact_stride(&strides, 0, &tensor.extents);
  else
    tpu_aligned_stride(&strides, 0, &tensor.extents, tensor.type);
  return strides;
}

dim4 spread(const LocalTensor& tensor, const dim4& extents) {
  dim4 strides = strides_of(tensor);
  if (tensor.extents.n == 1 && extents.n != 1) strides.n = 0;
  if (tensor.extents.c == 1 && extents.c != 1) strides.c = 0;
  if (tensor.extents.h == 1) strides.h = 0;
  if (tensor.extents.w == 1) strides.w = extents.w == 1 ? 1 : 0;
  return strides;
}

local_addr_t bytes_of(const LocalTensor& tensor) {
  constexpr std::int64_t kLine = 64, kMost = 1 << 24;  // far more than an NPU has
  const dim4& extents = tensor.extents;
  const std::int64_t vector = tensor.compact ? 1 : tpu_eu_num(tensor.type);
  const std::int64_t plane = (std::int64_t{extents.h} * extents.w + vector - 1) / vector * vector;
  const std::int64_t planes = std::int64_t{extents.n} * ((extents.c + tpu_npu_num() - 1) / tpu_npu_num());
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(plane * tpu_data_type_size(tensor.type), planes, &bytes)) bytes = kMost;
  return static_cast<local_addr_t>((std::min(bytes, kMost) + kLine - 1) / kLine * kLine);
}

scalar_t constant(float value, data_type_t type) {
  scalar_t scalar{};
  scalar.f32 = value;
  return type == DT_FP32 ? scalar : tpu_cast(scalar, type, DT_FP32, RM_HALF_TO_EVEN);
}

scalar_t whole(int value) {
  scalar_t scalar{};
  scalar.s32 = value;
  return scalar;
}

scalar_t lowest(data_type_t type) {
  switch (type) {
    case DT_INT8: return whole(-128);
    case DT_FP32: return constant(std::numeric_limits<float>::lowest(), type);
    case DT_FP16: return whole(0xfbff);
    case DT_BFP16: return whole(0xff7f);
    default: return whole(0);
  }
}

variable_t as_operand(local_addr_t address) {
  variable_t variable{};
  variable.type = TENSOR;
  variable.context.addr = address;
  return variable;
}

variable_t as_operand(scalar_t value) {
  variable_t variable{};
  variable.type = SCALAR;
  variable.context.scalar = value;
  return variable;
}

rounding_mode_t rounding_of(std::int32_t number) { return number == 0 ? RM_HALF_AWAY_FROM_ZERO : RM_HALF_UP; }

void copy_region(Region to, Region from, Extents extents, std::uint32_t type, bool join) {
  if (elements_of(extents) == 0) return;
  if (extents.empty()) return copy_region({to.address, {1}}, {from.address, {1}}, {1}, type);
  // Dimensions that a command has and the tensors have not step over the whole of them.
  const auto whole = [](const Region& region) {
    return region.strides.front() <= INT32_MAX ? region.strides.front() : 0;
  };
  const std::int64_t to_whole = whole(to);
  const std::int64_t from_whole = whole(from);
  join = join || extents.size() > 4;
  for (std::size_t i = extents.size(); join && i-- > 0;) {
    const bool joins = i + 1 < extents.size() && to.strides[i] == to.strides[i + 1] * extents[i + 1] &&
                       from.strides[i] == from.strides[i + 1] * extents[i + 1] &&
                       extents[i] * extents[i + 1] <= kMostExtent;
    const bool single = extents[i] == 1 && extents.size() > 1;
    if (!joins && !single) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (joins) {
      extents[i + 1] *= extents[i];
    }
    extents.erase(extents.begin() + at);
    to.strides.erase(to.strides.begin() + at);
    from.strides.erase(from.strides.begin() + at);
  }
  // A command's last dimension has near elements only.
  constexpr std::int64_t kMostStep = 128;
  const std::int64_t element = tpu_data_type_size(device_type(type));
  if (std::max(to.strides.back(), from.strides.back()) * element > kMostStep) {
    extents.push_back(1);
    to.strides.push_back(1);
    from.strides.push_back(1);
  }
  while (extents.size() < 4) {
    extents.insert(extents.begin(), 1);
    to.strides.insert(to.strides.begin(), to_whole);
    from.strides.insert(from.strides.begin(), from_whole);
  }
  const std::int64_t bytes = tpu_data_type_size(device_type(type));
  const std::size_t outer = extents.size() - 4;
  const auto last = [&](const std::vector<std::int64_t>& all) {
    return dim4{static_cast<int>(all[outer]), static_cast<int>(all[outer + 1]), static_cast<int>(all[outer + 2]),
                static_cast<int>(all[outer + 3])};
  };
  for (std::size_t i = outer; i < extents.size(); ++i) {
    if (extents[i] <= kMostExtent) continue;
    // A command has no larger extents: in two parts.
    for (std::int64_t done = 0; done < extents[i]; done += kMostExtent) {
      Extents some = extents;
      some[i] = std::min(kMostExtent, extents[i] - done);
      const auto moved = [&](const Region& region) {
        return Region{region.address + static_cast<system_addr_t>(done * region.strides[i] * bytes), region.strides};
      };
      copy_region(moved(to), moved(from), some, type);
    }
    return;
  }
  const dim4 shape = last(extents);
  const dim4 to_stride = last(to.strides);
  const dim4 from_stride = last(from.strides);
  std::vector<std::int64_t> index(outer, 0);
  while (true) {
    std::int64_t to_at = 0;
    std::int64_t from_at = 0;
    for (std::size_t i = 0; i < outer; ++i) {
      to_at += index[i] * to.strides[i];
      from_at += index[i] * from.strides[i];
    }
    tpu_gdma_cpy_S2S(to.address + static_cast<system_addr_t>(to_at * bytes),
                     from.address + static_cast<system_addr_t>(from_at * bytes), &shape, &to_stride, &from_stride,
                     device_type(type));
    std::size_t i = outer;
    while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

void copy_all(system_addr_t to, system_addr_t from, std::int64_t count, std::uint32_t type) {
  if (to != from && count > 0) tpu_gdma_system_cpy(to, from, static_cast<unsigned>(count), device_type(type));
}

}  // namespace softtpu::dynamic
