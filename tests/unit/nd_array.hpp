// The few array operations in which the weight reorder is described: reshape, transpose and resize (pad with zeros).
// Independent of the layout library, which is compared with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace softtpu {

struct NdArray {
  std::vector<std::size_t> shape;
  std::vector<std::int32_t> data;

  static std::size_t count(const std::vector<std::size_t>& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
  }
  // first, first + 1, ...
  static NdArray counting(std::int32_t first, std::vector<std::size_t> extents) {
    NdArray array{extents, std::vector<std::int32_t>(count(extents))};
    std::iota(array.data.begin(), array.data.end(), first);
    return array;
  }
  NdArray reshape(std::vector<std::size_t> extents) const { return {extents, data}; }

  // Axis i of the result is axis order[i] of this.
  NdArray transpose(const std::vector<std::size_t>& order) const {
    NdArray result{{}, std::vector<std::int32_t>(data.size())};
    for (const std::size_t axis : order) result.shape.push_back(shape[axis]);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::vector<std::size_t> at = index_of(result.shape, i);
      std::vector<std::size_t> source(order.size());
      for (std::size_t axis = 0; axis < order.size(); ++axis) source[order[axis]] = at[axis];
      result.data[i] = data[offset_of(shape, source)];
    }
    return result;
  }
  // The common part is copied, the rest is zero.
  NdArray resize(std::vector<std::size_t> extents) const {
    NdArray result{extents, std::vector<std::int32_t>(count(extents))};
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::vector<std::size_t> at = index_of(shape, i);
      bool inside = true;
      for (std::size_t axis = 0; axis < at.size(); ++axis) inside = inside && at[axis] < extents[axis];
      if (inside) result.data[offset_of(extents, at)] = data[i];
    }
    return result;
  }

 private:
  static std::vector<std::size_t> index_of(const std::vector<std::size_t>& extents, std::size_t flat) {
    std::vector<std::size_t> at(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0; flat /= extents[axis]) at[axis] = flat % extents[axis];
    return at;
  }
  static std::size_t offset_of(const std::vector<std::size_t>& extents, const std::vector<std::size_t>& at) {
    std::size_t flat = 0;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) flat = flat * extents[axis] + at[axis];
    return flat;
  }
};

}  // namespace softtpu
