#include "tests/reference/moves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace softtpu::reference {
namespace {

std::int64_t up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

Strides with_batches(const Chip& chip, int npu, const Extents& shape, std::int64_t channel, std::int64_t row) {
  const std::int64_t groups = up(npu + shape[1], chip.npu_num) / chip.npu_num;
  return {groups * channel, channel, row, 1};
}

}  // namespace

Strides aligned(const Chip& chip, int npu, const Extents& shape, int size) {
  return with_batches(chip, npu, shape, up(std::int64_t{shape[2]} * shape[3], chip.eu_bytes / size), shape[3]);
}
Strides compact(const Chip& chip, int npu, const Extents& shape) {
  return with_batches(chip, npu, shape, std::int64_t{shape[2]} * shape[3], shape[3]);
}
Strides line_aligned(const Chip& chip, int npu, const Extents& shape, int size) {
  const std::int64_t row = up(shape[3], chip.eu_bytes / size);
  return with_batches(chip, npu, shape, shape[2] * row, row);
}
Strides continuous(const Extents& shape) {
  const std::int64_t feature = std::int64_t{shape[2]} * shape[3];
  return {shape[1] * feature, feature, shape[3], 1};
}

std::uint8_t* element(Memory& memory, const Array& array, const Extents& at) {
  const Strides& s = array.stride;
  if (!array.local) {
    const std::int64_t offset = (at[0] * s[0] + at[1] * s[1] + at[2] * s[2] + at[3] * s[3]) * array.size;
    return memory.global.data() + (array.addr - memory.global_base) + offset;
  }
  const std::uint64_t bytes = memory.chip->local_bytes;
  const std::uint64_t slot = array.addr / bytes + static_cast<std::uint64_t>(at[1]);
  const auto npus = static_cast<std::uint64_t>(memory.chip->npu_num);
  const std::int64_t inside =
      (at[0] * s[0] + static_cast<std::int64_t>(slot / npus) * s[1] + at[2] * s[2] + at[3] * s[3]) * array.size;
  return memory.local.data() + slot % npus * bytes + array.addr % bytes + inside;
}

std::uint32_t load(Memory& memory, const Array& array, const Extents& at) {
  std::uint32_t value = 0;
  std::memcpy(&value, element(memory, array, at), static_cast<std::size_t>(array.size));
  return value;
}

void store(Memory& memory, const Array& array, const Extents& at, std::uint32_t value) {
  std::memcpy(element(memory, array, at), &value, static_cast<std::size_t>(array.size));
}

void each(const Extents& shape, const std::function<void(const Extents&)>& body) {
  for (int n = 0; n < shape[0]; ++n) {
    for (int c = 0; c < shape[1]; ++c) {
      for (int h = 0; h < shape[2]; ++h) {
        for (int w = 0; w < shape[3]; ++w) body({n, c, h, w});
      }
    }
  }
}

void move(Memory& memory, const Array& dst, const Extents& shape, const Array& src,
          const std::function<Extents(const Extents&)>& from) {
  each(shape, [&](const Extents& at) { store(memory, dst, at, load(memory, src, from(at))); });
}

void fill(Memory& memory, const Array& dst, const Extents& shape, std::uint32_t value) {
  each(shape, [&](const Extents& at) { store(memory, dst, at, value); });
}

void reshape(Memory& memory, const Array& dst, const Extents& dst_shape, const Array& src, const Extents& src_shape) {
  std::vector<Extents> order;
  each(src_shape, [&](const Extents& at) { order.push_back(at); });
  std::size_t next = 0;
  each(dst_shape, [&](const Extents& at) { store(memory, dst, at, load(memory, src, order[next++])); });
}

void sort(std::vector<Keyed>& entries, Dtype type, bool descending) {
  // A NaN is above every number; zeros and subnormals are equal.
  const auto value = [&](std::uint32_t bits) -> std::pair<bool, double> {
    if (type == Dtype::kInt32) return {false, static_cast<std::int32_t>(bits)};
    if (type == Dtype::kUint32) return {false, bits};
    const float number = std::bit_cast<float>(bits);
    const bool small = std::fpclassify(number) == FP_SUBNORMAL || std::fpclassify(number) == FP_ZERO;
    return {std::isnan(number), small || std::isnan(number) ? 0.0 : number};
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const Keyed& a, const Keyed& b) {
    const auto x = value(a.bits);
    const auto y = value(b.bits);
    if (x != y) return descending ? x > y : x < y;
    return a.index < b.index;
  });
}

std::vector<std::uint8_t> hard_nms(const std::vector<std::uint8_t>& mask, int boxes, int keep) {
  std::vector<std::uint8_t> bitmap(static_cast<std::size_t>((boxes + 7) / 8), 0);
  std::vector<int> kept;
  for (int i = 0; i < boxes; ++i) {
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](int k) {
      return (mask[static_cast<std::size_t>(k) * static_cast<std::size_t>(boxes) + static_cast<std::size_t>(i)] & 1) ==
             0;
    });
    if (suppressed || (keep != 0 && static_cast<int>(kept.size()) == keep)) continue;
    kept.push_back(i);
    bitmap[static_cast<std::size_t>(i / 8)] |= static_cast<std::uint8_t>(1 << (i % 8));
  }
  return bitmap;
}

std::vector<std::uint8_t> soft_nms(const std::vector<float>& coeff, std::vector<float> score, float threshold,
                                   int keep) {
  const std::size_t boxes = score.size();
  std::vector<std::uint8_t> bitmap((boxes + 7) / 8, 0);
  std::vector<bool> alive(boxes, true);
  for (int count = 0; keep == 0 || count < keep; ++count) {
    std::size_t best = boxes;
    for (std::size_t i = 0; i < boxes; ++i) {
      if (alive[i] && (best == boxes || score[i] > score[best])) best = i;
    }
    if (best == boxes || !(score[best] > threshold)) break;
    alive[best] = false;
    bitmap[best / 8] |= static_cast<std::uint8_t>(1U << (best % 8));
    for (std::size_t j = 0; j < boxes; ++j) {
      if (alive[j]) score[j] = static_cast<float>(double{score[j]} * double{coeff[best * boxes + j]});
    }
  }
  return bitmap;
}

}  // namespace softtpu::reference
