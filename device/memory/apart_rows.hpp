// Walks rows of operands that do not overlap, and those of many lanes with few elements as one row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "device/memory/rows.hpp"
#include "device/memory/short_lanes.hpp"

namespace softtpu {

namespace rows_detail {

// One operand of several short lanes, all in one row.
template <class T>
class GatheredSource {
 public:
  GatheredSource(const ShortLanes& lanes, const Tensor& tensor) { lanes.gather(tensor, row_.data()); }
  GatheredSource(const ShortLanes& lanes, const Operand& operand) {
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      lanes.gather(*tensor, row_.data());
      return;
    }
    T value;
    std::memcpy(&value, &std::get<Scalar>(operand).bits, sizeof(T));
    std::fill_n(row_.begin(), lanes.count(), value);
  }
  const T* open() const { return row_.data(); }

 private:
  std::array<T, kRowChunk> row_;
};

template <class T>
class GatheredSource<OrOne<T>> : public GatheredSource<T> {
 public:
  using GatheredSource<T>::GatheredSource;
  RowOrOne open() const { return {GatheredSource<T>::open(), false}; }
};

template <class W>
class GatheredSource<As<W>> {
 public:
  GatheredSource(const ShortLanes& lanes, const Operand& operand) {
    const int count = lanes.count();
    if (const auto* tensor = std::get_if<Tensor>(&operand)) {
      std::array<std::uint32_t, kRowChunk> stored;
      lanes.gather(*tensor, stored.data());
      row_reader<W>(tensor->dtype)(row_.data(), reinterpret_cast<const std::uint8_t*>(stored.data()), 1, count);
      return;
    }
    const Scalar& scalar = std::get<Scalar>(operand);
    W value;
    row_reader<W>(scalar.dtype)(&value, reinterpret_cast<const std::uint8_t*>(&scalar.bits), 1, 1);
    std::fill_n(row_.begin(), count, value);
  }
  const W* open() const { return row_.data(); }

 private:
  std::array<W, kRowChunk> row_;
};

template <class D, class... S, class Body, class... Operands>
void walk_gathered(const ShortLanes& lanes, const Tensor& dst, Body& body, const Operands&... sources) {
  std::array<D, kRowChunk> results;
  body(results.data(), GatheredSource<S>(lanes, sources).open()..., lanes.count());
  lanes.scatter(results.data(), dst);
}

}  // namespace rows_detail

// As for_each_row where each source is dst itself or lies apart from it, and a row may have elements of several lanes.
template <class D, class... S, class Body, class... Operands>
void for_each_apart_row(const Memories& mem, const Tensor& dst, Body body, const Operands&... sources) {
  static_assert(ShortLanes::kMostElements <= kRowChunk, "all lanes have to fit into one row");
  const ShortLanes lanes(mem, dst);
  if (lanes.fit()) return rows_detail::walk_gathered<D, S...>(lanes, dst, body, sources...);
  for_each_row<D, S...>(mem, dst, body, sources...);
}

}  // namespace softtpu
